package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/recorded"
)

// launchesFile is the launch records in a folder of them, and in a bundle of one group.
const launchesFile = "launches.jsonl"

// occurrence is the parameter that tells launches of a group apart that have the same
// parameters otherwise.
const occurrence = "launch"

// listing is a kernel whose configurations are launch records, and no others.
type listing struct {
	records []*recorded.Record
	configs []search.Config // of each; those of the same launch are equal
	digits  [][]int         // of each configuration, once
	names   []string        // each configuration's text
	index   map[string]int  // the first record of a configuration, by its text
	counted bool            // the last parameter is the one that tells launches apart
}

// LaunchLine is a line of launch records.
type LaunchLine struct {
	Number int // from 1
	Text   []byte
}

// Listed is a line of launch records as a configuration of its group's kernel.
type Listed struct {
	Kernel *Definition
	Config search.Config
}

// Launches makes kernels of launch records, one for each group, in order of their first lines,
// and says what of them each line is. Their PTX lies in files as ptx/NAME.ptx, and is read when
// it is needed; nil: it is elsewhere.
func Launches(lines []LaunchLine, files call.Files) (kernels []*Definition, of []Listed, err error) {
	if files == nil {
		files = call.Memory{}
	}
	groups := map[string][]*recorded.Record{}
	var order []string
	at := make([]*recorded.Record, len(lines))
	for i, l := range lines {
		r, err := recorded.Read(l.Text, l.Number)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", l.Number, err)
		}
		key := r.GroupKey()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key], at[i] = append(groups[key], r), r
	}
	configs := map[*recorded.Record]Listed{}
	for _, key := range order {
		d, err := newListed(groups[key], files)
		if err != nil {
			return nil, nil, err
		}
		for i, r := range groups[key] {
			configs[r] = Listed{d, d.listed.configs[i]}
		}
		kernels = append(kernels, d)
	}
	nameListed(kernels)
	for _, r := range at {
		of = append(of, configs[r])
	}
	return kernels, of, nil
}

// nameListed names the kernels of groups: as their records do where that and the problem size
// tell them apart, else as the group.
func nameListed(kernels []*Definition) {
	key := func(d *Definition) string { return fmt.Sprintf("%q %v", d.listed.records[0].Kernel, d.Problem) }
	seen := map[string]int{}
	for _, d := range kernels {
		seen[key(d)]++
	}
	for _, d := range kernels {
		if seen[key(d)] > 1 {
			d.Name = d.Group
		}
		d.text = d.listed.document(d)
	}
}

// document is the definition that stands for the group in a bundle.
func (l *listing) document(d *Definition) []byte {
	return fmt.Appendf(nil, `{"General":{"BenchmarkName":%s},"KernelSpecification":{"Language":"PTX","KernelName":%s,"Launches":%s}}`,
		recorded.JSON(d.Name), recorded.JSON(d.KernelName), recorded.JSON(launchesFile))
}

// newListed makes the kernel of one group's records.
func newListed(records []*recorded.Record, files call.Files) (*Definition, error) {
	first := records[0]
	d := &Definition{Name: first.Kernel, Group: first.GroupKey(), Language: call.PTX, Problem: first.Problem, files: files, scope: newScope(nil, nil)}
	for _, r := range records {
		if !slices.Equal(r.Problem, first.Problem) {
			return nil, fmt.Errorf("line %d: problem_size is %v, and %v in line %d of the same group, %s", r.Line, r.Problem, first.Problem, first.Line, d.Group)
		}
		if r.Kernel != first.Kernel {
			return nil, fmt.Errorf("line %d: kernel is %q, and %q in line %d of the same group, %s", r.Line, r.Kernel, first.Kernel, first.Line, d.Group)
		}
	}
	d.KernelName = entryOf(records)
	l := &listing{records: records, index: map[string]int{}}
	d.listed = l
	if err := l.parameters(d); err != nil {
		return nil, err
	}
	l.texts(d)
	if len(l.index) < len(l.records) {
		l.tellApart(d)
	}
	d.defaults = l.configs[0].Clone()
	return d, nil
}

// entryOf is the entry that all records launch, or else the kernel's name.
func entryOf(records []*recorded.Record) string {
	entry := ""
	for _, r := range records {
		switch {
		case r.Entry == "" || r.Entry == entry:
		case entry != "":
			return records[0].Kernel
		default:
			entry = r.Entry
		}
	}
	if entry == "" {
		return records[0].Kernel
	}
	return entry
}

// parameters are those of all records, in the order in which they first appear. Numbers ascend,
// texts are in order of appearance.
func (l *listing) parameters(d *Definition) error {
	var names []string
	for _, r := range l.records {
		for _, name := range r.Params.Names {
			if slices.Contains(names, name) {
				continue
			}
			if !isIdentifier(name) {
				return fmt.Errorf("line %d: params: %q is not an identifier", r.Line, name)
			}
			names = append(names, name)
		}
	}
	l.configs = make([]search.Config, len(l.records))
	for _, name := range names {
		values := make([]search.Value, len(l.records))
		for i, r := range l.records {
			v, ok := search.Config(r.Params).Get(name)
			if !ok {
				v = recorded.Absent
			}
			values[i] = v
		}
		d.addListed(name, values)
	}
	return nil
}

// addListed adds a parameter with its value in each record.
func (d *Definition) addListed(name string, values []search.Value) {
	kind := sharedKind(values)
	if slices.ContainsFunc(values, func(v search.Value) bool { return v.Kind == search.String }) {
		kind = search.String
	}
	for i, v := range values {
		w, ok := v.As(kind)
		if !ok {
			w = search.OfString(v.Text())
		}
		values[i] = w
	}
	p := search.Param{Name: name}
	seen := map[search.Value]bool{}
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			p.Values = append(p.Values, v)
		}
	}
	if kind != search.String {
		slices.SortFunc(p.Values, compareNumbers)
	}
	d.params = append(d.params, p)
	for i, v := range values {
		c := &d.listed.configs[i]
		c.Names, c.Values = append(c.Names, name), append(c.Values, v)
	}
}

// compareNumbers orders values of one kind, that are no texts.
func compareNumbers(a, b search.Value) int {
	switch {
	case a.I < b.I || a.F < b.F:
		return -1
	case a.I > b.I || a.F > b.F:
		return 1
	}
	return 0
}

// texts indexes the records by their configurations.
func (l *listing) texts(d *Definition) {
	places := make([]map[search.Value]int, len(d.params)) // of each parameter's values
	for p := range d.params {
		places[p] = map[search.Value]int{}
		for i, v := range d.params[p].Values {
			places[p][v] = i
		}
	}
	l.digits, l.names = nil, nil
	clear(l.index)
	for i, c := range l.configs {
		text := c.String()
		l.names = append(l.names, text)
		if _, ok := l.index[text]; ok {
			continue
		}
		l.index[text] = i
		row := make([]int, len(c.Values))
		for p, v := range c.Values {
			row[p] = places[p][v]
		}
		l.digits = append(l.digits, row)
	}
}

// first reports whether no record before the i-th has its configuration.
func (l *listing) first(i int) bool { return l.index[l.names[i]] == i }

// tellApart adds a parameter that counts the launches that have the same parameters, if different launches have.
func (l *listing) tellApart(d *Definition) {
	alike := map[string]map[string]int{} // numbers of different launches, by their configuration and text
	values := make([]search.Value, len(l.records))
	for i, r := range l.records {
		known := alike[l.names[i]]
		if known == nil {
			known = map[string]int{}
			alike[l.names[i]] = known
		}
		text := r.Text()
		n, ok := known[text]
		if !ok {
			n = len(known)
			known[text] = n
		}
		l.counted = l.counted || n > 0
		values[i] = search.OfInt(int64(n))
	}
	if !l.counted {
		return
	}
	name := occurrence
	for slices.ContainsFunc(d.params, func(p search.Param) bool { return p.Name == name }) {
		name += "_"
	}
	d.addListed(name, values)
	l.texts(d)
}

// wrong says of the first record that cannot be read what is wrong; nil: all can.
func (l *listing) wrong() error {
	for _, r := range l.records {
		if r.Wrong != nil {
			return fmt.Errorf("line %d: %w", r.Line, r.Wrong)
		}
	}
	return nil
}

// space is that of the records.
func (l *listing) space(d *Definition, set map[string][]string) (*search.Space, error) {
	if len(d.params) == 0 {
		return search.New(nil, nil)
	}
	s, err := search.FromList(d.params, l.digits)
	if err != nil || len(set) == 0 {
		return s, err
	}
	restricted, err := d.restricted(set)
	if err != nil {
		return nil, err
	}
	values := map[string][]search.Value{}
	for _, p := range restricted {
		values[p.Name] = p.Values
	}
	return s.Restrict(values)
}

// completed is a record with all of the group's parameters, which may be another's only that is left out.
func (l *listing) completed(i int) *recorded.Record {
	r, c := *l.records[i], l.configs[i]
	if n := len(c.Names) - 1; l.counted {
		c = search.Config{Names: c.Names[:n], Values: c.Values[:n]}
	}
	r.Params = recorded.Params(c)
	return &r
}

// lists reports whether a definition's configurations are launch records.
func lists(root *record) bool {
	spec, _ := root.get("KernelSpecification")
	o, ok := spec.value.(*object)
	return ok && o.fields["Launches"] != nil
}

// readListed reads a definition whose configurations are launch records.
func (d *Definition) readListed(r *reader, k *record, field document) {
	if language := r.language(k); r.err == nil && language != call.PTX {
		r.fail(field.path, "launch records are of PTX: Language is %s", language)
	}
	name := clean(r.text(field))
	if r.err != nil {
		return
	}
	text, err := d.files.ReadFile(name)
	if err != nil {
		r.fail(field.path, "%v", err)
		return
	}
	lines, err := launchLines(bytes.NewReader(text))
	if err != nil {
		r.fail(field.path, "%s: %v", name, err)
		return
	}
	kernels, _, err := Launches(lines, d.files)
	switch {
	case err != nil:
		r.fail(field.path, "%s: %v", name, err)
	case len(kernels) != 1:
		r.fail(field.path, "%s: the launch records are of %d groups: a definition is of one", name, len(kernels))
	case kernels[0].listed.wrong() != nil:
		r.fail(field.path, "%s: %v", name, kernels[0].listed.wrong())
	default:
		named, text := d.Name, d.text
		*d = *kernels[0]
		d.Name, d.text = named, text
	}
}

// maxLaunchLine bounds a line of launch records in bytes.
const maxLaunchLine = 1 << 20

// launchLines splits a file of launch records.
func launchLines(from io.Reader) ([]LaunchLine, error) {
	var lines []LaunchLine
	err := eachLine(from, func(number int, text []byte) {
		lines = append(lines, LaunchLine{number, bytes.Clone(text)})
	})
	if err == nil && len(lines) == 0 {
		err = errors.New("no launch records are in it")
	}
	return lines, err
}
