package ir

import "slices"

// Yields reports of each block whether it heads a loop in which lanes of a warp yield to each other.
// That is a loop that a lane may leave because of what other threads write, as an atomic or a
// volatile, relaxed or acquire load at an address of its own tells it. Waiting for an mbarrier is no such
// loop: the phase is the same for all lanes. ptxas 13.0.88 marks these
// loops for sm_90 and later, so that a lane that waits does not block the one it waits for. For
// earlier GPUs it marks further loops with such an instruction (deploy/calibrate/ptxas/yields.py).
func (k *Kernel) Yields() []bool {
	heads := make([]bool, len(k.Blocks))
	if !k.asksOthers() {
		return heads
	}
	a := yieldAnalysis{k: k, varying: k.varying()}
	for h, body := range k.loopBodies() {
		heads[h] = len(body) > 0 && a.leftByOthers(body)
	}
	return heads
}

// yield reports whether lanes yield anywhere.
func (k *Kernel) yield() bool { return slices.Contains(k.Yields(), true) }

// Together reports whether lanes of a warp execute an instruction together.
func (in *Instr) Together() bool {
	switch in.Op {
	case Bar, BarRed, BarWarp, Shfl, Vote, Match, Redux, Elect, Mma, Movmatrix,
		Wgmma, WgmmaFence, WgmmaCommit, WgmmaWait, TensormapCopy, Setmaxnreg, ClusterBarrier:
		return true
	}
	return in.Mod&ModMatrix != 0
}

// asksOthers reports whether any instruction reads what other threads may be writing.
func (k *Kernel) asksOthers() bool {
	for pc := range k.Instrs {
		if k.Instrs[pc].asksOthers() {
			return true
		}
	}
	return false
}

func (in *Instr) asksOthers() bool {
	return in.Op == Atom || in.Op == Ld && in.sees()
}

type yieldAnalysis struct {
	k       *Kernel
	varying BitSet // registers that lanes may hold different values of
}

// leftByOthers reports whether an exit of a loop depends on what other threads write.
func (a *yieldAnalysis) leftByOthers(body []int) bool {
	k := a.k
	inside := make([]bool, len(k.Blocks))
	for _, b := range body {
		inside[b] = true
	}
	told := NewBitSet(len(k.Regs))       // registers that depend on it
	split := make([]bool, len(k.Blocks)) // blocks that a branch on one of them decides about
	for changed := true; changed; {
		changed = false
		for _, b := range body {
			changed = a.spread(b, inside, told, split) || changed
		}
	}
	for _, b := range body {
		for _, s := range k.Blocks[b].Succs {
			if last := &k.Instrs[k.Blocks[b].End-1]; !inside[s] && (split[b] || last.Guard != NoReg && told.Has(last.Guard)) {
				return true
			}
		}
	}
	return false
}

// spread notes what instructions of a block make of what is told, and reports whether that is more
// than before.
func (a *yieldAnalysis) spread(b int, inside []bool, told BitSet, split []bool) (changed bool) {
	blk := &a.k.Blocks[b]
	for pc := blk.Start; pc < blk.End; pc++ {
		in := &a.k.Instrs[pc]
		if in.Op == Vote || !split[b] && !in.ReadsAny(told) && !(in.asksOthers() && a.apart(in)) {
			continue
		}
		for _, r := range in.Dst {
			if r != NoReg && !told.Has(r) {
				told.Add(r)
				changed = true
			}
		}
	}
	if last := &a.k.Instrs[blk.End-1]; last.Guard != NoReg && told.Has(last.Guard) && len(blk.Succs) > 1 {
		a.k.eachBetween(b, func(s int) bool {
			if !inside[s] || split[s] {
				return false
			}
			split[s], changed = true, true
			return true
		})
	}
	return changed
}

// apart reports whether an instruction may read different values for different lanes.
func (a *yieldAnalysis) apart(in *Instr) bool { return in.Op == Atom || in.ReadsAny(a.varying) }

// eachBetween visits the blocks behind a branch up to where its lanes meet, as long as visit says to go on.
func (k *Kernel) eachBetween(branch int, visit func(b int) bool) {
	stop := k.Blocks[branch].IPDom
	for work := append([]int(nil), k.Blocks[branch].Succs...); len(work) > 0; {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		if s != stop && visit(s) {
			work = append(work, k.Blocks[s].Succs...)
		}
	}
}

// varying returns the registers that may differ between lanes of a warp. They are what is computed from the
// thread's index, from atomics, shuffles or MMA, what is loaded at such an address, and what is written where only
// some lanes may be.
func (k *Kernel) varying() BitSet {
	set := NewBitSet(len(k.Regs))
	split := make([]bool, len(k.Blocks))
	for changed := true; changed; {
		changed = false
		for b := range k.Blocks {
			blk := &k.Blocks[b]
			for pc := blk.Start; pc < blk.End; pc++ {
				in := &k.Instrs[pc]
				if !split[b] && !in.ReadsAny(set) && !in.varies() {
					continue
				}
				for _, r := range in.Dst {
					if r != NoReg && in.Op != Vote && !set.Has(r) {
						set.Add(r)
						changed = true
					}
				}
			}
			if blk.End == blk.Start || len(blk.Succs) < 2 {
				continue
			}
			if last := &k.Instrs[blk.End-1]; last.ReadsAny(set) {
				k.eachBetween(b, func(s int) bool {
					if split[s] {
						return false
					}
					split[s], changed = true, true
					return true
				})
			}
		}
	}
	return set
}

// varies reports whether an instruction gives lanes different values whatever its registers hold.
func (in *Instr) varies() bool {
	switch in.Op {
	case Atom, Shfl, Match, Elect, Mma, Movmatrix, Wgmma:
		return true
	case Ld, Ldu:
		if in.Space == Local {
			return true
		}
	}
	for i := range in.Src {
		if in.Src[i].Kind == OperandSpecial {
			switch in.Src[i].Special {
			case TidX, TidY, TidZ, LaneID, LaneMaskEQ, LaneMaskGE, LaneMaskGT, LaneMaskLE, LaneMaskLT, Clock, ClockHi, Clock64, GlobalTimer:
				return true
			}
		}
	}
	return false
}

// sees reports whether a load is of those that see what other threads write while it is repeated (strong operations of the
// PTX memory model).
func (in *Instr) sees() bool { return in.Mod&(ModVolatile|ModRelaxed|ModAcquire) != 0 }
