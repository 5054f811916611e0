package analytic

import (
	"testing"

	"github.com/warptune/warptune/simengine/timing/cost"
)

// What pipes are busy for is longer beside products, and never longer than with products all the time; without products
// it stays what it is.
func TestBesideProducts(t *testing.T) {
	for _, c := range []struct{ alu, fma, product, wantALU, wantFMA, wantProduct float64 }{
		{100, 0, 0, 100, 0, 0},
		{100, 0, 40, 120, 0, 40},
		{100, 0, 1000, 200, 0, 1000},
		{0, 100, 40, 0, 120, 80},
		{0, 100, 1000, 0, 200, 1100},
	} {
		var d demand
		d.busy[cost.PipeALU], d.busy[cost.PipeFMA], d.busy[cost.PipeTensor] = c.alu, c.fma, c.product
		d.busy[issueSlot], d.busy[l2Slices] = 7, 9
		d.besideProducts()
		if got := [3]float64{d.busy[cost.PipeALU], d.busy[cost.PipeFMA], d.busy[cost.PipeTensor]}; got != [3]float64{c.wantALU, c.wantFMA, c.wantProduct} {
			t.Errorf("%+v: %v", c, got)
		}
		if d.busy[issueSlot] != 7 || d.busy[l2Slices] != 9 {
			t.Errorf("%+v: other units changed", c)
		}
	}
}
