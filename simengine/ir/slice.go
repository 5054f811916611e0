package ir

// SliceAddress marks the instructions whose results matter to where control
// goes and which addresses memory instructions touch: what must be computed to
// know a warp's path and accesses without computing the kernel's answer.
//
// Branches, exits, barriers, fences, operations on mbarriers and what commits
// and awaits groups are always marked. The guard and the address of a memory
// instruction are always needed; of a bulk copy the size, the coordinates, the
// mbarrier and the mask of CTAs are too. The instruction itself is marked only
// when the data it moves is: a load whose result is needed, and a store, atomic
// or copy into a space that a marked load may read. A copy of a tensor's box
// reads the tensor map whether or not it is marked: writes of device memory
// that may be of the map are marked, unless the map is a parameter. Registers
// are not told apart by place: when any needed instruction reads a register,
// every write of it is marked, unless this marks MMAs; then
// only the writes are that reach the reader.
//
// A branch that is not marked is taken, whatever its guard: see detour.go.
//
// Any two pointers into global memory are taken to alias; see SliceDistinct.
func SliceAddress(k *Kernel) []bool { return slice(k, nil) }

// SliceDistinct is SliceAddress for launches that pass a buffer of its own to
// every pointer parameter: a store through one parameter does not matter to
// loads through another. It marks no more than SliceAddress.
func SliceDistinct(k *Kernel) []bool { return slice(k, k.pointerRoots()) }

// SliceStraight is SliceDistinct or, for buffers that may alias, SliceAddress, but for the conditions of detours that
// depend on what loops compute: lanes are taken to go past these. A softmax's logarithm of its sum would have the slice
// compute all of it.
func SliceStraight(k *Kernel, distinct bool) []bool {
	var of []roots
	if distinct {
		of = k.pointerRoots()
	}
	if len(k.detours()) > 0 {
		if s := withoutDetours(k, of, false, true); s != nil {
			return s.needed
		}
	}
	return slice(k, of)
}

func slice(k *Kernel, of []roots) []bool {
	s := sliceWithout(k, of, nil, false)
	if s.multiplies() {
		s = withoutProducts(k, of, s)
	}
	return s.needed
}

// sliceWithout is a slice in which the conditions of some branches are not needed. If reaching is
// set, of the writes of a register only those are marked that reach a reader.
func sliceWithout(k *Kernel, of []roots, out map[int]bool, reaching bool) *slicer {
	s := &slicer{of: of, maps: of, k: k, needed: make([]bool, len(k.Instrs)), defs: make([][]int32, len(k.Regs)), reg: NewBitSet(len(k.Regs))}
	if reaching && len(k.Regs)*len(k.Blocks) < mostReach {
		s.reach = newReach(k)
	}
	for pc := range k.Instrs {
		in := &k.Instrs[pc]
		for _, r := range in.AppendDefs(s.buf[:0]) {
			s.defs[r] = append(s.defs[r], int32(pc))
		}
	}
	for pc := range k.Instrs {
		if !out[pc] {
			s.root(pc)
		}
		if readsMap(&k.Instrs[pc]) && s.maps == nil {
			s.maps = k.pointerRoots()
		}
	}
	s.close()
	return s
}

// close marks all that what is marked needs.
func (s *slicer) close() {
	for {
		s.drain()
		if !s.stores() && !s.carries() {
			return
		}
	}
}

type slicer struct {
	k      *Kernel
	needed []bool
	defs   [][]int32 // instructions that write each register
	reg    BitSet    // registers that are needed
	reach  *reach    // nil: every write of a register is taken to reach every reader
	work   []Reg
	buf    [16]Reg
	of     []roots // by register; nil: every pointer may point anywhere
	floats BitSet  // see Kernel.floats; nil: not known yet
	maps   []roots // of's where there are tensor maps, whatever other pointers point to
}

// root marks what is needed whatever the data.
func (s *slicer) root(pc int) {
	in := &s.k.Instrs[pc]
	switch in.Op {
	case Bra, Brx, Exit, Trap, Bar, BarRed, BarWarp, Membar, CpAsyncCommit, CpAsyncWait:
		s.mark(pc)
	case MbarInit, MbarInval, MbarArrive, MbarExpect, MbarWait, CpAsyncArrive, BulkCommit, BulkWait,
		WgmmaFence, WgmmaCommit, WgmmaWait, FenceProxy, ClusterBarrier, Setmaxnreg:
		s.mark(pc)
	case Ld, Ldu, St, Atom, Red, CpAsync, Prefetch, BulkCopy, BulkPrefetch, TensormapSet, TensormapCopy:
		s.want(in.Guard, pc)
		whole := in.Op == CpAsync || in.Bulk != nil // every operand is an address or a size
		for i := range in.Src {
			if o := &in.Src[i]; o.Kind == OperandAddr || whole && o.Kind == OperandReg {
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
	for _, r := range s.k.Instrs[pc].AppendUses(s.buf[:0]) {
		s.want(r, pc)
	}
}

// want needs a register that the instruction at pc reads.
func (s *slicer) want(r Reg, pc int) {
	switch {
	case r == NoReg:
	case s.reach != nil && len(s.defs[r]) > 1:
		s.reach.work = append(s.reach.work, use{r, int32(pc)})
	case !s.reg.Has(r):
		s.reg.Add(r)
		s.work = append(s.work, r)
	}
}

// drain marks the writers of every register wanted.
func (s *slicer) drain() {
	for s.reach != nil && len(s.reach.work) > 0 || len(s.work) > 0 {
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

// memory is places in memory: state spaces, and of device memory which buffers.
type memory struct {
	of     [SharedCluster + 1]bool
	global roots
}

func (m *memory) add(sp Space, from roots) {
	if sp == SharedCluster {
		sp = Shared
	}
	m.of[sp] = true
	if sp == Global {
		m.global |= from
	}
}

// mayAlias reports whether something of a space, and there from these buffers, may be among the places.
func (m *memory) mayAlias(sp Space, from roots) bool {
	if sp == SharedCluster {
		sp = Shared
	}
	any := m.of[Global] || m.of[Shared] || m.of[Local] || m.of[Generic]
	generic := sp == Generic && any || m.of[Generic]
	if sp == Global && m.of[Global] && !generic {
		return m.global.mayAlias(from)
	}
	return generic || m.of[sp]
}

// stores marks the writes to spaces that marked loads read, and reports
// whether it marked any. A load through the read-only path reads nothing the
// kernel writes.
func (s *slicer) stores() bool {
	var read, maps memory
	for pc := range s.needed {
		s.reads(&read, pc)
		s.readsMaps(&maps, pc)
	}
	marked := false
	for pc := range s.k.Instrs {
		in := &s.k.Instrs[pc]
		if s.needed[pc] || in.Mirrored() || !in.Op.WritesMemory() {
			continue
		}
		if sp, from := s.written(in); read.mayAlias(sp, from) || maps.mayAlias(sp, from) && s.maySetMap(in) {
			s.mark(pc)
			marked = true
		}
	}
	return marked
}

// readsMap reports whether an instruction reads a tensor map.
func readsMap(in *Instr) bool { return in.Bulk != nil && in.Bulk.Dims > 0 }

// reads adds what a marked instruction reads.
func (s *slicer) reads(m *memory, pc int) {
	in := &s.k.Instrs[pc]
	if !s.needed[pc] || in.Mod&ModNonCoherent != 0 && in.Op == Ld || in.Mirrored() {
		return
	}
	switch in.Op {
	case Ld, Atom:
		m.add(in.Space, s.roots(&in.Src[0]))
	case CpAsync:
		m.add(Global, rootUnknown)
	case Wgmma:
		m.add(Shared, 0)
	case BulkCopy:
		if from := &in.Src[1]; in.Bulk.Dims > 0 {
			m.add(in.Bulk.From, s.tensor(in))
		} else {
			m.add(in.Bulk.From, s.roots(from))
		}
	}
}

// readsMaps adds what an instruction reads of tensor maps, those in parameters left out.
func (s *slicer) readsMaps(m *memory, pc int) {
	in := &s.k.Instrs[pc]
	switch {
	case readsMap(in):
		if r := s.k.addressRoots(in.mapAddress(), s.maps); r&rootParam == 0 || r&rootUnknown != 0 {
			m.add(Global, s.roots(in.mapAddress()))
		}
	case s.needed[pc] && in.Op == TensormapSet:
		m.add(in.Space, s.roots(&in.Src[0]))
	case s.needed[pc] && in.Op == TensormapCopy:
		m.add(Shared, 0)
	}
}

// maySetMap reports whether a write may be one of a tensor map. Asynchronous copies, stores of
// fragments of matrices and of results of floating-point arithmetic are not.
func (s *slicer) maySetMap(in *Instr) bool {
	switch in.Op {
	case TensormapSet, TensormapCopy:
		return true
	case BulkCopy, CpAsync:
		return false
	}
	if s.floats == nil {
		s.floats = s.k.floats()
	}
	for i := range in.Src[1:] {
		if o := &in.Src[1+i]; o.Kind == OperandReg && s.floats.Has(o.Reg) {
			return false
		}
	}
	return in.Mod&ModMatrix == 0
}

// floats returns the registers that may hold results of floating-point arithmetic, or pieces of them.
func (k *Kernel) floats() BitSet {
	set := NewBitSet(len(k.Regs))
	for changed := true; changed; {
		changed = false
		for pc := range k.Instrs {
			in := &k.Instrs[pc]
			moves := in.Op == Mov || in.Op == Selp || in.Op == Prmt || in.Op == Shfl
			if moves && !in.ReadsAny(set) || !moves && (!in.Type.IsFloat() && in.Matrix == nil || in.Op == Ld || in.Op == Ldu) {
				continue
			}
			for _, r := range in.Dst {
				if r != NoReg && k.Regs[r].Type != Pred && !set.Has(r) {
					set.Add(r)
					changed = true
				}
			}
		}
	}
	return set
}

// written is the state space that an instruction writes, and in device memory the buffers.
func (s *slicer) written(in *Instr) (Space, roots) {
	switch in.Op {
	case BulkCopy:
		if in.Bulk.Dims > 0 {
			return in.Bulk.To, s.tensor(in)
		}
		return in.Bulk.To, s.roots(&in.Src[0])
	case TensormapCopy:
		return Global, s.roots(&in.Src[0])
	case CpAsync:
		return Shared, 0
	}
	return in.Space, s.roots(&in.Src[0])
}

// tensor is the buffer of a tensor: that of its map, if this is a parameter.
func (s *slicer) tensor(in *Instr) roots {
	r := s.roots(in.mapAddress())
	if r&rootParam == 0 {
		return rootUnknown // the map's place in memory says nothing of the tensor's
	}
	return r &^ rootParam
}

// mapAddress is the address of the tensor map that a copy or prefetch reads.
func (in *Instr) mapAddress() *Operand {
	if in.Op == BulkCopy && in.Bulk.From == Global {
		return &in.Src[1]
	}
	return &in.Src[0]
}

func (s *slicer) roots(o *Operand) roots {
	if s.of == nil {
		return rootUnknown
	}
	return s.k.addressRoots(o, s.of)
}

// carries marks the writers of the carry flag once a reader is needed.
func (s *slicer) carries() bool {
	reads := false
	for pc, need := range s.needed {
		reads = reads || need && s.k.Instrs[pc].Mod&ModCarryIn != 0
	}
	marked := false
	for pc := range s.k.Instrs {
		if reads && !s.needed[pc] && s.k.Instrs[pc].Mod&ModCarryOut != 0 {
			s.mark(pc)
			marked = true
		}
	}
	return marked
}

// AlwaysExecutes reports whether an instruction is executed whether or not its result is
// needed: accesses to memory, control flow, barriers and operations on mbarriers.
func (o Op) AlwaysExecutes() bool {
	switch o {
	case Ld, Ldu, St, Atom, Red, CpAsync, Bra, Brx, Exit, Trap, Bar, BarRed,
		MbarInit, MbarInval, MbarArrive, MbarExpect, MbarWait, CpAsyncArrive, BulkCopy, BulkPrefetch, BulkCommit, BulkWait, ClusterBarrier:
		return true
	}
	return false
}

// ReadsAny reports whether an instruction reads a register of a set, its guard included.
func (in *Instr) ReadsAny(set BitSet) bool {
	var buf [8]Reg
	for _, r := range in.AppendUses(buf[:0]) {
		if set.Has(r) {
			return true
		}
	}
	return false
}

// WritesMemory reports whether an instruction writes shared, local or device memory. Mbarriers
// do not count.
func (o Op) WritesMemory() bool {
	switch o {
	case St, Atom, Red, CpAsync, BulkCopy, TensormapSet, TensormapCopy:
		return true
	}
	return false
}
