// Package boltfile does for a file of bbolt what bbolt does not: one process holds it, its pages
// are verified before they are trusted, and those that were read leave the process' memory.
package boltfile

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"io"
	"os"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/seal"
)

// The file format of bbolt (its internal/common): pages of one size, each
// with a header of 16 bytes; pages 0 and 1 hold the two meta records; the rest
// are branch and leaf pages of nested B+ trees. All integers are in the
// machine's order, little-endian where this program runs.
const (
	pageHeader  = 16
	elementSize = 16
	metaSize    = 64
	metaMagic   = 0xED0CDAED
	metaVersion = 2

	flagBranch = 0x01
	flagLeaf   = 0x02
	flagBucket = 0x01 // of a leaf element

	maxPages = 1 << 40
	maxDepth = 64
)

// verifier walks all pages that the newest meta record reaches. bbolt itself
// trusts them, and takes the process down when they are not what it expects.
type verifier struct {
	file     io.ReaderAt
	size     int64
	pageSize int64
	pages    uint64 // how many the meta record says there are
	seen     map[uint64]bool
}

// Verify returns an error of kind Damaged if the file is no sound bbolt
// file.
func Verify(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return tuner.Errorf(tuner.Invalid, "open store", "it is no regular file")
	}
	v := &verifier{file: f, size: info.Size(), seen: map[uint64]bool{}}
	root, err := v.meta()
	if err != nil {
		return err
	}
	return v.page(root, nil, nil, 0)
}

// meta reads both meta records and returns the root page of the newest.
func (v *verifier) meta() (root uint64, err error) {
	if v.size == 0 {
		return 0, seal.Damaged("the file is empty")
	}
	first, ok := v.metaAt(0)
	if !ok {
		return 0, seal.Damaged("the file is no bbolt file, or its first page is damaged")
	}
	v.pageSize = int64(binary.LittleEndian.Uint32(first[8:]))
	second, ok := v.metaAt(v.pageSize)
	if !ok {
		// bbolt would go on with the other, which may be a transaction older.
		// A meta record lies within one sector, so a crash does not tear it.
		return 0, seal.Damaged("one of the two meta pages is damaged, so the last transaction may be lost")
	}
	if binary.LittleEndian.Uint64(second[48:]) == binary.LittleEndian.Uint64(first[48:]) {
		// Transactions are written to the two in turn, and a copy of the file
		// (Tx.WriteTo) gets its transaction and the one before it.
		return 0, seal.Damaged("both meta pages have the same transaction: one is in the other's place")
	}
	newest := first
	if binary.LittleEndian.Uint64(second[48:]) > binary.LittleEndian.Uint64(first[48:]) {
		newest = second
	}
	root, v.pages = binary.LittleEndian.Uint64(newest[16:]), binary.LittleEndian.Uint64(newest[40:])
	switch {
	case v.pageSize < 1024 || v.pageSize > 1<<20 || v.pages > maxPages:
		return 0, seal.Damaged("the meta page is inconsistent")
	case v.size < int64(v.pages)*v.pageSize:
		return 0, seal.Damaged("the file is cut short: it has %d bytes of %d", v.size, int64(v.pages)*v.pageSize)
	}
	return root, nil
}

// metaAt returns the meta record of the page at an offset, 0 or that of page 1;
// false if it does not verify.
func (v *verifier) metaAt(offset int64) ([]byte, bool) {
	page := make([]byte, pageHeader+metaSize)
	if _, err := v.file.ReadAt(page, offset); err != nil {
		return nil, false
	}
	b, number := page[pageHeader:], uint64(0)
	if offset > 0 {
		number = 1
	}
	if binary.LittleEndian.Uint64(page) != number {
		return nil, false
	}
	h := fnv.New64a()
	_, _ = h.Write(b[:metaSize-8])
	return b, binary.LittleEndian.Uint32(b) == metaMagic && binary.LittleEndian.Uint32(b[4:]) == metaVersion &&
		binary.LittleEndian.Uint64(b[metaSize-8:]) == h.Sum64()
}

// page checks a page and all below it. Its keys must lie in [low, high); nil
// is no bound.
func (v *verifier) page(id uint64, low, high []byte, depth int) error {
	if id < 2 || id >= v.pages || depth > maxDepth {
		return seal.Damaged("page %d is referred to, of %d", id, v.pages)
	}
	if v.seen[id] {
		return seal.Damaged("page %d is referred to twice", id)
	}
	v.seen[id] = true
	head := make([]byte, pageHeader)
	if _, err := v.file.ReadAt(head, int64(id)*v.pageSize); err != nil {
		return seal.Damaged("page %d: %v", id, err)
	}
	overflow := uint64(binary.LittleEndian.Uint32(head[12:]))
	if binary.LittleEndian.Uint64(head) != id || id+overflow >= v.pages {
		return seal.Damaged("page %d says that it is page %d with %d more", id, binary.LittleEndian.Uint64(head), overflow)
	}
	for i := id + 1; i <= id+overflow; i++ {
		if v.seen[i] {
			return seal.Damaged("page %d is referred to twice", i)
		}
		v.seen[i] = true
	}
	b := make([]byte, int64(overflow+1)*v.pageSize)
	if _, err := v.file.ReadAt(b, int64(id)*v.pageSize); err != nil {
		return seal.Damaged("page %d: %v", id, err)
	}
	return v.elements(id, b, low, high, depth)
}

// elements checks the elements of a page, which may be an inline bucket's.
func (v *verifier) elements(id uint64, b, low, high []byte, depth int) error {
	flags, count := binary.LittleEndian.Uint16(b[8:]), int(binary.LittleEndian.Uint16(b[10:]))
	if flags != flagBranch && flags != flagLeaf || len(b) < pageHeader+count*elementSize || flags == flagBranch && count == 0 {
		return seal.Damaged("page %d has flags %#x and %d elements", id, flags, count)
	}
	branch := flags == flagBranch
	keys := make([][]byte, count)
	for i := range count {
		e := pageHeader + i*elementSize
		pos, ksize := e, uint64(0)
		if branch {
			pos += int(binary.LittleEndian.Uint32(b[e:]))
			ksize = uint64(binary.LittleEndian.Uint32(b[e+4:]))
		} else {
			pos += int(binary.LittleEndian.Uint32(b[e+4:]))
			ksize = uint64(binary.LittleEndian.Uint32(b[e+8:]))
		}
		if pos < pageHeader+count*elementSize || uint64(pos)+ksize > uint64(len(b)) {
			return seal.Damaged("page %d: element %d lies outside", id, i)
		}
		keys[i] = b[pos : pos+int(ksize)]
		if i > 0 && bytes.Compare(keys[i-1], keys[i]) >= 0 || low != nil && bytes.Compare(keys[i], low) < 0 || high != nil && bytes.Compare(keys[i], high) >= 0 {
			return seal.Damaged("page %d: element %d is out of order", id, i)
		}
		if !branch {
			if err := v.leaf(id, b, e, pos+int(ksize), i, depth); err != nil {
				return err
			}
		}
	}
	for i := 0; branch && i < count; i++ {
		next := high
		if i+1 < count {
			next = keys[i+1]
		}
		if err := v.page(binary.LittleEndian.Uint64(b[pageHeader+i*elementSize+8:]), keys[i], next, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// leaf checks the value of a leaf element, and the bucket below it if it is
// one.
func (v *verifier) leaf(id uint64, b []byte, e, at, i, depth int) error {
	vsize := uint64(binary.LittleEndian.Uint32(b[e+12:]))
	if uint64(at)+vsize > uint64(len(b)) {
		return seal.Damaged("page %d: the value of element %d lies outside", id, i)
	}
	if binary.LittleEndian.Uint32(b[e:])&flagBucket == 0 {
		return nil
	}
	value := b[at : at+int(vsize)]
	if len(value) < 16 {
		return seal.Damaged("page %d: bucket %d is too short", id, i)
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		return v.page(root, nil, nil, depth+1)
	}
	if len(value) < 16+pageHeader || depth > maxDepth {
		return seal.Damaged("page %d: inline bucket %d is too short", id, i)
	}
	inline := value[16:]
	if binary.LittleEndian.Uint16(inline[8:]) != flagLeaf {
		return seal.Damaged("page %d: inline bucket %d is no leaf", id, i)
	}
	return v.elements(id, inline, nil, nil, depth+1)
}
