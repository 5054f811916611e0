package assemble

import "github.com/warptune/warptune/simengine/ir"

// swaps says whether shared memory has no such atomic: of floating-point numbers it has
// none, from Maxwell on.
func (s *selector) swaps(n *node) bool {
	return s.f.t.counting && !isInt(n.typ) && n.atom != ir.AtomExch && n.atom != ir.AtomCAS
}

// swap emits the loop that the real assembler makes instead: what is there is loaded,
// worked on and swapped for the result, again until nobody came between (deploy/calibrate
// wavefronts.shared_sums and the machine code of bicg, datasets/h200-2026-11-22-project-d). Of lanes that
// share a word one gets through at a time.
func (s *selector) swap(n *node, dst arg, args []arg, vr int32, base value, off int64) {
	s.f.swapped = append(s.f.swapped, n.pc)
	w := uint8(words(n.typ))
	old, sum, got, done := dst, s.temp(w), s.temp(w), s.carry()
	if old.kind == argNone {
		old = s.temp(w)
	}
	s.emit(opBSSY, arg{})
	s.access(s.emit(opLDS, old, args[0]), n, vr, base, off)
	s.emit(simple[ir.Add].ruleFor(n.typ), sum, old, args[1])
	s.access(s.emit(opATOMS, got, args[0], old, sum), n, vr, base, off)
	s.emit(opISETP, done, got)
	s.emit(opBRA, arg{}).guard = done.v
	s.emit(opBSYNC, arg{})
}
