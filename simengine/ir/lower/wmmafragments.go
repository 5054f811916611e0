package lower

import "github.com/warptune/warptune/simengine/ir"

// product writes an MMA for each tall and flat block.
func (e *expansion) product() {
	w, b := e.w, e.b
	if !b.count(e.s, 4, 4) {
		return
	}
	var frag [4][]ir.Reg // D, A, B, C
	for i, t := range [...]ir.Type{w.d, w.a, w.b, w.c} {
		if !e.registers(i, "dabc"[i], t) {
			return
		}
		frag[i] = e.regs
	}
	m := w.matrix()
	na, nb, nc := m.Registers()
	tall, flat := frag[1], frag[2]
	if !w.tallA() {
		tall, flat = flat, tall
	}
	nt, nf := w.blocks()
	for t := range nt {
		for f := range nf {
			at := (t*nf + f) * nc
			sum := frag[3][at : at+nc]
			for k := range w.k / m.K {
				var src []ir.Operand
				first, second := (t*w.k/m.K+k)*na, (f*w.k/m.K+k)*nb
				for _, regs := range [][]ir.Reg{tall[first : first+na], flat[second : second+nb], sum} {
					for _, r := range regs {
						src = append(src, ir.RegOperand(r))
					}
				}
				sum = frag[0][at : at+nc]
				e.emit(ir.Instr{Op: ir.Mma, Type: m.D, SrcType: m.A, Mod: e.s.out.Mod & ir.ModSat, Matrix: m}, sum, src...)
			}
		}
	}
}

// factor loads A or B.
func (e *expansion) factor() {
	d := e.w.side(e.w.what)
	switch {
	case e.w.a.Size() == 1 && e.w.space == ir.Shared:
		e.rows(d)
	case e.w.a.Size() != 2:
		e.words(d)
	case e.w.space == ir.Shared:
		e.matrices(d)
	default:
		e.pairs(d)
	}
	n := e.w.used(e.w.what)
	for i := n; i < len(e.regs) && e.w.a == ir.F16; i++ { // see wmma.registers
		e.emit(ir.Instr{Op: ir.Mov, Type: ir.B32}, e.regs[i:i+1], ir.RegOperand(e.regs[i%n]))
	}
}

// matrices loads 16-bit elements from shared memory by ldmatrix.
func (e *expansion) matrices(d side) {
	mod := ir.ModMatrix | ir.ModSync
	if !d.along {
		mod |= ir.ModTrans
	}
	var steps ir.Operand // of the row whose address a lane gives, and elements along it
	elements := ir.ImmOperand(0)
	eight := func() ir.Operand {
		return e.compute(ir.Instr{Op: ir.And, Type: ir.B32}, e.laneBits(0, 31, 0), ir.ImmOperand(8))
	}
	switch {
	case d.rows == 8 && d.along:
		steps, elements = e.laneBits(0, 7, 0), eight()
	case d.rows == 8:
		steps = e.laneBits(0, 15, 0)
	case d.tall == d.along:
		steps, elements = e.laneBits(0, 15, 0), e.laneBits(4, 1, 3)
	default:
		high := e.compute(ir.Instr{Op: ir.And, Type: ir.B32}, e.laneBits(1, 15, 0), ir.ImmOperand(8))
		steps, elements = e.compute(ir.Instr{Op: ir.Or, Type: ir.B32}, e.laneBits(0, 7, 0), high), eight()
	}
	a := e.offset(steps, elements)
	n := min(4, d.rows/4)
	for i := 0; i < d.rows*2/8; i += n {
		at := plus(a, i/4*32)
		if d.along {
			at = e.beyond(a, i/4*16)
		}
		e.emit(ir.Instr{Op: ir.Ld, Type: ir.B32, Space: ir.Shared, Mod: mod, Vec: uint8(n)}, e.regs[i:i+n], at)
	}
}

// rows loads bytes from shared memory by ldmatrix: a row of 16 has all of k.
func (e *expansion) rows(d side) {
	n := min(2, d.rows/8)
	a := e.offset(e.laneBits(0, uint64(8*n-1), 0), ir.ImmOperand(0))
	for i := 0; i < len(e.regs); i += n {
		e.emit(ir.Instr{Op: ir.Ld, Type: ir.B32, Space: ir.Shared, Mod: ir.ModMatrix | ir.ModSync, Vec: uint8(n)}, e.regs[i:i+n], e.beyond(a, 8*i))
	}
}

// pairs loads 16-bit elements two at a time, and transposes them where those that follow each
// other in memory belong to different lanes.
func (e *expansion) pairs(d side) {
	a := e.offset(e.laneBits(2, 7, 0), e.laneBits(0, 3, 1))
	for i, r := range e.block(d, 8) {
		steps, elements := r.Row, r.Col
		if !d.along {
			steps, elements = elements, steps
		}
		to := e.regs[i]
		if !d.along {
			to = e.temp(ir.B32)
		}
		e.emit(ir.Instr{Op: ir.Ld, Type: ir.B32, Space: e.w.space, Vec: 1}, []ir.Reg{to}, plus(e.beyond(a, steps), 2*elements))
		if !d.along {
			e.emit(ir.Instr{Op: ir.Movmatrix, Type: ir.B32, Mod: ir.ModTrans | ir.ModSync}, e.regs[i:i+1], ir.RegOperand(to))
		}
	}
}

// words loads elements that are whole registers, and bytes by four.
func (e *expansion) words(d side) {
	per := max(1, 4/e.w.a.Size())
	left := uint64(per / 2)
	steps, elements := e.laneBits(2, 7, 0), e.laneBits(0, 3, left)
	if !d.along {
		steps, elements = elements, steps
	}
	a := e.offset(steps, elements)
	t := ir.B32
	if e.w.a == ir.F64 {
		t = ir.F64
	}
	for i, r := range e.block(d, 4*per) {
		steps, elements := r.Row, r.Col
		if !d.along {
			steps, elements = elements, steps
		}
		e.emit(ir.Instr{Op: ir.Ld, Type: t, Space: e.w.space, Vec: 1}, e.regs[i:i+1], plus(e.beyond(a, steps), elements*e.w.a.Size()))
	}
}

// block lists where the registers of a side begin: blocks of 16 or 8 rows, in each all of k.
func (e *expansion) block(d side, cols int) []ir.Place {
	rows := 8
	if d.tall && e.w.a != ir.F64 {
		rows = 16
	}
	var list []ir.Place
	for first := 0; first < d.rows; first += rows {
		for k := 0; k < d.k; k += cols {
			for r := 0; r < rows; r += 8 {
				list = append(list, ir.Place{Row: first + r, Col: k})
			}
		}
	}
	return list
}

// results loads C or stores D: of each product two registers of a row, and of 16 rows two
// more 8 rows on.
func (e *expansion) results(load bool) {
	w := e.w
	along := w.tallA() == w.row // what follows in a row of the product follows in memory
	half := w.c == ir.F16
	steps, elements := e.laneBits(2, 7, 0), e.laneBits(0, 3, 1)
	if !along && !half {
		steps, elements = elements, steps
	}
	a := e.offset(steps, elements)
	nt, nf := w.blocks()
	rows := 16
	if w.c == ir.F64 {
		rows = 8
	}
	i := 0
	for t := range nt {
		for f := range nf {
			for r := 0; r < rows; r += 8 {
				row, col := 16*t+r, 8*f
				if !along {
					row, col = col, row
				}
				at := plus(e.beyond(a, row), col*w.c.Size())
				switch {
				case half:
					e.half(load, along, at, e.regs[i])
					i++
				case along:
					e.move(load, at, e.regs[i:i+2]...)
					i += 2
				default:
					e.move(load, at, e.regs[i])
					e.move(load, e.beyond(at, 1), e.regs[i+1])
					i += 2
				}
			}
		}
	}
}

// move loads or stores registers that follow each other.
func (e *expansion) move(load bool, at ir.Operand, regs ...ir.Reg) {
	in := ir.Instr{Op: ir.St, Type: ir.RegisterOf(e.w.c), Space: e.w.space, Vec: uint8(len(regs))}
	if load {
		in.Op = ir.Ld
		e.emit(in, regs, at)
		return
	}
	src := []ir.Operand{at}
	for _, r := range regs {
		src = append(src, ir.RegOperand(r))
	}
	e.emit(in, nil, src...)
}

// half loads or stores two halves, which are transposed where columns are contiguous.
func (e *expansion) half(load, along bool, at ir.Operand, r ir.Reg) {
	turn := ir.Instr{Op: ir.Movmatrix, Type: ir.B32, Mod: ir.ModTrans | ir.ModSync}
	switch {
	case along:
		e.move(load, at, r)
	case load:
		to := e.temp(ir.B32)
		e.move(true, at, to)
		e.emit(turn, []ir.Reg{r}, ir.RegOperand(to))
	default:
		e.move(false, at, e.compute(turn, ir.RegOperand(r)).Reg)
	}
}
