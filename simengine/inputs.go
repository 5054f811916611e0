package simengine

import (
	"slices"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/ir"
)

// Inputs are what a launch is given, for whoever launches it on a GPU: what the
// simulator executes is given the same.
type Inputs struct {
	Entry     string     // the kernel's name in the PTX
	Buffers   []Contents // in the order of Execution.Outputs
	Params    []Input    // of the kernel, in order
	Constants []Input    // variables to fill, by name; each has a buffer's contents
}

// Contents is a buffer and what it holds before the kernel runs.
type Contents struct {
	Elem  ir.Type
	Count int64 // elements
	Fill  Fill
}

// Bytes is the size of the buffer.
func (c *Contents) Bytes() int64 {
	b := memory.Buffer{Elem: c.Elem, Count: c.Count}
	return b.Bytes()
}

// Write fills dst with what the buffer holds from byte offset off on, a multiple of the
// element's size.
func (c *Contents) Write(off int64, dst []byte) {
	b := memory.Buffer{Elem: c.Elem, Count: c.Count, Fill: c.Fill.exec()}
	b.Contents(off, dst)
}

// Input is one parameter: bytes by value, or the address of a buffer, or a tensor map of one.
type Input struct {
	Name   string
	Bytes  []byte // nil: it is of a buffer
	Buffer int    // index
	Offset int64  // bytes from the buffer's start
	Map    *tensormap.Map
}

// Inputs says what a launch is given. The error is a *Failure.
func (e *Engine) Inputs(m *Module, req *Request) (*Inputs, error) {
	k, err := m.kernel(req.Kernel)
	if err != nil {
		return nil, err
	}
	given := parameters(k, req)
	in := &Inputs{Entry: k.Name}
	own := make([]int, len(given)) // of each argument: its buffer
	for i := range given {
		if a := &given[i]; a.hasBuffer() {
			own[i] = len(in.Buffers)
			in.Buffers = append(in.Buffers, a.contents())
		}
	}
	for i := range given {
		a := &given[i]
		if a.Texture != nil {
			return nil, &Failure{FailureLaunch, mapError(given, i, "textures and surfaces cannot be measured: only predicted")}
		}
		p := Input{Name: a.Name, Buffer: own[i], Offset: a.Offset}
		switch {
		case a.Scalar:
			p.Bytes = a.bytes()
		case a.Map != nil:
			of, err := mapOf(req, given, i)
			if err != nil {
				return nil, &Failure{FailureLaunch, err}
			}
			m, err := a.Map.encode()
			if err != nil {
				return nil, &Failure{FailureLaunch, err}
			}
			p.Map, p.Buffer, p.Offset = &m, own[of], a.Map.Offset
		}
		in.Params = append(in.Params, p)
	}
	for i := range req.Constants {
		a := &req.Constants[i]
		if len(given) > len(req.Args) && !declares(k, a.Name) {
			continue // it is a parameter only
		}
		in.Constants = append(in.Constants, Input{Name: a.Name, Buffer: len(in.Buffers)})
		in.Buffers = append(in.Buffers, a.contents())
	}
	if len(in.Params) != len(k.Params) {
		_, err := memory.New(0).BindParams(k, make([]memory.Arg, len(in.Params)))
		return nil, &Failure{FailureLaunch, err}
	}
	return in, nil
}

func (a *Arg) contents() Contents {
	return Contents{Elem: a.Elem, Count: a.Count * int64(max(a.Lanes, 1)), Fill: a.Fill}
}

// mapOf is the argument whose buffer the tensor map of argument i of given describes.
func mapOf(req *Request, given []Arg, i int) (int, error) {
	t := given[i].Map
	of := i
	if t.Of >= 0 {
		if t.Of >= len(req.Args) {
			return 0, mapError(given, i, "a tensor map of argument %d, of which there are %d", t.Of, len(req.Args))
		}
		of = t.Of
		if len(given) > len(req.Args) { // constants are among them
			name := req.Args[t.Of].Name
			of = slices.IndexFunc(given, func(a Arg) bool { return a.Name == name })
		}
	}
	if of < 0 || !given[of].hasBuffer() {
		return 0, mapError(given, i, "a tensor map of an argument that has no buffer")
	}
	return of, nil
}
