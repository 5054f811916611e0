package code

import (
	"github.com/warptune/warptune/simengine/exec/loopsample"
	"github.com/warptune/warptune/simengine/ir"
)

// Sampler is a loop of package loopsample with its registers resolved to slots.
type Sampler struct {
	Inductions []Slot
	Cyclic     []Slot
	SlotTest
	Continues bool
	Guards    []SlotTest
	Keep      int64 // comparisons to leave that still continue the loop
	Barrier   bool
	Head      int
	// estimated: iterations depend on data, and are left out by Options.Estimate.
	Estimated bool
	// of loops whose guards and cyclic registers depend on each other: see loopsample.Loop
	Periodic, Mbarriers, Drifts, States bool
}

// SlotTest is a loopsample.Test with its registers resolved to slots.
type SlotTest struct {
	Induction Slot
	Limit     Slot
	Imm       uint64
	Type      ir.Type
	Compare   ir.Cmp
	Ahead     bool
}

// SlotTest is a loopsample.Test with its registers resolved to slots.
func (c *compiler) slotTest(t *loopsample.Test) SlotTest {
	s := SlotTest{Type: t.Type, Compare: t.Cmp, Ahead: t.Ahead, Limit: noSlot, Induction: c.Slots[t.Induction.Reg]}
	if t.Limit.Kind == ir.OperandReg {
		s.Limit = c.Slots[t.Limit.Reg]
	} else {
		s.Imm = t.Limit.Imm
	}
	return s
}

// samplers resolves the loops whose iterations can be counted; nil for the others.
func (c *compiler) samplers() {
	c.p.Samplers = make([]*Sampler, len(c.p.Loops))
	for i := range c.p.Loops {
		l := &c.p.Loops[i]
		if !l.Counted {
			continue
		}
		t := &l.Exit
		s := &Sampler{SlotTest: c.slotTest(t), Continues: t.Continues, Keep: 2, Barrier: l.Barriers, Head: l.Head, Estimated: !l.CanSample(),
			Periodic: l.Periodic, Mbarriers: l.Mbarriers, Drifts: l.Drifts, States: l.States}
		if t.AtLatch {
			s.Keep = 1
		}
		for _, r := range l.Inductions {
			s.Inductions = append(s.Inductions, c.Slots[r])
		}
		c.p.Samplers[i] = s
		if s.Estimated {
			continue
		}
		for _, r := range l.Cyclic {
			s.Cyclic = append(s.Cyclic, c.Slots[r])
		}
		for k := range l.Guards {
			s.Guards = append(s.Guards, c.slotTest(&l.Guards[k]))
		}
	}
}
