package exchange

import "fmt"

// Odd counts the entries of a file that were passed over.
type Odd struct {
	Count int
	First string // where the first stands, and why it cannot be used
}

// add counts an entry.
func (o *Odd) add(where string, why error) {
	if o.Count++; o.Count == 1 {
		o.First = fmt.Sprintf("%s: %v", where, why)
	}
}

// String says how many there are of all, "" for none.
func (o *Odd) String() string {
	switch o.Count {
	case 0:
		return ""
	case 1:
		return "an entry is passed over: " + o.First
	}
	return fmt.Sprintf("%d entries are passed over, the first is %s", o.Count, o.First)
}
