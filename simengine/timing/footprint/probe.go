package footprint

import (
	"fmt"
	"math"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// Kernels that copy tiles number their CTAs as they like: which of them share a tile is no matter of the grid's axes. So
// CTAs further on are probed for what the first one has read, without being surveyed: at multiples of probeStep, and one
// far away. CTAs nearer than probeStep tell how many that follow each other read the same.
//
// CTAs that follow each other go to one GPC after another: the first wave's of an H100 to eight of them in turns but for
// the first twelve (deploy/calibrate cluster.sm, clusters of one CTA). Those of a GPC are probeStep apart.
const (
	probeStep = 8
	numProbes = timing.NumProbes // 2 and 4 CTAs on, probeStep, twice, four times and eight times that, and two far away
	probeFar  = numProbes - 2
	stepProbe = 2         // the probe at probeStep
	oneMore   = numProbes // a probe for what the others let expect
)

// distance is that of a probe from the first CTA.
func distance(n int) float64 { return float64(int64(2) << n) }

// Probing reports whether a kernel's launch is worth it.
func Probing(in *timing.Input) bool {
	k := in.Program.Kernel
	if !k.Specific() || in.CTAs() < 2*probeStep {
		return false
	}
	for pc := range k.Instrs {
		if reads(&k.Instrs[pc]) {
			return true
		}
	}
	return false
}

// reads reports whether CTAs are probed for what an instruction reads.
func reads(in *ir.Instr) bool {
	return cost.Copies(in) && accessOp(in) != ir.St || in.Op == ir.Ld && in.Space == ir.Global
}

// ProbeAll probes CTAs further on in the grid, if the launch is one to probe. base is the CTA surveyed first. Of CTAs that
// take long and copy no tiles, one near and one far is probed. What the other level's survey has found is not looked for again.
func (s *Survey) ProbeAll(in *timing.Input, base int64) error {
	if !Probing(in) {
		return nil
	}
	source := in.Source
	if in.ProbeSource != nil {
		source = in.ProbeSource
	}
	k, total := in.Program.Kernel, int64(in.Grid[0])*int64(in.Grid[1])*int64(in.Grid[2])
	s.inStepProbes = cost.UsesAsync(in.Program) // only of these it matters how many read the same at a time
	tiles := slices.ContainsFunc(k.Instrs, func(i ir.Instr) bool { return cost.Copies(&i) })
	probe := func(id int64, n int) error {
		cta, err := source(id)
		if err != nil {
			return fmt.Errorf("timing: trace of CTA %d: %w", id, err)
		}
		s.Probe(k, cta, n)
		return nil
	}
	if tiles {
		s.probeMore = func(distance int64) bool {
			id := base + distance
			if id >= total {
				id = base - distance
			}
			for pc := range s.probed {
				s.probed[pc].Read[oneMore], s.probed[pc].Found[oneMore] = 0, 0
			}
			return id >= 0 && id < total && probe(id, oneMore) == nil
		}
	}
	if in.Probed != nil && base == timing.Middle(in.Grid) {
		s.probed = slices.Clone(in.Probed)
		return nil
	}
	for n := range numProbes {
		id := base + 2<<n
		if n >= probeFar {
			id = (base + int64(n-probeFar+1)*total/3 + 5) % total
		}
		if in.LongCTAs && !tiles && n != stepProbe && n != probeFar {
			continue
		}
		if id >= total || id == base || n < stepProbe && !tiles || n < probeFar && !tiles && !s.inStepProbes {
			continue
		}
		if err := probe(id, n); err != nil {
			return err
		}
	}
	return nil
}

// Probe counts what a CTA reads, and what of it the first has read.
func (s *Survey) Probe(k *ir.Kernel, c *trace.CTA, probe int) {
	if s.probed == nil {
		s.probed = make([]timing.Probed, len(s.parent)/2)
	}
	for i := range c.Warps {
		w := &c.Warps[i]
		for step := range w.Steps {
			for j := w.Steps[step].Access; j < coalesce.AccessEnd(w, step); j++ {
				if a := &w.Accesses[j]; a.Space == ir.Global && reads(&k.Instrs[a.PC]) {
					s.probe(a, w.Lines[a.First:a.First+int32(a.NLines)], probe)
				}
			}
		}
	}
}

func (s *Survey) probe(a *trace.Access, lines []trace.Line, probe int) {
	p := &s.probed[a.PC]
	width := uint(s.granule / sectorBytes)
	for _, l := range lines {
		granules := s.lines.walk(l.Addr)
		for g := range s.perLine {
			if l.Sectors>>(uint(g)*width)&(1<<width-1) == 0 {
				continue
			}
			p.Read[probe]++
			if granules[g].base() {
				p.Found[probe]++
			}
		}
	}
}

// same reports whether the CTA of a probe reads the same as the first by the instructions of some groups.
func (s *Survey) same(groups []int32, n int) bool {
	var read, found int32
	for pc := range s.probed {
		if slices.Contains(groups, s.parent.Find(int32(pc))) {
			read += s.probed[pc].Read[n]
			found += s.probed[pc].Found[n]
		}
	}
	return read > 0 && 2*found >= read
}

// rereads reports whether the CTA so far on reads the same as the first.
func (s *Survey) rereads(groups []int32, distance float64) bool {
	if s.probeMore == nil || s.probedAt != int64(distance) && !s.probeMore(int64(distance)) {
		return false
	}
	s.probedAt = int64(distance)
	return s.same(groups, oneMore)
}

// elsewhere reports whether CTAs far away read other data by the instructions of a group, which CTAs near each other share.
func (s *Survey) elsewhere(group int32) bool {
	for n := probeFar; n < numProbes; n++ {
		var read, found int32
		for pc := range s.probed {
			if s.parent.Find(int32(pc)) == group {
				read += s.probed[pc].Read[n]
				found += s.probed[pc].Found[n]
			}
		}
		if read > 0 && 2*found < read {
			return true
		}
	}
	return false
}

// spreadOut has groups whose CTAs share data with their neighbours, but not with CTAs far away, touch all of their buffers.
// Neighbours that read parts of the same granules share all of them, too.
func (s *Survey) spreadOut(groups []group, d Device, ctas float64) {
	if s.probed == nil {
		return
	}
	for i := range groups[:len(groups)/2] {
		g := &groups[i]
		if g.low > g.high || g.perCTA == 0 || !g.broadcast && 20*g.fresh[X] >= g.distinct[X] || !s.elsewhere(int32(i)) {
			continue
		}
		if span := d.holds(g.low, g.high, s.perLine); span > 0 {
			g.unique, g.broadcast = min(g.perCTA*ctas, span), false
			g.share = min(g.unique/(g.perCTA*ctas), 1)
		}
	}
}

// merged is how many CTAs of a GPC read the same at a time, resident being those that it holds, from whether CTAs at
// multiples of probeStep read the same as the first.
func merged(p *timing.Probed, resident float64) float64 {
	same := func(n int) bool { return p.Read[n] > 0 && 2*p.Found[n] >= p.Read[n] }
	first := stepProbe
	for first < probeFar && !same(first) {
		first++
	}
	if first == probeFar {
		return 1
	}
	last := first
	for last+1 < probeFar && same(last+1) {
		last++
	}
	every := math.Exp2(float64(first - stepProbe)) // one in so many of a GPC's CTAs
	if last == probeFar-1 {
		return math.Max(resident/every, 1)
	}
	return math.Min(math.Exp2(float64(last-stepProbe))/every+1, math.Max(resident/every, 1))
}
