package analytic

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
)

// code is a program, with what its blocks ask of the machine whatever their accesses do.
type code struct {
	f     *cost.Figures
	p     *assemble.Program
	root  []int32 // the block that carries a block's code
	heads []bool  // blocks that head a loop
	async bool    // it uses the asynchronous units, or words
	words bool    // cost.WaitsByWords
	// products: it has warpgroup MMAs that slow other instructions.
	products bool
	// specific is cost.Specific.
	specific bool
	// static is the work of the blocks without the requests the trace records, in
	// sections that end with a barrier or the block; block b's are
	// static[section[b]:section[b+1]].
	static  []work
	section []int32
	// requests[b] is the loads, stores and atomics of block b, spills left out: each
	// takes a turn of the load/store unit even if no lane does.
	requests []int32
	// class[pc] is the memory class of a PTX instruction, ClassInvalid for others.
	class   []assemble.Class
	spill   spillPath
	matches []timing.Match
	// releaseTimes is cost.ReleaseTimes.
	releaseTimes float64
	// apart is cost.ClusterApart.
	apart float64
	// slowPath[pc] is how long the slow path of a PTX instruction takes in the mean, cycles.
	slowPath map[int32]float64
	// leads are cost.Leads.
	leads map[*assemble.Instr]uint8
	// table[pc] is how long a PTX instruction holds the constant cache because CTAs are
	// at places of their own of a table, cycles of the SM.
	table []float64
}

// memoryClass is what the assembler makes of a memory operation.
func memoryClass(o ir.Op) assemble.Class {
	switch o {
	case ir.Ld, ir.Tex, ir.Suld:
		return assemble.Load
	case ir.St, ir.Sust:
		return assemble.Store
	case ir.Atom, ir.Red:
		return assemble.Atomic
	case ir.CpAsync:
		return assemble.AsyncCopy
	case ir.BulkCopy, ir.BulkPrefetch:
		return assemble.Bulk
	}
	return assemble.ClassInvalid
}

func newCode(f *cost.Figures, in *timing.Input, hold float64, s spillPath) (*code, error) {
	p, slowPaths := in.Program, in.SlowPaths
	n := len(p.Blocks)
	c := &code{f: f, p: p, matches: in.Matches, spill: s, apart: cost.ClusterApart(in.Cluster, in.WarpsPerCTA), releaseTimes: cost.ReleaseTimes(in.WarpsPerCTA, int(timing.NewShape(in).Resident)), root: make([]int32, n), heads: cost.LoopHeads(p.Kernel, n)}
	c.specific, c.words = p.Kernel.Specific(), cost.WaitsByWords(p.Kernel)
	c.async = c.words
	c.requests = make([]int32, n)
	c.class = make([]assemble.Class, len(p.Kernel.Instrs))
	c.table = make([]float64, len(p.Kernel.Instrs))
	for i := range p.Kernel.Instrs {
		c.class[i] = memoryClass(p.Kernel.Instrs[i].Op)
	}
	for i := range p.Blocks {
		root, err := cost.Carrier(p, i)
		if err != nil {
			return nil, err
		}
		c.root[i] = root
		c.section = append(c.section, int32(len(c.static)))
		c.static = append(c.static, work{})
		c.addLeads(p.Blocks[i].Instrs)
		for k := range p.Blocks[i].Instrs {
			in := &p.Blocks[i].Instrs[k]
			if err := c.check(in); err != nil {
				return nil, err
			}
			c.async = c.async || cost.IsAsync(in.Class)
			c.products = c.products || in.Class == assemble.Wgmma && in.Source >= 0 && cost.SlowsOthers(&p.Kernel.Instrs[in.Source])
			c.count(&c.static[len(c.static)-1], in)
			if d := cost.SlowPathOf(in, slowPaths); d != nil {
				c.addSlowPath(&c.static[len(c.static)-1], d)
			}
			if cost.WalksConstTable(p.Kernel, in) {
				c.table[in.Source] += hold
			}
			if in.Source >= 0 && isRequest(in.Class) {
				c.requests[i]++
			}
			if in.Class == assemble.Barrier {
				c.static = append(c.static, work{})
			}
		}
	}
	c.section = append(c.section, int32(len(c.static)))
	return c, nil
}

func (c *code) addLeads(block []assemble.Instr) {
	for i, lead := range cost.Leads(block) {
		if lead > 0 {
			if c.leads == nil {
				c.leads = map[*assemble.Instr]uint8{}
			}
			c.leads[&block[i]] = lead
		}
	}
}

// check reports what makes an instruction unsafe to replay.
func (c *code) check(in *assemble.Instr) error {
	if in.Class == assemble.ClassInvalid || in.Class >= assemble.NumClasses {
		return fmt.Errorf("model: instruction of unknown class %d", in.Class)
	}
	if int(in.Source) >= len(c.class) {
		return fmt.Errorf("model: machine instruction names PTX instruction %d of %d", in.Source, len(c.class))
	}
	if err := cost.CheckClass(c.f.Arch(), in.Class); err != nil {
		return err
	}
	for _, spans := range [][]assemble.RegSpan{in.Dst[:], in.Src[:]} {
		for _, s := range spans {
			if s.Count > 0 && (s.First < 0 || int(s.First)+int(s.Count) > numRegs) {
				return fmt.Errorf("model: registers %d to %d do not exist", s.First, int(s.First)+int(s.Count)-1)
			}
		}
	}
	return nil
}

// figures are how long an instruction holds its pipe and how long its result takes, cycles.
func (c *code) figures(in *assemble.Instr) (hold, latency float64) {
	if in.Class == assemble.Match {
		return cost.MatchCost(c.p.Kernel, in, c.matches)
	}
	if in.Class == assemble.Wgmma && in.Source >= 0 {
		return c.f.Wgmma(&c.p.Kernel.Instrs[in.Source]).Hold, 1 // what waits for it waits for its group
	}
	s := &c.f.Classes[in.Class]
	return s.Hold, s.Latency
}

// count adds an instruction to a block's static work.
func (c *code) count(w *work, in *assemble.Instr) {
	if in.Class == assemble.WgmmaPart {
		return
	}
	s := &c.f.Classes[in.Class]
	w.issued++
	w.busy[issueSlot] += c.f.Slots(in)
	if s.Port != 0 {
		hold, _ := c.figures(in)
		w.busy[s.Port] += hold
	}
	if s.Busy == timing.BoundTensor {
		w.tensor++
	}
	if in.Class == assemble.ALU && c.f.SharedFP32Int {
		w.busy[c.f.Classes[assemble.FMA].Port] += s.Hold / 2
	}
	switch {
	case in.Class == assemble.S2R || in.Class == assemble.Shuffle:
		w.turns++
		w.busy[lsu] += c.f.Addressing
		w.blocking[lsu] += c.f.Addressing
	case in.Class == assemble.Wgmma && in.Source >= 0:
		shared := c.f.Wgmma(&c.p.Kernel.Instrs[in.Source]).Shared
		w.turns += shared
		w.busy[lsu] += shared
	case in.Class == assemble.Load && in.Source < 0:
		c.spill.load(c.f, w, words(in))
	case in.Class == assemble.Store && in.Source < 0:
		c.spill.store(c.f, w, words(in))
	}
}

// addSlowPath adds what executing an operation takes of its slow path in the mean.
func (c *code) addSlowPath(w *work, d *timing.SlowPath) {
	if c.slowPath == nil {
		c.slowPath = map[int32]float64{}
	}
	alone := 0.0
	for p := range ir.NumPaths {
		var once work
		routine := assemble.SlowPath(&c.p.Kernel.Instrs[d.PC], p)
		for i := range routine {
			c.count(&once, &routine[i])
		}
		w.add(&once, d.Shares[p])
		alone += d.Shares[p] * c.alone(routine)
	}
	c.slowPath[d.PC] = alone
}

// alone is how long a warp takes for instructions that nothing else delays.
func (c *code) alone(routine []assemble.Instr) float64 {
	ready := map[assemble.Reg]float64{}
	now := 0.0
	for i := range routine {
		in := &routine[i]
		for _, spans := range [][]assemble.RegSpan{in.Src[:], in.Dst[:]} {
			for _, s := range spans {
				for k := range assemble.Reg(s.Count) {
					now = math.Max(now, ready[s.First+k])
				}
			}
		}
		f := &c.f.Classes[in.Class]
		for _, s := range in.Dst {
			for k := range assemble.Reg(s.Count) {
				ready[s.First+k] = now + f.Latency
			}
		}
		if now += c.f.Slots(in); in.Class == assemble.Branch {
			now += math.Max(f.Latency, 1) - 1
		}
	}
	return now
}

func isRequest(c assemble.Class) bool {
	return c == assemble.Load || c == assemble.Store || c == assemble.Atomic
}

// words is how many lines a spill access touches: local memory interleaves the lanes of a warp
// word by word.
func words(in *assemble.Instr) int64 { return max(int64(in.Width)/4, 1) }
