package memory

// Contents fills dst with what the buffer holds before anything runs, from byte offset
// off on, a multiple of the element's size.
func (b *Buffer) Contents(off int64, dst []byte) { b.Fill.write(b.Elem, off, dst) }
