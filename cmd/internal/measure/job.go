package measure

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/verify"
)

// mostRead bounds what is read back of a launch's outputs, bytes.
const mostRead = 16 << 20

// job is a prepared configuration as the measurer takes it. files is where contents go that
// only this process can make.
func job(p *evaluate.Prepared, code *Assembled, outputs []verify.Output, files string) (*wire.Job, error) {
	l := p.Launch
	j := &wire.Job{
		Image: code.Image, MaxRegisters: code.MaxRegisters, Entry: p.Inputs.Entry,
		Cooperative: p.Cooperative, Shared: l.DynamicShared, CarveOut: l.CarveOut, Plan: Plan,
	}
	for i := range 3 {
		j.Grid[i], j.Block[i], j.Cluster[i] = uint32(l.Grid[i]), uint32(l.Block[i]), uint32(l.Cluster[i])
	}
	for i := range p.Inputs.Buffers {
		b, err := buffer(&p.Inputs.Buffers[i], files)
		if err != nil {
			return nil, err
		}
		j.Buffers = append(j.Buffers, b)
	}
	for i := range p.Inputs.Params {
		in := param(&p.Inputs.Params[i])
		for k := range p.Args {
			if a := &p.Args[k]; a.Name == in.Name {
				own(j, &in, a)
			}
		}
		j.Params = append(j.Params, in)
	}
	for i := range p.Inputs.Constants {
		j.Constants = append(j.Constants, param(&p.Inputs.Constants[i]))
	}
	j.Read = ranges(outputs)
	return j, nil
}

// own notes what an argument's buffer is other than device memory.
func own(j *wire.Job, p *wire.Param, a *simengine.Arg) {
	if a.Texture != nil {
		p.Texture = textureOf(a)
	}
	if a.Managed != simengine.ManagedNot {
		j.Buffers[p.Buffer].Managed = a.Managed.String()
	}
}

func param(in *simengine.Input) wire.Param {
	p := wire.Param{Name: in.Name, Bytes: in.Bytes, Buffer: in.Buffer, Offset: in.Offset}
	if in.Map != nil {
		p.Map = tensor(in.Map)
	}
	return p
}

// mapElements are the numbers that cuTensorMapEncodeTiled takes for types of elements
// (CUtensorMapDataType in cuda.h). tensormap.replace, and so tensormap.Elem, numbers them otherwise
// from double precision on.
var mapElements = map[tensormap.Elem]int{
	tensormap.U8: 0, tensormap.U16: 1, tensormap.U32: 2, tensormap.S32: 3, tensormap.U64: 4, tensormap.S64: 5, tensormap.F16: 6,
	tensormap.F32: 7, tensormap.F64: 8, tensormap.BF16: 9, tensormap.F32Ftz: 10, tensormap.TF32: 11, tensormap.TF32Ftz: 12,
}

func tensor(m *tensormap.Map) *wire.TensorMap {
	t := &wire.TensorMap{Elem: mapElements[m.Elem], Interleave: m.Interleave, Swizzle: m.Swizzle, L2Promotion: m.Promotion, FillNaN: m.FillNaN}
	for i := range m.Rank {
		t.Shape, t.Box = append(t.Shape, uint64(m.Shape[i])), append(t.Box, uint32(m.Box[i]))
		t.ElementStrides = append(t.ElementStrides, uint32(m.ElementStrides[i]))
		if i > 0 {
			t.Strides = append(t.Strides, m.Strides[i-1])
		}
	}
	return t
}

// buffer says what a buffer holds. Contents that are a function go to a file of their own
// digest, once.
func buffer(c *simengine.Contents, files string) (wire.Buffer, error) {
	b := wire.Buffer{Elem: c.Elem, Count: c.Count, Value: c.Fill.Value, Least: c.Fill.Least, Seed: c.Fill.Seed}
	switch c.Fill.Kind {
	case simengine.FillRandom:
		b.Fill = wire.FillRandom
	case simengine.FillGenerator:
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %q", c.Elem, c.Count, c.Fill.Text))
		b = wire.Buffer{Elem: c.Elem, Count: c.Count, Fill: wire.FillFile, File: filepath.Join(files, hex.EncodeToString(sum[:]))}
		return b, write(c, b.File)
	default:
		b.Fill = wire.FillConstant
	}
	return b, nil
}

// write writes a buffer's contents to a file, unless it is there.
func write(c *simengine.Contents, path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "part-")
	if err != nil {
		return err
	}
	defer f.Close()
	const chunk = 1 << 20
	room := make([]byte, min(chunk, c.Bytes()))
	for off := int64(0); off < c.Bytes(); off += chunk {
		part := room[:min(chunk, c.Bytes()-off)]
		c.Write(off, part)
		if _, err := f.Write(part); err != nil {
			return fmt.Errorf("contents of a buffer: %w", err)
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// ranges are the bytes to read of what was written, within mostRead.
func ranges(outputs []verify.Output) []wire.Range {
	var out []wire.Range
	total := int64(0)
	each(outputs, func(buffer int, r *verify.Run, size int64) bool {
		n := int64(len(r.Bytes))
		if total += n; total > mostRead {
			return false
		}
		out = append(out, wire.Range{Buffer: buffer, From: r.First * size, Bytes: n})
		return true
	})
	return out
}

// each calls f for each run of elements, in order, until it answers false.
func each(outputs []verify.Output, f func(buffer int, r *verify.Run, size int64) bool) {
	for i := range outputs {
		for k := range outputs[i].Runs {
			if !f(i, &outputs[i].Runs[k], int64(outputs[i].Elem.Size())) {
				return
			}
		}
	}
}

// agreement is what comparing a launch with the simulator's execution of it gave.
type agreement struct {
	elements int64
	wrong    string // "": nothing
}

// compare compares what was read with what the simulator's CTAs wrote.
func compare(p *evaluate.Prepared, outputs []verify.Output, read [][]byte) agreement {
	got := make([]verify.Output, len(outputs))
	for i := range outputs {
		got[i] = outputs[i]
		got[i].Runs = nil
	}
	k := 0
	each(outputs, func(buffer int, r *verify.Run, _ int64) bool {
		if k == len(read) {
			return false
		}
		got[buffer].Runs = append(got[buffer].Runs, verify.Run{First: r.First, Bytes: read[k]})
		k++
		return true
	})
	var a agreement
	for i := range got {
		tolerance, compared := p.Tolerance(got[i].Name)
		if !compared {
			continue
		}
		n, d := got[i].Compare(&outputs[i], tolerance)
		a.elements += n
		if d != nil && a.wrong == "" {
			a.wrong = fmt.Sprintf("element %d of argument %s is %s on the GPU, and %s where the simulator executes the same launch", d.Index, d.Name, d.Got, d.Want)
		}
	}
	return a
}
