package code

import (
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/ir"
)

// AsyncOp is the static part of an instruction on mbarriers, bulk copies or tensor maps.
type AsyncOp struct {
	Op       ir.Op
	Mod      ir.Mod
	Data     bool    // its data is needed
	Bar      *Access // the mbarrier; nil: none
	To, From *Access // of copies; of TensormapSet to is the map
	Tensor   *Access // the tensor map of a copy
	Bulk     *ir.Bulk
	Field    ir.MapField
	Ordinal  int

	Count, Bytes, Phase, Cast, Value Slot
	Coords                           []Slot
	Cached                           int // in Runner.maps
}

const MbarrierBytes = 8

// isAsync reports whether an instruction is one on mbarriers, bulk copies or tensor maps that threads
// make one by one.
func isAsync(op ir.Op) bool {
	switch op {
	case ir.MbarInit, ir.MbarInval, ir.MbarArrive, ir.MbarExpect, ir.MbarWait, ir.CpAsyncArrive,
		ir.BulkCopy, ir.BulkPrefetch, ir.TensormapSet, ir.TensormapCopy:
		return true
	}
	return false
}

// emitMbarrier compiles an operation on an mbarrier.
func (c *compiler) emitMbarrier(pc int, in *ir.Instr, i *Instr) (bool, error) {
	o := &AsyncOp{Op: in.Op, Mod: in.Mod, Count: noSlot, Bytes: noSlot, Phase: noSlot, Cast: noSlot, Value: noSlot}
	i.Kind, i.X = KindCall, &Extra{Call: CallMbarrier, Async: o}
	if c.p.Blocking {
		i.X.Call = CallMbarrierFull
	}
	var err error
	if o.Bar, err = c.asyncAddress(pc, in, 0, in.Space, MbarrierBytes); err != nil {
		return false, err
	}
	if len(in.Src) > 1 {
		to := &o.Count
		switch {
		case in.Op == ir.MbarWait:
			to = &o.Phase
		case in.Op == ir.MbarExpect || in.Op == ir.MbarArrive && in.Mod&ir.ModTx != 0:
			to = &o.Bytes
		}
		t := ir.B32
		if in.Op == ir.MbarWait && in.Mod&ir.ModParity == 0 {
			t = ir.B64
		}
		if *to, err = c.source(pc, &in.Src[1], t); err != nil {
			return false, err
		}
	}
	for _, reg := range in.Dst {
		d, err := c.dest(pc, reg)
		if err != nil {
			return false, err
		}
		i.X.Dst = append(i.X.Dst, d)
	}
	return true, nil
}

// asyncAddress resolves an address operand.
func (c *compiler) asyncAddress(pc int, in *ir.Instr, n int, space ir.Space, width int) (*Access, error) {
	if n >= len(in.Src) {
		return nil, c.unsupported(pc, "operands")
	}
	a := &Access{Op: in.Op, Space: space, Elem: 1, Vec: 1, Width: width, Lanes: ^uint32(0), Size: noSlot}
	if err := c.address(pc, a, &in.Src[n]); err != nil {
		return nil, err
	}
	return a, nil
}

// emitOrder compiles the instructions that order asynchronous work or wait for it. Slice mode does
// not: its warps never wait for data. Nor does it multiply: where addresses or branches may depend on a
// product of warpgroups, its registers stay as they are, and the program says so.
func (c *compiler) emitOrder(pc int, in *ir.Instr, i *Instr) (bool, error) {
	i.Kind, i.X = KindCall, &Extra{}
	switch {
	case c.p.Mode == Slice && in.Op == ir.Wgmma:
		c.p.Unmultiplied = append(c.p.Unmultiplied, pc)
		return false, nil
	case in.Op == ir.ClusterBarrier && c.p.Blocking:
		i.X.Call = CallClusterBar
		return true, nil
	case c.p.Mode == Slice:
		return false, nil
	}
	switch in.Op {
	case ir.Wgmma:
		return true, c.emitWgmma(pc, in, i)
	case ir.WgmmaCommit:
		i.X.Call = CallCommitWgmma
	case ir.WgmmaWait:
		i.X.Call, i.X.Imm = CallWaitWgmma, in.Src[0].Imm
	case ir.BulkCommit:
		i.X.Call = CallBulkCommit
	case ir.BulkWait:
		i.X.Call, i.X.Imm = CallBulkWait, in.Src[0].Imm
	case ir.FenceProxy:
		i.X.Call = CallProxyFence
		return in.Space != ir.ParamSpace && in.Mod == 0, nil
	default: // wgmma.fence: registers are written at once
		return false, nil
	}
	return true, nil
}

// emitBulk compiles a bulk copy or prefetch.
func (c *compiler) emitBulk(pc int, in *ir.Instr, i *Instr) (bool, error) {
	o := &AsyncOp{Op: in.Op, Mod: in.Mod, Data: c.needed[pc], Bulk: in.Bulk, Count: noSlot, Bytes: noSlot, Phase: noSlot, Cast: noSlot, Value: noSlot}
	i.Kind, i.X = KindCall, &Extra{Call: CallBulkCopy, Async: o}
	n := 0
	place := func(space ir.Space, write bool) (a *Access, err error) {
		if space == ir.Global && in.Bulk.Dims > 0 {
			if o.Tensor, err = c.asyncAddress(pc, in, n, ir.Generic, tensormap.Bytes); err == nil {
				o.Cached = c.p.MapUses
				c.p.MapUses++
			}
			n++
			return nil, err
		}
		a, err = c.asyncAddress(pc, in, n, space, 1)
		if err == nil && space == ir.Global {
			a.Read, a.Write = !write, write
			c.register(a, &in.Src[n])
			if write {
				c.p.Writers = append(c.p.Writers, a.Index)
			}
		}
		n++
		return a, err
	}
	var err error
	if in.Op == ir.BulkCopy {
		if o.To, err = place(in.Bulk.To, true); err != nil {
			return false, err
		}
	}
	if o.From, err = place(in.Bulk.From, false); err != nil {
		return false, err
	}
	return true, c.bulkOperands(pc, in, o, n)
}

// bulkOperands resolves what follows the addresses of a bulk copy.
func (c *compiler) bulkOperands(pc int, in *ir.Instr, o *AsyncOp, n int) error {
	operand := func() (s Slot, err error) {
		if n >= len(in.Src) {
			return noSlot, c.unsupported(pc, "operands")
		}
		s, err = c.source(pc, &in.Src[n], ir.B32)
		n++
		return s, err
	}
	var err error
	for range in.Bulk.Dims {
		s, err := operand()
		if err != nil {
			return err
		}
		o.Coords = append(o.Coords, s)
	}
	if in.Bulk.Dims == 0 {
		if o.Bytes, err = operand(); err != nil {
			return err
		}
	}
	if in.Op == ir.BulkCopy && in.Bulk.Barrier {
		if o.Bar, err = c.asyncAddress(pc, in, n, in.Bulk.To, MbarrierBytes); err != nil {
			return err
		}
		n++
	}
	if in.Bulk.Multicast {
		o.Cast, err = operand()
	}
	return err
}

// Global is the address in device memory of a copy of bytes; nil: it copies between CTAs.
func (o *AsyncOp) Global() *Access {
	for _, a := range [...]*Access{o.To, o.From} {
		if a != nil && a.Space == ir.Global {
			return a
		}
	}
	return nil
}

// emitTensormap compiles tensormap.replace and tensormap.cp_fenceproxy.
func (c *compiler) emitTensormap(pc int, in *ir.Instr, i *Instr) (bool, error) {
	o := &AsyncOp{Op: in.Op, Mod: in.Mod, Field: in.Field, Count: noSlot, Bytes: noSlot, Phase: noSlot, Cast: noSlot, Value: noSlot}
	i.Kind, i.X = KindCall, &Extra{Call: CallSetMap, Async: o}
	space := in.Space
	if in.Op == ir.TensormapCopy {
		i.X.Call, space = CallCopyMap, ir.Global
	}
	var err error
	if o.To, err = c.asyncAddress(pc, in, 0, space, tensormap.Bytes); err != nil {
		return false, err
	}
	if in.Op == ir.TensormapCopy {
		o.From, err = c.asyncAddress(pc, in, 1, ir.Shared, tensormap.Bytes)
		return true, err
	}
	if len(in.Src) > 2 {
		o.Ordinal = int(in.Src[1].Imm)
	}
	o.Value, err = c.source(pc, &in.Src[len(in.Src)-1], in.Type)
	return true, err
}
