// Package fault is what can be wrong with a kernel that runs: a Fault says what, by which instruction and thread, where.
package fault

import (
	"fmt"
	"strings"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// Kind is the kind of a Fault.
type Kind uint8

// Kinds of fault. Race is a wrong program that ran (outcome "correctness"),
// the others stop it (outcome "runtime").
const (
	None Kind = iota
	OutOfBounds
	Misaligned
	Race
	BarrierDivergence
	TrapExecuted
	StepLimit
	Unsupported
	// Uninitialised is of shared or local memory: a value that nobody wrote matters. It is a wrong program that ran, as Race.
	Uninitialised
)

var faultNames = [...]string{
	None: "none", OutOfBounds: "out-of-bounds access", Misaligned: "misaligned access", Race: "race",
	BarrierDivergence: "barrier not reached by all threads", TrapExecuted: "trap", StepLimit: "step limit",
	Unsupported: "unsupported", Uninitialised: "uninitialised read",
}

// String names the kind.
func (k Kind) String() string {
	if int(k) < len(faultNames) {
		return faultNames[k]
	}
	return fmt.Sprintf("fault %d", uint8(k))
}

// Fault is a defect of the kernel found while running it. It is an error.
type Fault struct {
	Kind    Kind
	PC      int
	Pos     ptx.Pos
	Instr   string // the instruction as PTX text
	Address uint64
	Space   ir.Space
	CTA     int64
	Thread  int // linear thread index in the CTA, -1 when not of one thread
	Detail  string

	// Of an access out of bounds in global memory, or to a constant variable:
	Write    bool
	Width    int    // bytes
	Buffer   string // the one that was meant, or the nearest of those that may have been
	Meant    bool   // the address was computed from this buffer's alone
	Elem     ir.Type
	Elements int64  // of the buffer
	Before   bool   // the access is before it, and not behind or across its end
	Crosses  bool   // it begins in it
	Away     uint64 // bytes from the buffer to the access, if neither

	// Of a race, Buffer, Elem, Elements and Write too:
	Other *Other // the earlier access; of an uninitialised read, where its value matters
	Index int64  // the element of the buffer
}

// Error is one line: the kind, the instruction and where it stands, the
// address, the thread and what else is known.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.Kind.String())
	if f.Instr != "" {
		fmt.Fprintf(&b, ": `%s` at %v", f.Instr, f.Pos)
	}
	if f.Kind == OutOfBounds || f.Kind == Misaligned || f.Kind == Race || f.Kind == Uninitialised {
		fmt.Fprintf(&b, ": %v address %#x", f.Space, f.Address)
	}
	fmt.Fprintf(&b, ": cta %d", f.CTA)
	if f.Thread >= 0 {
		fmt.Fprintf(&b, " thread %d", f.Thread)
	}
	if f.Buffer != "" && f.Kind == OutOfBounds {
		b.WriteString(": " + f.strayed())
	}
	if f.Kind == Uninitialised {
		b.WriteString(": " + f.read())
	} else if f.Other != nil {
		b.WriteString(": " + f.raced())
		if f.Detail != "" {
			b.WriteString(", " + f.Detail)
		}
	} else if f.Detail != "" {
		b.WriteString(": " + f.Detail)
	}
	return b.String()
}

// strayed says how far from its buffer an access is: "reads 4 bytes, 400 bytes (100 elements) past the end of x, 100 elements of f32
// (400 bytes)".
func (f *Fault) strayed() string {
	verb, size := "reads", max(1, element.Size(f.Elem))
	if f.Write {
		verb = "writes"
	}
	away := ", " + plural(int64(f.Away), "byte")
	if n := f.Away / uint64(size); f.Away%uint64(size) == 0 && size > 1 {
		away += fmt.Sprintf(" (%s)", plural(int64(n), "element"))
	}
	switch {
	case f.Crosses:
		away = " across the end of"
	case f.Before:
		away += " before"
	case f.Away == 0:
		away = " right past the end of"
	default:
		away += " past the end of"
	}
	text := fmt.Sprintf("%s %s%s %s, %s of %v (%d bytes)", verb, plural(int64(f.Width), "byte"), away, f.Buffer, plural(f.Elements, "element"), f.Elem, f.Elements*int64(size))
	if !f.Meant {
		text += ", the nearest of those it may be meant for"
	}
	return text
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
