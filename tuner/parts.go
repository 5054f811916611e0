package tuner

import "slices"

// Parts are what a kernel's definition consists of: by the name that its author knows
// a part by, a text that is the same where the part is.
type Parts map[string]string

// PartFunction is the part that names the function in the source: definitions in
// which it differs are of different kernels.
const PartFunction = "KernelName"

// Changed returns the names of the parts in which two definitions differ, ascending.
func (p Parts) Changed(q Parts) []string {
	var names []string
	for name, text := range p {
		if other, ok := q[name]; !ok || other != text {
			names = append(names, name)
		}
	}
	for name := range q {
		if _, ok := p[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
