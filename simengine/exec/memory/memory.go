// Package memory is the device memory of a simulated GPU: buffers, the variables of a module, the constant bank, and the
// bytes of a kernel's parameters. A page is made from what its buffer is filled with when it is first touched.
package memory

import (
	"fmt"
	"sort"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/texture"
	"github.com/warptune/warptune/simengine/ir"
)

// The address map. Device buffers start at globalBase, module .global
// variables at StaticBase; the other bases are the windows through which
// generic addresses reach shared, local and constant memory, and parameters.
const (
	ParamWindow  = 0x7a00_0000_0000
	ConstWindow  = 0x7b00_0000_0000
	LocalWindow  = 0x7c00_0000_0000
	SharedWindow = 0x7d00_0000_0000
	StaticBase   = 0x7e00_0000_0000
	// GridWorkspace is where the barrier of a cooperative launch's grid is (grid_group::sync); its second word counts CTAs.
	GridWorkspace = 0x7ef0_0000_0000
	globalBase    = 0x7f00_0000_0000
	WindowSize    = 0x0100_0000_0000
)

const (
	PageBits = 12
	PageSize = 1 << PageBits
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

// Page is a page of a buffer, and whether it was written.
type Page struct {
	Data  [PageSize]byte
	Dirty bool
}

type directory [1 << dirBits]*Page

// Region is a buffer in the address space.
type Region struct {
	Buffer
	Base, Size uint64
	dirs       []*directory
}

type pageRef struct {
	region *Region
	index  uint64
}

// Device is the device memory of one simulated GPU: buffers, module variables
// and the constant bank. Pages exist once they are touched, made from their
// buffer's Fill. It is for one goroutine.
type Device struct {
	regions   []*Region // by address
	byName    map[string]*Region
	next      uint64
	constants []byte
	pristine  []byte // constants before anything ran
	vars      map[string]ir.Var
	textures  []texture.Object // by handle

	present   []pageRef
	free      []*Page
	pageLimit int
}

// New returns an empty device memory that holds at most limit bytes of
// pages at a time; 0 means DefaultPageLimit.
func New(limit int) *Device {
	if limit <= 0 {
		limit = DefaultPageLimit
	}
	return &Device{byName: map[string]*Region{}, vars: map[string]ir.Var{}, next: globalBase, pageLimit: limit / PageSize}
}

// Alloc places a buffer as cudaMalloc would and returns its address, a
// function of the buffers allocated before.
func (m *Device) Alloc(b Buffer) (uint64, error) { return m.AllocTiled(b, b.Bytes()) }

// AllocTiled is Alloc of a buffer that takes more bytes of device memory than its contents: the tiles of arrays in full.
func (m *Device) AllocTiled(b Buffer, takes int64) (uint64, error) {
	takes = max(takes, b.Bytes())
	align := uint64(allocAlign)
	if takes >= largeSize {
		align = largeAlign
	}
	base := (m.next + align - 1) &^ (align - 1)
	if err := m.place(b, base); err != nil {
		return 0, err
	}
	m.next = base + uint64(takes) + allocAlign // a gap, so that the end of a buffer is an end
	return base, nil
}

// place adds a buffer at a fixed address.
func (m *Device) place(b Buffer, base uint64) error {
	size := element.Size(b.Elem)
	switch {
	case size == 0:
		return fmt.Errorf("buffer %q: element type %d cannot be stored", b.Name, b.Elem)
	case b.Count < 0 || b.Count > maxBuffer/int64(size):
		return fmt.Errorf("buffer %q: %d elements of %d bytes: want 0 to %d bytes", b.Name, b.Count, size, int64(maxBuffer))
	case m.byName[b.Name] != nil:
		return fmt.Errorf("buffer %q is allocated twice", b.Name)
	case base+uint64(b.Bytes()) < base || base+uint64(b.Bytes()) > globalBase+WindowSize:
		return fmt.Errorf("buffer %q: the address space is full", b.Name)
	}
	if err := b.Fill.validate(b.Elem); err != nil {
		return fmt.Errorf("buffer %q: %w", b.Name, err)
	}
	bytes := uint64(b.Bytes())
	r := &Region{Buffer: b, Base: base, Size: bytes, dirs: make([]*directory, (bytes+1<<(PageBits+dirBits)-1)>>(PageBits+dirBits))}
	i := sort.Search(len(m.regions), func(i int) bool { return m.regions[i].Base > base })
	m.regions = append(m.regions, nil)
	copy(m.regions[i+1:], m.regions[i:])
	m.regions[i] = r
	m.byName[b.Name] = r
	return nil
}

// Address is where the buffer or .global variable of that name starts.
func (m *Device) Address(name string) (uint64, bool) {
	r := m.byName[name]
	if r == nil {
		return 0, false
	}
	return r.Base, true
}

// Reset brings every buffer, module variable and the constant bank back to
// their contents before anything ran. It costs the pages written.
func (m *Device) Reset() {
	copy(m.constants, m.pristine)
	m.drop(func(p *Page) bool { return p.Dirty })
}

// drop gives back the pages that cond holds for; they are made anew from
// their fill when next touched.
func (m *Device) drop(cond func(*Page) bool) {
	kept := m.present[:0]
	for _, ref := range m.present {
		slot := &ref.region.dirs[ref.index>>dirBits][ref.index&(1<<dirBits-1)]
		if !cond(*slot) {
			kept = append(kept, ref)
			continue
		}
		(*slot).Dirty = false
		m.free = append(m.free, *slot)
		*slot = nil
	}
	m.present = kept
}

// Find returns the region that holds all of [addr, addr+width), nil if none.
func (m *Device) Find(addr, width uint64) *Region {
	lo, hi := 0, len(m.regions)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if m.regions[mid].Base <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil
	}
	if r := m.regions[lo-1]; r.Holds(addr, width) {
		return r
	}
	return nil
}

// Holds reports whether [addr, addr+width) lies in the region.
func (r *Region) Holds(addr, width uint64) bool {
	off := addr - r.Base
	return off < r.Size && width <= r.Size-off
}

// Page returns the page of region r with the given index, made if need be;
// nil when that would exceed the page limit.
func (m *Device) Page(r *Region, index uint64) *Page {
	dir := r.dirs[index>>dirBits]
	if dir == nil {
		dir = new(directory)
		r.dirs[index>>dirBits] = dir
	}
	if p := dir[index&(1<<dirBits-1)]; p != nil {
		return p
	}
	if len(m.present) >= m.pageLimit {
		m.drop(func(p *Page) bool { return !p.Dirty })
		if len(m.present) >= m.pageLimit {
			return nil
		}
	}
	var p *Page
	if n := len(m.free); n > 0 {
		p, m.free = m.free[n-1], m.free[:n-1]
	} else {
		p = new(Page)
	}
	off := index << PageBits
	r.Fill.write(r.Elem, int64(off), p.Data[:min(PageSize, r.Size-off)])
	dir[index&(1<<dirBits-1)] = p
	m.present = append(m.present, pageRef{r, index})
	return p
}

// ReadBuffer returns the contents of the named buffer or variable.
func (m *Device) ReadBuffer(name string) ([]byte, error) {
	if v, ok := m.vars[name]; ok && v.Space == ir.Const {
		return append([]byte(nil), m.constants[v.Offset:v.Offset+v.Size]...), nil
	}
	r := m.byName[name]
	if r == nil {
		return nil, fmt.Errorf("no buffer %q", name)
	}
	out := make([]byte, r.Size)
	for off := uint64(0); off < r.Size; off += PageSize {
		p := m.Page(r, off>>PageBits)
		if p == nil {
			return nil, fmt.Errorf("buffer %q: page limit reached", name)
		}
		copy(out[off:], p.Data[:])
	}
	return out, nil
}

// Read copies the bytes of global memory from addr on, which must lie in one buffer; it
// reports whether they do.
func (m *Device) Read(addr uint64, dst []byte) bool {
	r := m.Find(addr, uint64(len(dst)))
	if r == nil {
		return false
	}
	for off := addr - r.Base; len(dst) > 0; {
		p := m.Page(r, off>>PageBits)
		if p == nil {
			return false
		}
		n := copy(dst, p.Data[off&(PageSize-1):])
		dst, off = dst[n:], off+uint64(n)
	}
	return true
}

// Owner returns the buffer that an argument points into, or to the end of.
func (m *Device) Owner(addr uint64) *Region {
	for _, r := range m.regions {
		if addr-r.Base <= r.Size {
			return r
		}
	}
	return nil
}

// Distance is how many bytes an address lies before a buffer or after its last byte. It is 0 in the
// buffer and directly after it.
func (r *Region) Distance(addr uint64) uint64 {
	switch {
	case addr < r.Base:
		return r.Base - addr
	case addr-r.Base >= r.Size:
		return addr - r.Base - r.Size
	}
	return 0
}

// Named returns the buffer or .global variable of a name, nil if none.
func (m *Device) Named(name string) *Region { return m.byName[name] }

// Regions returns the buffers by address.
func (m *Device) Regions() []*Region { return m.regions }

// Constants returns the constant bank.
func (m *Device) Constants() []byte { return m.constants }
