package fault

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// Other is the other instruction of a fault: the earlier of two accesses that race.
type Other struct {
	PC     int
	Pos    ptx.Pos
	Instr  string
	Write  bool
	CTA    int64
	Thread int
}

// raced says what two racing accesses do: "writes what is read by thread 3 of CTA 0 in `ld...` at
// ...".
func (f *Fault) raced() string {
	verb, what := "reads", "is read"
	if f.Write {
		verb = "writes"
	}
	if f.Other.Write {
		what = "is written"
	}
	where := ""
	if f.Space == ir.Global {
		if f.Buffer != "" {
			verb += fmt.Sprintf(" element %d of %s,", f.Index, f.Buffer)
		}
	}
	if f.Space == ir.Global || f.Other.CTA != f.CTA {
		where = fmt.Sprintf(" of CTA %d", f.Other.CTA)
	}
	return fmt.Sprintf("%s what %s by thread %d%s in `%s` at %v", verb, what, f.Other.Thread, where, f.Other.Instr, f.Other.Pos)
}

// read says where an undefined value comes from and where it matters: "reads what no thread wrote;
// it is stored by `st...` at ...".
func (f *Fault) read() string {
	whose := "no thread of the CTA"
	if f.Space == ir.Local {
		whose = "the thread never"
	}
	return "reads what " + whose + " wrote; " + f.Detail + " in `" + f.Other.Instr + "` at " + f.Other.Pos.String()
}
