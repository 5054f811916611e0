package simengine

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// TestMarshalMaps passes tensor maps of buffers of their own and of other arguments, and some that are
// wrong.
func TestMarshalMaps(t *testing.T) {
	k := ptxtest.Kernel(t, ".param .align 64 .b8 m[128], .param .u64 x", "\tret;")
	h100, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	valid := TensorMap{Elem: ir.BF16, Of: -1, Shape: []int64{64, 10}, Box: []int{64, 8}, Swizzle: 128}
	for name, c := range map[string]struct {
		change func(m *TensorMap)
		fails  string
	}{
		"its own":           {func(*TensorMap) {}, ""},
		"another's":         {func(m *TensorMap) { m.Of, m.Offset, m.Shape = 1, 256, []int64{64, 8} }, ""},
		"strides":           {func(m *TensorMap) { m.Strides = []int64{256}; m.Shape = []int64{64, 5} }, ""},
		"too large":         {func(m *TensorMap) { m.Shape = []int64{64, 11} }, "a tensor of 1408 bytes from byte 0 on, in a buffer of 1280"},
		"no such argument":  {func(m *TensorMap) { m.Of = 2 }, "a tensor map of argument 2"},
		"of a map":          {func(m *TensorMap) { m.Of = 0 }, "has no buffer"},
		"dimensions":        {func(m *TensorMap) { m.Box = []int{64} }, "2 dimensions with"},
		"box":               {func(m *TensorMap) { m.Box[0] = 0 }, "boxes of 0 elements"},
		"wide rows":         {func(m *TensorMap) { m.Swizzle = 32 }, "at most 32, the swizzle"},
		"interleave":        {func(m *TensorMap) { m.Interleave = 16 }, "interleave of 16 bytes"},
		"odd stride":        {func(m *TensorMap) { m.Strides = []int64{130}; m.Shape[1] = 2 }, "a stride of 130 bytes"},
		"elements":          {func(m *TensorMap) { m.Elem = ir.Pred }, "elements of"},
		"negative stride":   {func(m *TensorMap) { m.Strides = []int64{-128} }, "a stride of -128"},
		"offset":            {func(m *TensorMap) { m.Offset = -16 }, "from byte -16 on"},
		"no elements":       {func(m *TensorMap) { m.Shape[0] = 0 }, "0 elements in dimension 0"},
		"overflow":          {func(m *TensorMap) { m.Strides = []int64{1 << 39}; m.Shape = []int64{64, 1 << 31} }, "more than 2^50 bytes"},
		"aligned otherwise": {func(m *TensorMap) { m.Offset, m.Shape = 8, []int64{64, 2} }, "want a multiple of 16"},
	} {
		m := valid
		m.Shape, m.Box = []int64{64, 10}, []int{64, 8}
		c.change(&m)
		req := Request{Arch: h100, Args: []Arg{
			{Name: "m", Elem: ir.BF16, Count: 640, Fill: Fill{Kind: FillConstant}, Map: &m},
			{Name: "x", Elem: ir.BF16, Count: 640, Fill: Fill{Kind: FillConstant}}}}
		_, params, _, buffers, err := marshal(k, &req)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v, want %s", name, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got tensormap.Map
		if err := got.Decode(params[:tensormap.Bytes]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want := buffers[len(buffers)-1].Base // of x
		if m.Of < 0 {
			want = buffers[0].Base
		}
		if got.Address != want+uint64(m.Offset) {
			t.Errorf("%s: address %#x, want %#x", name, got.Address, want+uint64(m.Offset))
		}
	}
}
