package assemble

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
)

// A declared CTA size bounds the registers of a thread; it does not offer those
// that it leaves: ptxas aims at the same occupancy as without it (CLBlast's matrix
// products with __launch_bounds__(512) for sm_75: 64 registers of 128).
func TestDeclaredSizeOffersNoRegisters(t *testing.T) {
	for _, cc := range [][2]int{{7, 5}, {8, 6}, {9, 0}} {
		free := asmtest.Filtered(9, 4)
		bound := strings.Replace(free, "(.param .u64 a)\n{", "(.param .u64 a)\n.maxntid 512, 1, 1\n{", 1)
		if bound == free {
			t.Fatal("no place for the directive")
		}
		p, q := must(t, free, Options{CC: cc}), must(t, bound, Options{CC: cc})
		if p.Registers != q.Registers {
			t.Errorf("sm_%d%d: %d registers, with 512 threads declared %d", cc[0], cc[1], p.Registers, q.Registers)
		}
		if limit := 65536 / 1024; must(t, strings.Replace(bound, "512, 1", "1024, 1", 1), Options{CC: cc}).Registers > limit {
			t.Errorf("sm_%d%d: more than %d registers with 1024 threads declared", cc[0], cc[1], limit)
		}
	}
}
