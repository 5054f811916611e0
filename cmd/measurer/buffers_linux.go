package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/warptune/warptune/cmd/internal/cuda"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
	"github.com/warptune/warptune/simengine"
)

// pool has the buffers of the job that is measured, and keeps what earlier ones held in
// the beginning: configurations of a kernel have the same.
type pool struct {
	device *cuda.Device
	stream cuda.Stream
	filled map[wire.Buffer]*filled // by contents
	free   map[int64][]cuda.Address
	job    []working
	jobs   int
}

// filled is memory that holds a buffer's contents and is not given to kernels.
type filled struct {
	at    cuda.Address
	bytes int64
	used  int // the number of the last job that used it
}

// working is a buffer of the job's.
type working struct {
	at      cuda.Address
	bytes   int64
	from    *filled
	managed string // as wire.Buffer has it
	object  *object
}

func newPool(v *cuda.Device, s cuda.Stream) pool {
	return pool{device: v, stream: s, filled: map[wire.Buffer]*filled{}, free: map[int64][]cuda.Address{}}
}

// begin allocates a job's buffers and fills what restore copies from.
func (p *pool) begin(buffers []wire.Buffer) error {
	p.jobs++
	for i := range buffers {
		c := contents(&buffers[i])
		f, err := p.fill(&buffers[i], &c)
		if err != nil {
			return fmt.Errorf("buffer %d: %w", i, err)
		}
		w := working{bytes: f.bytes, from: f, managed: buffers[i].Managed}
		if w.managed != "" {
			w.at, err = p.device.Managed(w.bytes)
		} else {
			w.at, err = p.take(w.bytes)
		}
		if err != nil {
			return fmt.Errorf("buffer %d of %d bytes: %w", i, f.bytes, err)
		}
		p.job = append(p.job, w)
	}
	return nil
}

// end gives the job's buffers back. Nothing may run that uses them.
func (p *pool) end() {
	for i := range p.job {
		w := &p.job[i]
		if w.object != nil {
			w.object.release(p.device)
		}
		if w.managed != "" {
			_ = p.device.Release(w.at)
		} else {
			p.free[w.bytes] = append(p.free[w.bytes], w.at)
		}
	}
	p.job = p.job[:0]
}

// restore has the job's buffers hold what they held in the beginning, all of them on the device.
func (p *pool) restore() error {
	for i := range p.job {
		if err := p.restoreOne(&p.job[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *pool) restoreOne(w *working) error {
	if w.object != nil && w.object.array != 0 {
		return p.device.ToArray(w.object.array, w.from.at, &w.object.image, p.stream)
	}
	if err := p.device.Copy(w.at, w.from.at, w.bytes, p.stream); err != nil || w.managed == "" {
		return err
	}
	return p.device.ToDevice(w.at, w.bytes, p.stream)
}

// take allocates, of what is free if there is something.
func (p *pool) take(bytes int64) (cuda.Address, error) {
	if list := p.free[bytes]; len(list) > 0 {
		p.free[bytes] = list[:len(list)-1]
		return list[len(list)-1], nil
	}
	at, err := p.device.Alloc(bytes)
	if err != nil && p.drop() {
		at, err = p.device.Alloc(bytes)
	}
	return at, err
}

// drop frees what the job does not use. It reports whether there was something.
func (p *pool) drop() bool {
	dropped := false
	for bytes, list := range p.free {
		for _, at := range list {
			dropped = p.device.Release(at) == nil || dropped
		}
		delete(p.free, bytes)
	}
	for key, f := range p.filled {
		if f.used < p.jobs {
			dropped = p.device.Release(f.at) == nil || dropped
			delete(p.filled, key)
		}
	}
	return dropped
}

// contents are a buffer's.
func contents(b *wire.Buffer) simengine.Contents {
	c := simengine.Contents{Elem: b.Elem, Count: b.Count, Fill: simengine.Fill{Kind: simengine.FillConstant, Value: b.Value, Least: b.Least, Seed: b.Seed}}
	if b.Fill == wire.FillRandom {
		c.Fill.Kind = simengine.FillRandom
	}
	return c
}

// chunk is how many bytes are filled at a time: a multiple of every element's size.
const chunk = 64 << 20

// fill is memory that holds a buffer's contents.
func (p *pool) fill(b *wire.Buffer, c *simengine.Contents) (*filled, error) {
	key := *b
	key.Managed = ""
	if f := p.filled[key]; f != nil {
		f.used = p.jobs
		return f, nil
	}
	f := &filled{bytes: c.Bytes(), used: p.jobs}
	var err error
	if f.at, err = p.take(f.bytes); err != nil {
		return nil, fmt.Errorf("%d bytes: %w", f.bytes, err)
	}
	var file *os.File
	if b.Fill == wire.FillFile {
		if file, err = os.Open(b.File); err != nil {
			return nil, err
		}
		defer file.Close()
	}
	room := make([]byte, min(chunk, f.bytes))
	for off := int64(0); off < f.bytes; off += chunk {
		part := room[:min(chunk, f.bytes-off)]
		if file != nil {
			_, err = io.ReadFull(file, part)
		} else {
			parallel(c, off, part)
		}
		if err == nil {
			err = p.device.Write(f.at+cuda.Address(off), part)
		}
		if err != nil {
			return nil, err
		}
	}
	p.filled[key] = f
	return f, nil
}

// parallel writes contents from byte offset off on.
func parallel(c *simengine.Contents, off int64, dst []byte) {
	const least = 1 << 20
	step := max(least, (len(dst)/runtime.GOMAXPROCS(0)+63)/64*64)
	var all sync.WaitGroup
	for at := 0; at < len(dst); at += step {
		all.Go(func() { c.Write(off+int64(at), dst[at:min(at+step, len(dst))]) })
	}
	all.Wait()
}
