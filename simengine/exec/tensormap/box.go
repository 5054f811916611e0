package tensormap

import "github.com/warptune/warptune/simengine/trace"

// Range is bytes of device memory.
type Range = trace.Range

// AppendRanges appends the bytes of device memory of the box at some coordinates, in the order of
// shared memory. What lies out of the tensor's bounds is left out. Rows that follow each other in
// memory are one range.
func (m *Map) AppendRanges(list []Range, at *[MaxRank]int32) []Range {
	start := len(list)
	m.eachRow(at, func(addr uint64, inside bool, _ int) {
		if inside {
			list = m.appendRow(list, start, addr, at[0])
		}
	})
	return list
}

// eachRow calls f with the address of the innermost dimension's first element for each row of a box,
// whether the row lies in bounds in the other dimensions, and the row's number.
func (m *Map) eachRow(at *[MaxRank]int32, f func(addr uint64, inside bool, row int)) {
	rows := 1
	for i := 1; i < m.Rank; i++ {
		rows *= m.count(i)
	}
	for row := range rows {
		addr, inside, rest := m.Address, true, row
		for i := 1; i < m.Rank; i++ {
			n := m.count(i)
			index := int64(at[i]) + int64(rest%n)*int64(m.ElementStrides[i])
			rest /= n
			inside = inside && index >= 0 && index < int64(m.Shape[i])
			addr += uint64(index) * m.Strides[i-1]
		}
		f(addr, inside, row)
	}
}

// appendRow appends the elements of a row that are in bounds.
func (m *Map) appendRow(list []Range, start int, addr uint64, first int32) []Range {
	size, step := m.Elem.Bytes(), int64(m.ElementStrides[0])
	if step == 1 {
		lo, hi := max(int64(first), 0), min(int64(first)+int64(m.Box[0]), int64(m.Shape[0]))
		if lo < hi {
			list = join(list, start, addr+uint64(lo)*uint64(size), int(hi-lo)*size)
		}
		return list
	}
	for k := range int64(m.count(0)) {
		if index := int64(first) + k*step; index >= 0 && index < int64(m.Shape[0]) {
			list = join(list, start, addr+uint64(index)*uint64(size), size)
		}
	}
	return list
}

// join appends a range, to the last one if it follows that.
func join(list []Range, start int, addr uint64, bytes int) []Range {
	if n := len(list); n > start && list[n-1].Addr+uint64(list[n-1].Bytes) == addr {
		list[n-1].Bytes += bytes
		return list
	}
	return append(list, Range{Addr: addr, Bytes: bytes})
}

// Swizzle is where in shared memory a byte lies under a pattern of 128, 64 or 32 bytes. The number of a chunk of 16
// bytes in its line of 128 is combined, by exclusive or, with the number of the line among 8, 4 or 2 (PTX ISA,
// swizzling modes).
func Swizzle(addr uint32, bytes int) uint32 {
	switch bytes {
	case 128:
		return addr ^ addr>>3&0x70
	case 64:
		return addr ^ addr>>3&0x30
	case 32:
		return addr ^ addr>>3&0x10
	}
	return addr
}

// EachRun calls f for each run of elements of a box that follow each other in device memory and in the
// box and lie in bounds: with its address, its bytes, and its offset in the box.
func (m *Map) EachRun(at *[MaxRank]int32, f func(addr uint64, bytes, offset int)) {
	size, n, step := m.Elem.Bytes(), m.count(0), int64(m.ElementStrides[0])
	first, end := int64(at[0]), int64(m.Shape[0])
	m.eachRow(at, func(addr uint64, inside bool, row int) {
		switch {
		case !inside:
		case step == 1:
			if lo, hi := max(first, 0), min(first+int64(n), end); lo < hi {
				f(addr+uint64(lo)*uint64(size), int(hi-lo)*size, (row*n+int(lo-first))*size)
			}
		default:
			for k := range n {
				if index := first + int64(k)*step; index >= 0 && index < end {
					f(addr+uint64(index)*uint64(size), size, (row*n+k)*size)
				}
			}
		}
	})
}
