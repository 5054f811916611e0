package code

import (
	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/ir"
)

// instr compiles instruction pc, unless this mode does not execute it.
func (c *compiler) instr(pc int) error {
	in := &c.k.Instrs[pc]
	if !c.needed[pc] && !in.Op.AlwaysExecutes() {
		return nil
	}
	i := Instr{PC: int32(pc)}
	if in.Guard != ir.NoReg {
		i.HasGuard, i.GuardNot, i.Guard = true, in.GuardNot, c.Slots[in.Guard].Index
	}
	if c.counting && (ir.HasSlowPath(in) || countsValues(in)) {
		if err := c.emitCount(pc, in, i); err != nil {
			return err
		}
	}
	emit, err := c.emit(pc, in, &i)
	if err != nil {
		return err
	}
	if emit {
		c.join(pc, &i)
		c.p.Code = append(c.p.Code, i)
	}
	if in.Mirrored() && c.needed[pc] {
		return c.emitPrivate(pc, in, i)
	}
	return nil
}

// emitPrivate compiles a mirrored load or store (ir.Instr.Mirrored): a move between registers.
func (c *compiler) emitPrivate(pc int, in *ir.Instr, i Instr) error {
	move := ir.Instr{Op: ir.Mov, Type: in.Type, Guard: in.Guard, Dst: in.Dst, Src: in.Src[1:]}
	j := Instr{PC: i.PC, HasGuard: i.HasGuard, GuardNot: i.GuardNot, Guard: i.Guard}
	if _, err := c.emit(pc, &move, &j); err != nil {
		return err
	}
	c.p.Code = append(c.p.Code, j)
	return nil
}

// emit fills in one instruction; false drops it.
func (c *compiler) emit(pc int, in *ir.Instr, i *Instr) (bool, error) {
	switch in.Op {
	case ir.Ld, ir.Ldu, ir.St, ir.Atom, ir.Red, ir.CpAsync:
		return c.emitMemory(pc, in, i)
	case ir.Nop, ir.Membar, ir.Nanosleep, ir.Prefetch, ir.CreatePolicy, ir.Setmaxnreg:
		return false, nil
	case ir.Wgmma, ir.WgmmaFence, ir.WgmmaCommit, ir.WgmmaWait, ir.BulkCommit, ir.BulkWait, ir.FenceProxy, ir.ClusterBarrier:
		return c.emitOrder(pc, in, i)
	case ir.MbarInit, ir.MbarInval, ir.MbarArrive, ir.MbarExpect, ir.MbarWait, ir.CpAsyncArrive:
		return c.emitMbarrier(pc, in, i)
	case ir.BulkCopy, ir.BulkPrefetch:
		return c.emitBulk(pc, in, i)
	case ir.TensormapSet, ir.TensormapCopy:
		return c.emitTensormap(pc, in, i)
	case ir.Tex, ir.Txq, ir.Suld, ir.Sust:
		return c.emitTexture(pc, in, i)
	case ir.Mapa, ir.GetCTARank:
		return c.emitMapa(pc, in, i)
	case ir.Setp, ir.Testp:
		return c.emitSetp(pc, in, i)
	case ir.Set:
		return c.emitCall(pc, in, i, CallSet)
	case ir.Selp:
		return c.emitSelp(pc, in, i)
	case ir.AddC, ir.SubC, ir.MadC:
		return c.emitCarry(pc, in, i)
	case ir.Mma:
		return c.emitMma(pc, in, i)
	case ir.Cvta, ir.Isspacep:
		return c.emitGeneric(pc, in, i)
	case ir.Mov:
		if len(in.Dst) > 1 || len(in.Src) > 1 {
			return c.emitCall(pc, in, i, CallRepack)
		}
		if len(in.Src) == 1 && in.Src[0].Kind == ir.OperandSpecial && in.Src[0].Special.IsClock() {
			return c.emitCall(pc, in, i, CallReadClock)
		}
	case ir.Add, ir.Sub, ir.Mad:
		if in.Mod&(ir.ModCarryIn|ir.ModCarryOut) != 0 {
			return c.emitCarry(pc, in, i)
		}
	}
	if run := calls[in.Op]; run != 0 {
		return c.emitCall(pc, in, i, run)
	}
	if in.Type == ir.Pred {
		return c.emitPred(pc, in, i)
	}
	return c.emitLane(pc, in, i)
}

// calls are the instructions that are more than a function of one lane.
var calls = [ir.NumOps]Call{
	ir.Shfl:          CallShuffle,
	ir.Vote:          CallVote,
	ir.Match:         CallMatch,
	ir.Activemask:    CallActiveMask,
	ir.Redux:         CallRedux,
	ir.Elect:         CallElect,
	ir.Movmatrix:     CallMoveMatrix,
	ir.Bar:           CallBarrierSync,
	ir.BarRed:        CallBarrierReduce,
	ir.BarWarp:       CallWarpSync,
	ir.Trap:          CallTrap,
	ir.CpAsyncCommit: CallAsyncCommit,
	ir.CpAsyncWait:   CallAsyncWait,
}

// emitCall resolves operands and leaves the rest to a handler.
func (c *compiler) emitCall(pc int, in *ir.Instr, i *Instr, call Call) (bool, error) {
	i.Kind, i.X = KindCall, &Extra{Call: call, BoolOp: in.Bool}
	if in.Op == ir.Set {
		t := in.SrcType
		if t == ir.TypeInvalid {
			t = in.Type
		}
		i.X.Cmp32, i.X.Cmp64 = alu.SelectCompare(in.Cmp, t, in.Mod&ir.ModFtz != 0)
		if i.X.Cmp32 == nil && i.X.Cmp64 == nil || in.Type.Packed() != ir.TypeInvalid {
			return false, c.unsupported(pc, "comparison of these types")
		}
		return true, c.operands(pc, in, i.X, t)
	}
	return true, c.operands(pc, in, i.X, in.Type)
}

// operands resolves all sources, constants as type t, and destinations.
func (c *compiler) operands(pc int, in *ir.Instr, x *Extra, t ir.Type) error {
	for n := range in.Src {
		o := &in.Src[n]
		s, err := c.source(pc, o, t)
		if err != nil {
			return err
		}
		if o.Not {
			x.Not |= 1 << n
		}
		x.Src = append(x.Src, s)
	}
	for _, r := range in.Dst {
		d, err := c.dest(pc, r)
		if err != nil {
			return err
		}
		x.Dst = append(x.Dst, d)
	}
	return nil
}
