package clock

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/timing/pending"
)

// op is a machine instruction as the clock reads it: operands as columns of the scoreboard, its
// class resolved to port and latency.
type op struct {
	class      assemble.Class
	pipe       cost.Pipe
	port       port
	kind       cost.ResultKind
	space      ir.Space
	width      uint8
	pred       bool  // the result is a predicate
	float      bool  // an atomic on floating-point values
	wide       bool  // a fence beyond the CTA
	slowPath   int32 // 1 + the slow path that it calls, 0 none
	source     int32
	spill      int16
	lead       uint8 // cost.Leads
	bypassesL1 bool  // cost.BypassesL1
	pending    int16 // Control: cp.async groups that may stay outstanding; -1: not a wait
	commit     bool  // Control: closes a cp.async group
	walksTable bool  // LDC: cost.WalksConstTable
	asyncOp
	latency  int32
	interval int32
	slots    int32 // steps that the issue slot is held
	// deps[dep0:dep1] are the scoreboard columns that it waits for, dst0:dst1 those written, dst1:dst2 those of guards.
	dep0, dep1, dst0, dst1, dst2 int32
	later                        int32 // cycles by which guards have the result later
}

// asyncOp is what an op of the asynchronous units is besides; see describeAsync.
type asyncOp struct {
	async     ir.Op
	reads     bool  // BulkWait: of shared memory alone
	completes bool  // MbarExpect: complete_tx
	all       bool  // CpAsyncArrive: .noinc
	drops     bool  // MbarArrive: arrive_drop
	word      bool  // an access by which warps may wait for each other
	arrives   bool  // ClusterBarrier, Barrier: waits for nobody
	relaxed   bool  // ClusterBarrier
	barrier   int32 // Barrier: its number, -1 where it is in a register
	warps     int32 // Barrier: that meet, 0 all
	shared    int32 // Wgmma: steps of the banks of shared memory
	next      int32 // Wgmma: cycles until its warp issues again
	slows     bool  // Wgmma: cost.SlowsOthers
	turns     bool  // Bulk: cost.LaneLoop
}

// code is a Program flattened: block b is ops[start[b]:start[b+1]].
type code struct {
	program *assemble.Program
	m       *cost.Machine
	ops     []op
	start   []int32
	root    []int32 // the block that carries a block's code
	deps    []int32
	column  map[assemble.Reg]int32
	stride  int    // scoreboard columns of a warp
	pcs     int    // ir instructions, the length of tables by PC
	heads   []bool // blocks that head a loop
	async   bool   // it uses the asynchronous units, or words
	words   bool   // cost.WaitsByWords
	leads   bool   // it has cost.Leads
	copies  bool   // it has copies (cp.async), whose addresses others may overwrite
	named   bool   // warps may meet at barriers of a part of the CTA, or at several at a time
	// specific is cost.Specific: copies to shared memory hold no place in L1.
	specific bool
	before   *assemble.Instr // the FMA lowered last in the present block
	// classes[b] is the instructions of block b by class, tids[b] how many of
	// them read a thread index and memory[b] how many go through the memory
	// input/output queue.
	classes      [][assemble.NumClasses]int32
	tids, memory []int32
	spilled      []int32 // words of registers that each block stores to local memory
	slowPaths    []slowPath
	matches      []timing.Match
	extra        [][]int32 // by block: the slow paths called in it
	// requests[b] is the loads, stores and atomics of block b, spills left out.
	requests []int32
	products []products // by block, those of warpgroups
}

// products is what warpgroup MMAs take: cycles of tensor cores, and of the banks of shared memory.
type products struct{ tensor, shared float64 }

func (p *products) add(o products, n float64) {
	p.tensor, p.shared = p.tensor+n*o.tensor, p.shared+n*o.shared
}

// compile lowers a program. slowPaths and matches are those of timing.Input.
func compile(m *cost.Machine, p *assemble.Program, slowPaths []timing.SlowPath, matches []timing.Match) (*code, error) {
	if p == nil || p.Kernel == nil {
		return nil, fmt.Errorf("timing: no program")
	}
	c := &code{program: p, m: m, matches: matches, pcs: len(p.Kernel.Instrs), column: map[assemble.Reg]int32{}}
	c.specific, c.words = p.Kernel.Specific(), cost.WaitsByWords(p.Kernel)
	c.async = c.words
	c.tids, c.memory, c.spilled = make([]int32, len(p.Blocks)), make([]int32, len(p.Blocks)), make([]int32, len(p.Blocks))
	c.requests, c.products = make([]int32, len(p.Blocks)), make([]products, len(p.Blocks))
	c.classes = make([][assemble.NumClasses]int32, len(p.Blocks))
	c.heads = cost.LoopHeads(p.Kernel, len(p.Blocks))
	for i := range p.Blocks {
		root, err := cost.Carrier(p, i)
		if err != nil {
			return nil, err
		}
		c.root = append(c.root, root)
		c.start = append(c.start, int32(len(c.ops)))
		c.before = nil
		leads := cost.Leads(p.Blocks[i].Instrs)
		c.leads = c.leads || leads != nil
		for k := range p.Blocks[i].Instrs {
			if p.Blocks[i].Instrs[k].Class == assemble.WgmmaPart {
				continue // registers of the product before it
			}
			o, err := c.lower(m, &p.Blocks[i].Instrs[k])
			if err != nil {
				return nil, err
			}
			if leads != nil {
				o.lead = leads[k]
			}
			o.turns = o.class == assemble.Bulk && cost.LaneLoop(p.Blocks[i].Instrs, k)
			c.ops = append(c.ops, o)
			c.classes[i][o.class]++
			if o.class == assemble.Wgmma {
				w := m.Wgmma(&p.Kernel.Instrs[o.source])
				c.products[i].add(products{float64(o.interval) / dram.Fraction, float64(w.Shared) / dram.Fraction}, 1)
			}
			if o.class == assemble.Store && o.source < 0 {
				c.spilled[i] += int32(max(o.width/4, 1))
			}
			if o.pipe == cost.PipeMemory {
				c.memory[i]++
			}
			if o.source >= 0 && (o.class == assemble.Load || o.class == assemble.Store || o.class == assemble.Atomic) {
				c.requests[i]++
			}
			if o.class == assemble.S2R && c.readsTID(o.source) {
				c.tids[i]++
			}
		}
	}
	c.start = append(c.start, int32(len(c.ops)))
	if len(slowPaths) > 0 {
		if err := c.addSlowPaths(m, slowPaths); err != nil {
			return nil, err
		}
	}
	c.stride = max(len(c.column), 1)
	return c, nil
}

// readsTID reports whether a PTX instruction reads a thread index, which S2R takes through the
// data stage of shared memory.
func (c *code) readsTID(source int32) bool {
	if source < 0 {
		return false
	}
	for _, o := range c.program.Kernel.Instrs[source].Src {
		if o.Kind == ir.OperandSpecial && (o.Special == ir.TidX || o.Special == ir.TidY || o.Special == ir.TidZ) {
			return true
		}
	}
	return false
}

func (c *code) lower(m *cost.Machine, in *assemble.Instr) (op, error) {
	if in.Class == assemble.ClassInvalid || in.Class >= assemble.NumClasses {
		return op{}, fmt.Errorf("timing: instruction of unknown class %d", in.Class)
	}
	if int(in.Source) >= c.pcs {
		return op{}, fmt.Errorf("timing: machine instruction names PTX instruction %d of %d", in.Source, c.pcs)
	}
	if err := cost.CheckClass(m.Arch, in.Class); err != nil {
		return op{}, err
	}
	s := m.Classes[in.Class]
	o := op{
		class: in.Class, pipe: s.Pipe, port: portOf(in.Class, s.Pipe, in.Space), kind: s.Kind, space: in.Space, width: in.Width, source: in.Source,
		spill: in.Spill, latency: int32(s.Latency), interval: int32(s.Interval), pending: -1,
		walksTable: cost.WalksConstTable(c.program.Kernel, in), slots: int32(m.Slots(in)),
	}
	o.dep0 = int32(len(c.deps))
	guards := !cost.SelectsBy(in)
	c.copies = c.copies || in.Class == assemble.AsyncCopy
	for _, span := range in.Src {
		if guards && isPredicate(span) {
			span.First += guard
		}
		if err := c.columns(span); err != nil {
			return op{}, err
		}
	}
	switch in.Class {
	case assemble.FMA:
		if cost.OperandFetches(in, c.before) >= 3 {
			o.interval = max(o.interval, int32(m.ThreeReads))
		}
		c.before = in
	case assemble.Match:
		hold, latency := cost.MatchCost(c.program.Kernel, in, c.matches)
		o.interval, o.latency = int32(dram.Ticks(hold)), int32(math.Round(latency))
	}
	o.dst0 = int32(len(c.deps))
	o.pred = cost.WritesPredicate(in)
	for _, span := range in.Dst {
		if err := c.columns(span); err != nil {
			return op{}, err
		}
	}
	o.dst1 = int32(len(c.deps))
	o.dep1 = o.dst1
	for _, span := range in.Dst {
		if isPredicate(span) {
			span.First += guard
			if err := c.columns(span); err != nil {
				return op{}, err
			}
		}
	}
	o.dst2 = int32(len(c.deps))
	if c.specific && in.Class == assemble.Uniform {
		o.pred, o.latency = false, int32(m.UniformResult)
	}
	if o.pred && s.Kind == cost.ResultFixed {
		o.later = max(int32(m.Predicate)-o.latency, 0)
	}
	if in.Source >= 0 {
		c.describe(&o, &c.program.Kernel.Instrs[in.Source])
		c.describeAsync(m, &o, &c.program.Kernel.Instrs[in.Source])
	}
	return o, nil
}

// portOf is the port that an op of a class waits for.
func portOf(c assemble.Class, p cost.Pipe, space ir.Space) port {
	switch c {
	case assemble.Load, assemble.Store, assemble.Atomic, assemble.AsyncCopy:
		if isLG(space) {
			return portLG
		}
	}
	return port(p)
}

// describe takes from the PTX instruction what the class of the machine instruction leaves
// open.
func (c *code) describe(o *op, in *ir.Instr) {
	o.bypassesL1, o.float, o.wide = cost.BypassesL1(in), in.Type.IsFloat(), in.FencesBeyondCTA()
	switch in.Op {
	case ir.CpAsyncCommit:
		o.commit = true
	case ir.CpAsyncWait:
		o.pending = 0
		if in.Mod&ir.ModAll == 0 && len(in.Src) > 0 && in.Src[0].Kind == ir.OperandImm {
			o.pending = int16(min(in.Src[0].Imm, pending.MaxGroups))
		}
	}
}

// describeAsync is describe for the asynchronous units.
func (c *code) describeAsync(m *cost.Machine, o *op, in *ir.Instr) {
	c.async = c.async || cost.IsAsync(o.class)
	switch {
	case o.class == assemble.Barrier:
		o.describeBarrier(in)
		c.named = c.named || o.barrier != 0 || o.warps > 0 || o.arrives
		return
	case o.class == assemble.Load || o.class == assemble.Store || o.class == assemble.Atomic:
		o.word = c.words && cost.MayHandOver(in)
		return
	case cost.IsAsync(o.class) || o.class == assemble.Control || o.class == assemble.Fence:
	default:
		return
	}
	o.async = in.Op
	switch in.Op {
	case ir.Wgmma:
		w := m.Wgmma(in)
		o.interval, o.latency, o.shared, o.next = int32(w.Hold), int32(w.Latency), int32(w.Shared), int32(w.Next)
		o.slows = cost.SlowsOthers(in)
	case ir.WgmmaWait, ir.BulkWait:
		o.pending = 0
		if len(in.Src) > 0 && in.Src[0].Kind == ir.OperandImm {
			o.pending = int16(min(in.Src[0].Imm, pending.MaxGroups))
		}
	}
	o.reads, o.completes, o.all, o.drops = in.Mod&ir.ModRead != 0, in.Mod&ir.ModDone != 0, in.Mod&ir.ModAll != 0, in.Mod&ir.ModDrop != 0
	o.arrives, o.relaxed = in.Mod&ir.ModArrive != 0, in.Mod&ir.ModRelaxed != 0
}

// describeBarrier takes the number of a barrier and how many warps meet there.
func (o *op) describeBarrier(in *ir.Instr) {
	o.barrier, o.arrives = -1, in.Mod&ir.ModArrive != 0
	if len(in.Src) == 0 {
		o.barrier = 0
		return
	}
	if in.Src[0].Kind == ir.OperandImm {
		o.barrier = int32(in.Src[0].Imm & 15)
	}
	if len(in.Src) > 1 && in.Src[1].Kind == ir.OperandImm {
		o.warps = int32(min(in.Src[1].Imm, 32*timing.MaxSlots) / 32)
	}
}

// guard is what the number of a predicate is higher by where it is read as a guard, by a branch or a copy: columns of
// their own, since these have it later than arithmetic (cost.SelectsBy).
const guard = 1 << 10

// isPredicate reports whether a span is of predicates.
func isPredicate(s assemble.RegSpan) bool {
	return s.Count > 0 && s.First >= assemble.PredBase && s.First < assemble.UniformBase
}

// columns appends the scoreboard columns of a span to deps. Columns are given out as registers
// appear, so that a warp's row holds only what the kernel uses.
func (c *code) columns(s assemble.RegSpan) error {
	for k := range int(s.Count) {
		r := s.First + assemble.Reg(k)
		if r < 0 {
			return fmt.Errorf("timing: register %d does not exist", r)
		}
		col, ok := c.column[r]
		if !ok {
			col = int32(len(c.column))
			c.column[r] = col
		}
		c.deps = append(c.deps, col)
	}
	return nil
}

var resultStall = [...]timing.StallReason{timing.Wait, timing.ShortScoreboard, timing.LongScoreboard, timing.IMCMiss}
