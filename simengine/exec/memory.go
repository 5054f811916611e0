package exec

import (
	"fmt"
	"sort"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/ir"
)

// The address map. Device buffers start at globalBase, module .global
// variables at staticBase; the other bases are the windows through which
// generic addresses reach shared, local and constant memory, and parameters.
const (
	paramWindow  = 0x7a00_0000_0000
	constWindow  = 0x7b00_0000_0000
	localWindow  = 0x7c00_0000_0000
	sharedWindow = 0x7d00_0000_0000
	staticBase   = 0x7e00_0000_0000
	globalBase   = 0x7f00_0000_0000
	windowSize   = 0x0100_0000_0000
)

const (
	pageBits = 12
	pageSize = 1 << pageBits
	dirBits  = 9 // pages of a directory: 2 MiB

	allocAlign = 512     // cudaMalloc's granularity for small buffers
	largeAlign = 2 << 20 // and for large ones: the device's page size
	largeSize  = 1 << 20

	maxBuffer = 1 << 38 // bytes; larger than any device's memory
)

// DefaultPageLimit is the most bytes of pages a Memory holds at a time.
const DefaultPageLimit = 2 << 30

// Buffer is one allocation of device memory.
type Buffer struct {
	Name  string
	Elem  ir.Type
	Count int64 // elements
	Fill  Fill
}

// Bytes is the size of the buffer.
func (b *Buffer) Bytes() int64 { return b.Count * int64(element.Size(b.Elem)) }

type page struct {
	data  [pageSize]byte
	dirty bool
}

type directory [1 << dirBits]*page

// region is a buffer in the address space.
type region struct {
	Buffer
	base, size uint64
	dirs       []*directory
}

type pageRef struct {
	region *region
	index  uint64
}

// Memory is the device memory of one simulated GPU: buffers, module variables
// and the constant bank. Pages exist once they are touched, made from their
// buffer's Fill. It is for one goroutine.
type Memory struct {
	regions   []*region // by address
	byName    map[string]*region
	next      uint64
	constants []byte
	pristine  []byte // constants before anything ran
	vars      map[string]ir.Var

	present   []pageRef
	free      []*page
	pageLimit int
}

// NewMemory returns an empty device memory that holds at most limit bytes of
// pages at a time; 0 means DefaultPageLimit.
func NewMemory(limit int) *Memory {
	if limit <= 0 {
		limit = DefaultPageLimit
	}
	return &Memory{byName: map[string]*region{}, vars: map[string]ir.Var{}, next: globalBase, pageLimit: limit / pageSize}
}

// Alloc places a buffer as cudaMalloc would and returns its address, a
// function of the buffers allocated before.
func (m *Memory) Alloc(b Buffer) (uint64, error) {
	align := uint64(allocAlign)
	if b.Bytes() >= largeSize {
		align = largeAlign
	}
	base := (m.next + align - 1) &^ (align - 1)
	if err := m.place(b, base); err != nil {
		return 0, err
	}
	m.next = base + uint64(b.Bytes()) + allocAlign // a gap, so that the end of a buffer is an end
	return base, nil
}

// place adds a buffer at a fixed address.
func (m *Memory) place(b Buffer, base uint64) error {
	size := element.Size(b.Elem)
	switch {
	case size == 0:
		return fmt.Errorf("buffer %q: element type %d cannot be stored", b.Name, b.Elem)
	case b.Count < 0 || b.Count > maxBuffer/int64(size):
		return fmt.Errorf("buffer %q: %d elements of %d bytes: want 0 to %d bytes", b.Name, b.Count, size, int64(maxBuffer))
	case m.byName[b.Name] != nil:
		return fmt.Errorf("buffer %q is allocated twice", b.Name)
	case base+uint64(b.Bytes()) < base || base+uint64(b.Bytes()) > globalBase+windowSize:
		return fmt.Errorf("buffer %q: the address space is full", b.Name)
	}
	if err := b.Fill.validate(b.Elem); err != nil {
		return fmt.Errorf("buffer %q: %w", b.Name, err)
	}
	bytes := uint64(b.Bytes())
	r := &region{Buffer: b, base: base, size: bytes, dirs: make([]*directory, (bytes+1<<(pageBits+dirBits)-1)>>(pageBits+dirBits))}
	i := sort.Search(len(m.regions), func(i int) bool { return m.regions[i].base > base })
	m.regions = append(m.regions, nil)
	copy(m.regions[i+1:], m.regions[i:])
	m.regions[i] = r
	m.byName[b.Name] = r
	return nil
}

// Address is where the buffer or .global variable of that name starts.
func (m *Memory) Address(name string) (uint64, bool) {
	r := m.byName[name]
	if r == nil {
		return 0, false
	}
	return r.base, true
}

// Reset brings every buffer, module variable and the constant bank back to
// their contents before anything ran. It costs the pages written.
func (m *Memory) Reset() {
	copy(m.constants, m.pristine)
	m.drop(func(p *page) bool { return p.dirty })
}

// drop gives back the pages that cond holds for; they are made anew from
// their fill when next touched.
func (m *Memory) drop(cond func(*page) bool) {
	kept := m.present[:0]
	for _, ref := range m.present {
		slot := &ref.region.dirs[ref.index>>dirBits][ref.index&(1<<dirBits-1)]
		if !cond(*slot) {
			kept = append(kept, ref)
			continue
		}
		(*slot).dirty = false
		m.free = append(m.free, *slot)
		*slot = nil
	}
	m.present = kept
}

// find returns the region that holds all of [addr, addr+width), nil if none.
func (m *Memory) find(addr, width uint64) *region {
	lo, hi := 0, len(m.regions)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if m.regions[mid].base <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil
	}
	if r := m.regions[lo-1]; r.holds(addr, width) {
		return r
	}
	return nil
}

// holds reports whether [addr, addr+width) lies in the region.
func (r *region) holds(addr, width uint64) bool {
	off := addr - r.base
	return off < r.size && width <= r.size-off
}

// page returns the page of region r with the given index, made if need be;
// nil when that would exceed the page limit.
func (m *Memory) page(r *region, index uint64) *page {
	dir := r.dirs[index>>dirBits]
	if dir == nil {
		dir = new(directory)
		r.dirs[index>>dirBits] = dir
	}
	if p := dir[index&(1<<dirBits-1)]; p != nil {
		return p
	}
	if len(m.present) >= m.pageLimit {
		m.drop(func(p *page) bool { return !p.dirty })
		if len(m.present) >= m.pageLimit {
			return nil
		}
	}
	var p *page
	if n := len(m.free); n > 0 {
		p, m.free = m.free[n-1], m.free[:n-1]
	} else {
		p = new(page)
	}
	off := index << pageBits
	r.Fill.write(r.Elem, int64(off), p.data[:min(pageSize, r.size-off)])
	dir[index&(1<<dirBits-1)] = p
	m.present = append(m.present, pageRef{r, index})
	return p
}

// ReadBuffer returns the contents of the named buffer or variable.
func (m *Memory) ReadBuffer(name string) ([]byte, error) {
	if v, ok := m.vars[name]; ok && v.Space == ir.Const {
		return append([]byte(nil), m.constants[v.Offset:v.Offset+v.Size]...), nil
	}
	r := m.byName[name]
	if r == nil {
		return nil, fmt.Errorf("no buffer %q", name)
	}
	out := make([]byte, r.size)
	for off := uint64(0); off < r.size; off += pageSize {
		p := m.page(r, off>>pageBits)
		if p == nil {
			return nil, fmt.Errorf("buffer %q: page limit reached", name)
		}
		copy(out[off:], p.data[:])
	}
	return out, nil
}
