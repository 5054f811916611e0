package verify

import (
	"maps"
	"slices"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// Output is what the executed CTAs of a launch stored to one argument's buffer, as far
// as it may be compared with what those of another launch stored.
type Output struct {
	Name  string  // the argument's
	Elem  ir.Type // of one element
	Count int64   // elements of the buffer
	Runs  []Run   // ascending
	// Chance is how many stored elements depend on which thread came first, and Updated
	// how many others depend on CTAs that were not executed: neither are in Runs.
	Chance, Updated int64
	// Written says that something was stored, and Whole that every CTA of the grid was executed: then
	// Runs has elements that were not stored, too, unless the buffer is larger than mostWhole.
	Written, Whole bool
}

// mostWhole is the bytes of a buffer up to which all of it is kept.
const mostWhole = 16 << 20

// Run is elements of a buffer that lie one after the other.
type Run struct {
	First int64
	Bytes []byte
}

// Buffer is where an argument's buffer lies in the address space of a launch.
type Buffer struct {
	Name  string
	Elem  ir.Type // of one element
	Count int64   // elements
	Base  uint64
}

// Output is what the executed CTAs of a launch stored to one argument's buffer, as far as it may be
// compared with what those of another launch stored.
func (w *Writes) Output(b Buffer, memory *memory.Device, whole bool) Output {
	out := Output{Name: b.Name, Elem: b.Elem, Count: b.Count, Whole: whole}
	size := uint64(b.Elem.Size())
	end := b.Base + uint64(b.Count)*size
	if whole && end-b.Base <= mostWhole {
		return w.whole(out, b, memory)
	}
	for _, at := range slices.Sorted(maps.Keys(w.pages)) {
		if at < b.Base>>pageBits || at<<pageBits >= end {
			continue
		}
		p := w.pages[at]
		for word := range p.stored {
			for i := uint64(0); i < 64 && p.stored[word] != 0; i += size {
				set, addr := (uint64(1)<<size-1)<<i, at<<pageBits+uint64(word)<<6+i
				if p.stored[word]&set != set || addr < b.Base || addr >= end {
					continue
				}
				out.Written = true
				switch {
				case p.chance[word]&set != 0:
					out.Chance++
				case !whole && (p.atomic[word]|p.shared[word])&set != 0:
					out.Updated++
				default:
					out.add(int64((addr-b.Base)/size), addr, memory)
				}
			}
		}
	}
	return out
}

// whole is Output of all elements of a buffer.
func (w *Writes) whole(out Output, b Buffer, memory *memory.Device) Output {
	size := uint64(b.Elem.Size())
	for i := range b.Count {
		addr := b.Base + uint64(i)*size
		if p := w.pages[addr>>pageBits]; p != nil {
			word, set := addr&(pageBytes-1)>>6, (uint64(1)<<size-1)<<(addr&63)
			out.Written = out.Written || p.stored[word]&set != 0
			if p.chance[word]&set != 0 {
				out.Chance++
				continue
			}
		}
		out.add(i, addr, memory)
	}
	return out
}

// add appends an element to the runs, to the last if it follows it.
func (o *Output) add(index int64, addr uint64, memory *memory.Device) {
	var room [8]byte
	size := o.Elem.Size()
	memory.Read(addr, room[:size])
	if n := len(o.Runs); n > 0 && o.Runs[n-1].First+int64(len(o.Runs[n-1].Bytes)/size) == index {
		o.Runs[n-1].Bytes = append(o.Runs[n-1].Bytes, room[:size]...)
		return
	}
	o.Runs = append(o.Runs, Run{index, append(make([]byte, 0, 64), room[:size]...)})
}

// Elements is how many elements the runs have.
func (o *Output) Elements() (n int64) {
	for i := range o.Runs {
		n += int64(len(o.Runs[i].Bytes) / o.Elem.Size())
	}
	return n
}
