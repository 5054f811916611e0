package exec

import (
	"fmt"
	"strings"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// FaultKind is the kind of a Fault.
type FaultKind uint8

// Kinds of fault. Race is a wrong program that ran (outcome "correctness"),
// the others stop it (outcome "runtime").
const (
	FaultNone FaultKind = iota
	OutOfBounds
	Misaligned
	Race
	BarrierDivergence
	TrapExecuted
	StepLimit
	Unsupported
)

var faultNames = [...]string{
	FaultNone: "none", OutOfBounds: "out-of-bounds access", Misaligned: "misaligned access", Race: "race",
	BarrierDivergence: "barrier not reached by all threads", TrapExecuted: "trap", StepLimit: "step limit",
	Unsupported: "unsupported",
}

// String names the kind.
func (k FaultKind) String() string {
	if int(k) < len(faultNames) {
		return faultNames[k]
	}
	return fmt.Sprintf("fault %d", uint8(k))
}

// Fault is a defect of the kernel found while running it. It is an error.
type Fault struct {
	Kind    FaultKind
	PC      int
	Pos     ptx.Pos
	Instr   string // the instruction as PTX text
	Address uint64
	Space   ir.Space
	CTA     int64
	Thread  int    // linear thread index in the CTA, -1 when not of one thread
	Buffer  string // of an access out of bounds in global memory: the buffer that is nearest
	Before  bool   // the access is before it, and not behind or across its end
	Detail  string
}

// Error is one line: the kind, the instruction and where it stands, the
// address, the thread and what else is known.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.Kind.String())
	if f.Instr != "" {
		fmt.Fprintf(&b, ": `%s` at %v", f.Instr, f.Pos)
	}
	if f.Kind == OutOfBounds || f.Kind == Misaligned || f.Kind == Race {
		fmt.Fprintf(&b, ": %v address %#x", f.Space, f.Address)
	}
	fmt.Fprintf(&b, ": cta %d", f.CTA)
	if f.Thread >= 0 {
		fmt.Fprintf(&b, " thread %d", f.Thread)
	}
	if f.Detail != "" {
		b.WriteString(": " + f.Detail)
	}
	return b.String()
}
