package kernel

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// answer reads the Answer of a kernel or an argument.
func (rec *record) answer() call.Answer {
	switch t := rec.text("Answer", "consistent"); t {
	case "consistent":
	case "none":
		return call.AnswerNone
	default:
		rec.r.fail(join(rec.path, "Answer"), "unknown answer %q; known are consistent and none; an argument may name a file as Expected", t)
	}
	return call.AnswerConsistent
}

// tolerance reads Tolerance: a share from 0 on.
func (rec *record) tolerance() float64 {
	d, ok := rec.get("Tolerance")
	if !ok {
		return 0
	}
	n, isNumber := d.value.(json.Number)
	v, err := n.Float64()
	if !isNumber || err != nil || !(v >= 0) || math.IsInf(v, 0) {
		rec.r.fail(d.path, "a share from 0 on is expected such as 1e-4, not %s", what(d.value))
		return 0
	}
	return v
}

// readExpected reads Expected: the file of what the argument holds when the kernel has ended.
func (d *Definition) readExpected(r *reader, rec *record, a *argument) {
	name := clean(rec.text("Expected", ""))
	if r.err != nil || name == "." {
		return
	}
	raw, err := d.raw(name)
	if err != nil {
		a.refusal = fmt.Sprintf("Expected: %v", err)
		return
	}
	if size := a.elementBytes(); size > 0 && len(raw.Data)%size != 0 {
		a.refusal = fmt.Sprintf("Expected: the %d bytes of %s are not a number of elements of %d", len(raw.Data), name, size)
	}
	a.arg.Expected = raw
}

// Bound are the parameters on which depends what the kernel computes with: the values of its
// scalars and the contents of its buffers name them.
func (d *Definition) Bound() []string {
	var out []string
	for i := range d.arguments {
		for _, name := range d.arguments[i].value.names() {
			if slices.Contains(d.defaults.Names, name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// Sizes are the parameters that the size of the buffer at a position names.
func (d *Definition) Sizes(position int) []string {
	if position >= len(d.arguments) {
		return nil
	}
	return d.arguments[position].size.names()
}

// Checking identifies how what the kernel writes is checked: two definitions that differ in an
// argument's Answer, Tolerance or Expected contents give different texts.
func (d *Definition) Checking() string {
	var text []byte
	for i := range d.arguments {
		a := &d.arguments[i].arg
		expected := ""
		if a.Expected != nil {
			expected = a.Expected.Digest
		}
		text = fmt.Appendf(text, "%d %g %s\n", a.Answer, a.Tolerance, expected)
	}
	return string(text)
}
