// Package slice finds the instructions that paths and addresses of a kernel depend on: a program slice (M. Weiser, Program
// slicing, 1981).
package slice

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/alias"
	"github.com/warptune/warptune/simengine/ir/bounds"
)

// Addresses marks the instructions whose results matter to where control
// goes and which addresses memory instructions touch: what must be computed to
// know a warp's path and accesses without computing the kernel's answer.
//
// Branches, exits, barriers, fences, operations on mbarriers and what commits
// and awaits groups are always marked. The guard and the address of a memory
// instruction are always needed; of a bulk copy the size, the coordinates, the
// mbarrier and the mask of CTAs are too. The instruction itself is marked only
// when the data it moves is: a load whose result is needed, and a store, atomic
// or copy into a place that a marked load may read: a state space, of device memory a buffer, of shared memory bytes
// that are known (package bounds), or what was handed over in its block (handover.go). A copy of a tensor's box
// reads the tensor map whether or not it is marked: writes of device memory
// that may be of the map are marked, unless the map is a parameter. Registers
// are not told apart by place: when any needed instruction reads a register,
// every write of it is marked, unless this marks MMAs; then
// only the writes are that reach the reader.
//
// A branch that is not marked is taken, whatever its guard: see detour.go.
//
// Any two pointers into global memory are taken to alias; see WithDistinctBuffers.
func Addresses(k *ir.Kernel) []bool { return slice(k, nil, new(facts)) }

// WithDistinctBuffers is Addresses for launches that pass a buffer of its own to
// every pointer parameter: a store through one parameter does not matter to
// loads through another. It marks no more than Addresses.
func WithDistinctBuffers(k *ir.Kernel) []bool { return slice(k, alias.OfRegisters(k), new(facts)) }

// Distinct is WithDistinctBuffers, and whether it marks less than Addresses.
func Distinct(k *ir.Kernel) (needed []bool, relies bool) {
	s := sliceWithout(k, alias.OfRegisters(k), nil, false, new(facts))
	all := &facts{bounds: s.bounds}
	if s.multiplies() {
		needed = withoutMMAs(k, s.of, s).needed
		return needed, !slices.Equal(needed, slice(k, nil, all))
	}
	// What buffers that may alias add nothing to is the least slice of those, too.
	needed = slices.Clone(s.needed)
	if s.of, s.facts = nil, all; !s.stores() {
		return needed, false
	}
	return needed, !slices.Equal(needed, slice(k, nil, all))
}

// Straight is WithDistinctBuffers or, for buffers that may alias, Addresses, but for the conditions of detours that
// depend on what loops compute: lanes are taken to go past these. A softmax's logarithm of its sum would have the slice
// compute all of it.
func Straight(k *ir.Kernel, distinct bool) []bool {
	var of []alias.Roots
	if distinct {
		of = alias.OfRegisters(k)
	}
	if len(detours(k)) > 0 {
		if s := withoutDetours(k, of, false, true, new(facts)); s != nil {
			return s.needed
		}
	}
	return slice(k, of, new(facts))
}

func slice(k *ir.Kernel, of []alias.Roots, known *facts) []bool {
	s := sliceWithout(k, of, nil, false, known)
	if s.multiplies() {
		s = withoutMMAs(k, of, s)
	}
	return s.needed
}

// sliceWithout is a slice in which the conditions of some branches are not needed. If reaching is
// set, of the writes of a register only those are marked that reach a reader.
func sliceWithout(k *ir.Kernel, of []alias.Roots, out map[int]bool, reaching bool, known *facts) *slicer {
	s := &slicer{of: of, maps: of, k: k, needed: make([]bool, len(k.Instrs)), reg: ir.NewBitSet(len(k.Regs)), spins: map[int]bool{}, facts: known}
	for b, spins := range k.Spins() {
		if spins {
			s.spins[k.Blocks[b].End-1] = true
		}
	}
	for pc := range k.EndsOfWaits() {
		s.spins[pc] = true
	}
	if reaching && len(k.Regs)*len(k.Blocks) < mostReach {
		s.reach = newReach(k)
	}
	s.findDefs()
	for pc := range k.Instrs {
		if !out[pc] {
			s.root(pc)
		}
		if readsMap(&k.Instrs[pc]) && s.maps == nil {
			s.maps = alias.OfRegisters(k)
		}
	}
	s.close()
	return s
}

// findDefs lists the instructions that write each register, all lists in one array.
func (s *slicer) findDefs() {
	counts, sum := make([]int32, len(s.k.Regs)), 0
	for pc := range s.k.Instrs {
		for _, r := range s.k.Instrs[pc].AppendDefs(s.buf[:0]) {
			counts[r]++
			sum++
		}
	}
	s.defs = make([][]int32, len(counts))
	all := make([]int32, sum)
	for r, n := range counts {
		s.defs[r], all = all[:0:n], all[n:]
	}
	for pc := range s.k.Instrs {
		for _, r := range s.k.Instrs[pc].AppendDefs(s.buf[:0]) {
			s.defs[r] = append(s.defs[r], int32(pc))
		}
	}
}

// close marks all that what is marked needs.
func (s *slicer) close() {
	for {
		s.drain()
		if s.failed || !s.stores() && !s.carries() {
			return
		}
	}
}

// facts is what slices of one kernel share.
type facts struct {
	bounds    *bounds.Registers // nil: not known yet
	handovers *handovers        // nil: not looked for yet
}

type slicer struct {
	k      *ir.Kernel
	spins  map[int]bool // branches of ir.Kernel.Spins and EndsOfWaits
	needed []bool
	defs   [][]int32 // instructions that write each register
	reg    ir.BitSet // registers that are needed
	reach  *reach    // nil: every write of a register is taken to reach every reader
	work   []ir.Reg
	buf    [16]ir.Reg
	of     []alias.Roots // by register; nil: every pointer may point anywhere
	floats ir.BitSet     // see Kernel.floats; nil: not known yet
	maps   []alias.Roots // of's where there are tensor maps, whatever other pointers point to
	trying bool          // what needs an MMA is not wanted: once one is marked, the slice has failed
	failed bool
	*facts
}

// root marks what is needed whatever the data.
func (s *slicer) root(pc int) {
	in := &s.k.Instrs[pc]
	switch in.Op {
	case ir.Bra:
		if !s.spins[pc] { // whoever waits for another CTA is taken to wait no longer
			s.mark(pc)
		}
	case ir.Brx, ir.Exit, ir.Trap, ir.Bar, ir.BarRed, ir.BarWarp, ir.Membar, ir.CpAsyncCommit, ir.CpAsyncWait:
		s.mark(pc)
	case ir.MbarInit, ir.MbarInval, ir.MbarArrive, ir.MbarExpect, ir.MbarWait, ir.CpAsyncArrive, ir.BulkCommit, ir.BulkWait,
		ir.WgmmaFence, ir.WgmmaCommit, ir.WgmmaWait, ir.FenceProxy, ir.ClusterBarrier, ir.Setmaxnreg:
		s.mark(pc)
	case ir.Ld, ir.Ldu, ir.St, ir.Atom, ir.Red, ir.CpAsync, ir.Prefetch, ir.BulkCopy, ir.BulkPrefetch, ir.TensormapSet, ir.TensormapCopy:
		s.want(in.Guard, pc)
		whole := in.Op == ir.CpAsync || in.Bulk != nil // every operand is an address or a size
		for i := range in.Src {
			if o := &in.Src[i]; o.Kind == ir.OperandAddr || whole && o.Kind == ir.OperandReg {
				s.want(o.Reg, pc)
			}
		}
	case ir.Tex, ir.Suld, ir.Sust:
		s.want(in.Guard, pc)
		for i := range 1 + in.Texture.Coordinates() {
			if o := &in.Src[i]; o.Kind == ir.OperandReg {
				s.want(o.Reg, pc)
			}
		}
	}
}

// mark needs an instruction and all it reads.
func (s *slicer) mark(pc int) {
	if s.needed[pc] {
		return
	}
	s.needed[pc] = true
	if op := s.k.Instrs[pc].Op; s.trying && (op == ir.Wgmma || op == ir.Mma) {
		s.failed = true
		return
	}
	for _, r := range s.k.Instrs[pc].AppendUses(s.buf[:0]) {
		s.want(r, pc)
	}
}

// want needs a register that the instruction at pc reads.
func (s *slicer) want(r ir.Reg, pc int) {
	switch {
	case r == ir.NoReg:
	case s.reach != nil && len(s.defs[r]) > 1:
		s.reach.work = append(s.reach.work, use{r, int32(pc)})
	case !s.reg.Has(r):
		s.reg.Add(r)
		s.work = append(s.work, r)
	}
}

// drain marks the writers of every register wanted.
func (s *slicer) drain() {
	for !s.failed && (s.reach != nil && len(s.reach.work) > 0 || len(s.work) > 0) {
		if len(s.work) == 0 {
			s.reach.next(s.mark)
			continue
		}
		r := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		for _, pc := range s.defs[r] {
			s.mark(int(pc))
		}
	}
}

// stores marks the writes to spaces that marked loads read, and reports
// whether it marked any. A load through the read-only path reads nothing the
// kernel writes.
func (s *slicer) stores() bool {
	var read, maps memory
	marked := false
	for pc := range s.needed {
		if from, ok := s.handedOver(pc); ok {
			for _, store := range from {
				marked = marked || !s.needed[store]
				s.mark(store)
			}
		} else {
			s.reads(&read, pc)
		}
		s.readsMaps(&maps, pc)
	}
	for pc := range s.k.Instrs {
		in := &s.k.Instrs[pc]
		if s.needed[pc] || in.Mirrored() || !in.Op.WritesMemory() {
			continue
		}
		if at := s.written(in); read.mayAlias(at) || maps.mayAlias(at) && s.maySetMap(in) {
			s.mark(pc)
			marked = true
		}
	}
	return marked
}

// handedOver is the stores that a marked load of shared memory reads, of a kernel for one architecture; false: it may read
// others'.
func (s *slicer) handedOver(pc int) (stores []int, ok bool) {
	if in := &s.k.Instrs[pc]; !s.needed[pc] || in.Op != ir.Ld || in.Space != ir.Shared || !s.k.Specific() {
		return nil, false
	}
	if s.handovers == nil {
		s.handovers = newHandovers(s)
	}
	return s.handovers.stores(pc)
}

// readsMap reports whether an instruction reads a tensor map.
func readsMap(in *ir.Instr) bool { return in.Bulk != nil && in.Bulk.Dims > 0 }

// reads adds what a marked instruction reads.
func (s *slicer) reads(m *memory, pc int) {
	in := &s.k.Instrs[pc]
	if !s.needed[pc] || in.Mod&ir.ModNonCoherent != 0 && in.Op == ir.Ld || in.Mirrored() {
		return
	}
	switch in.Op {
	case ir.Ld, ir.Atom, ir.Suld: // what a kernel stores its textures may not show
		m.add(s.accessed(in))
	case ir.CpAsync:
		m.add(place{space: ir.Global, from: s.roots(&in.Src[1])})
	case ir.Wgmma:
		m.add(place{space: ir.Shared})
	case ir.BulkCopy:
		if from := &in.Src[1]; in.Bulk.Dims > 0 {
			m.add(place{space: in.Bulk.From, from: s.tensor(in)})
		} else {
			m.add(place{space: in.Bulk.From, from: s.roots(from)})
		}
	}
}

// readsMaps adds what an instruction reads of tensor maps, those in parameters left out.
func (s *slicer) readsMaps(m *memory, pc int) {
	in := &s.k.Instrs[pc]
	switch {
	case readsMap(in):
		if r := alias.OfAddress(s.k, mapAddress(in), s.maps); r&alias.Parameter == 0 || r&alias.Unknown != 0 {
			m.add(place{space: ir.Global, from: s.roots(mapAddress(in))})
		}
	case s.needed[pc] && in.Op == ir.TensormapSet:
		m.add(place{space: in.Space, from: s.roots(&in.Src[0])})
	case s.needed[pc] && in.Op == ir.TensormapCopy:
		m.add(place{space: ir.Shared})
	}
}

// maySetMap reports whether a write may be one of a tensor map. Asynchronous copies, stores of
// fragments of matrices and of results of floating-point arithmetic are not.
func (s *slicer) maySetMap(in *ir.Instr) bool {
	switch in.Op {
	case ir.TensormapSet, ir.TensormapCopy:
		return true
	case ir.BulkCopy, ir.CpAsync:
		return false
	}
	if s.floats == nil {
		s.floats = floats(s.k)
	}
	for i := range in.Src[1:] {
		if o := &in.Src[1+i]; o.Kind == ir.OperandReg && s.floats.Has(o.Reg) {
			return false
		}
	}
	return in.Mod&ir.ModMatrix == 0
}

// floats returns the registers that may hold results of floating-point arithmetic, or pieces of them.
func floats(k *ir.Kernel) ir.BitSet {
	set := ir.NewBitSet(len(k.Regs))
	for changed := true; changed; {
		changed = false
		for pc := range k.Instrs {
			in := &k.Instrs[pc]
			moves := in.Op == ir.Mov || in.Op == ir.Selp || in.Op == ir.Prmt || in.Op == ir.Shfl
			if moves && !in.ReadsAny(set) || !moves && (!in.Type.IsFloat() && in.Matrix == nil || in.Op == ir.Ld || in.Op == ir.Ldu) {
				continue
			}
			for _, r := range in.Dst {
				if r != ir.NoReg && k.Regs[r].Type != ir.Pred && !set.Has(r) {
					set.Add(r)
					changed = true
				}
			}
		}
	}
	return set
}

// tensor is the buffer of a tensor: that of its map, if this is a parameter.
func (s *slicer) tensor(in *ir.Instr) alias.Roots {
	r := s.roots(mapAddress(in))
	if r&alias.Parameter == 0 {
		return alias.Unknown // the map's place in memory says nothing of the tensor's
	}
	return r &^ alias.Parameter
}

// mapAddress is the address of the tensor map that a copy or prefetch reads.
func mapAddress(in *ir.Instr) *ir.Operand {
	if in.Op == ir.BulkCopy && in.Bulk.From == ir.Global {
		return &in.Src[1]
	}
	return &in.Src[0]
}

func (s *slicer) roots(o *ir.Operand) alias.Roots {
	if s.of == nil {
		return alias.Unknown
	}
	return alias.OfAddress(s.k, o, s.of)
}

// carries marks the writers of the carry flag once a reader is needed.
func (s *slicer) carries() bool {
	reads := false
	for pc, need := range s.needed {
		reads = reads || need && s.k.Instrs[pc].Mod&ir.ModCarryIn != 0
	}
	marked := false
	for pc := range s.k.Instrs {
		if reads && !s.needed[pc] && s.k.Instrs[pc].Mod&ir.ModCarryOut != 0 {
			s.mark(pc)
			marked = true
		}
	}
	return marked
}
