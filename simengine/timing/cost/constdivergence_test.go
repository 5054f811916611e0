package cost

import (
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// What a warp walks is what it read and what the iterations left out go on to, no
// more than there is; what lanes read at places of their own is no walk.
func TestWalked(t *testing.T) {
	read := func(at int32, passes uint16) trace.Access {
		return trace.Access{PC: 1, Space: ir.Const, Width: 16, First: at, Passes: passes}
	}
	steps := func(repeat int64) []trace.Step {
		return []trace.Step{{Block: 1, Access: 0}, {Block: 1, Access: 1}, {Block: 1, Access: 2, Repeat: repeat}}
	}
	for _, c := range []struct {
		name     string
		accesses []trace.Access
		repeat   int64
		want     int
	}{
		{"two iterations and no more", []trace.Access{read(64, 1), read(80, 1)}, 0, 32},
		{"and ten that are left out", []trace.Access{read(64, 1), read(80, 1)}, 10, 192},
		{"and ten downwards", []trace.Access{read(640, 1), read(624, 1)}, 10, 192},
		{"always the same", []trace.Access{read(64, 1), read(64, 1)}, 1000, 16},
		{"more than there is", []trace.Access{read(64, 1), read(80, 1)}, 1000, 8000},
		{"lanes apart", []trace.Access{read(64, 32), read(80, 32)}, 10, 0},
	} {
		cta := &trace.CTA{Warps: []trace.Warp{{Steps: steps(c.repeat), Accesses: c.accesses}}}
		if got := walked(&ir.Kernel{ConstBytes: 8000, Instrs: make([]ir.Instr, 2)}, cta); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
	if got := walked(&ir.Kernel{ConstBytes: 256, Instrs: make([]ir.Instr, 2)}, nil); got != 0 {
		t.Errorf("a table of 256 bytes: %d bytes walked", got)
	}
}
