package simengine

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/verify"
)

// marshal allocates and fills the buffers of a launch's arguments and lays out the parameter space.
func marshal(k *ir.Kernel, req *Request) (*memory.Device, []byte, []timing.Extent, []verify.Buffer, error) {
	device := memory.New(0)
	if err := device.LoadModule(k); err != nil {
		return nil, nil, nil, nil, err
	}
	given := parameters(k, req)
	if err := fits(given, req); err != nil {
		return nil, nil, nil, nil, err
	}
	for i := range req.Constants {
		a := &req.Constants[i]
		if len(given) > len(req.Args) && !declares(k, a.Name) {
			continue // it is a parameter only
		}
		if err := device.SetVar(a.buffer(a.Name)); err != nil {
			return nil, nil, nil, nil, err
		}
	}
	var extents []timing.Extent
	var buffers []verify.Buffer
	args, bases := make([]memory.Arg, len(given)), make([]uint64, len(given))
	for i := range given {
		a := &given[i]
		if a.Scalar {
			args[i] = memory.Arg{Bytes: a.bytes()}
			if a.Bytes == nil {
				args[i].Elem = a.Elem
			}
			continue
		}
		if !a.hasBuffer() {
			continue
		}
		buffer := a.buffer(BufferName(i, a.Name))
		takes := buffer.Bytes()
		if a.Texture != nil {
			o, err := a.object()
			if err != nil {
				return nil, nil, nil, nil, mapError(given, i, "%v", err)
			}
			takes = int64(o.Bytes())
		}
		base, err := device.AllocTiled(buffer, takes)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		if n := uint64(max(takes, 0)); n > 0 {
			extents = append(extents, timing.Extent{First: base / arch.LineBytes, Last: (base + n - 1) / arch.LineBytes})
		}
		bases[i] = base
		buffers = append(buffers, verify.Buffer{Name: a.Name, Elem: a.Elem, Count: buffer.Count, Base: base})
		args[i] = memory.Arg{Buffer: buffer.Name, Offset: a.Offset}
	}
	for i := range given {
		var err error
		switch {
		case given[i].Map != nil:
			args[i], err = encodeMap(req, given, bases, i)
		case given[i].Texture != nil:
			args[i], err = encodeTexture(device, given, i)
		}
		if err != nil {
			return nil, nil, nil, nil, err
		}
	}
	params, err := device.BindParams(k, args)
	return device, params, extents, buffers, err
}

// MemoryError is that the buffers of a launch need more than the device's memory.
type MemoryError struct {
	Buffer string // that is too large by itself, by BufferName; "": only all together are
	Bytes  int64  // it needs, or all do
	Has    int64  // the device
	Device string
	// Managed says that managed memory is among them, of which a GPU may have more than it holds.
	Managed bool
}

func (e *MemoryError) Error() string {
	what := "the buffers together need"
	if e.Buffer != "" {
		what = "buffer " + e.Buffer + " needs"
	}
	text := fmt.Sprintf("%s %d bytes, more than the %d bytes of memory of %s", what, e.Bytes, e.Has, e.Device)
	if e.Managed {
		text += "; oversubscription by managed memory is not modelled"
	}
	return text
}

// fits refuses buffers that the device's memory, if its size is known, cannot hold.
func fits(given []Arg, req *Request) error {
	has := int64(req.Arch.DRAMBytes)
	if has == 0 {
		return nil
	}
	total, managed := int64(0), false
	for i := range given {
		if !given[i].hasBuffer() {
			continue
		}
		b := given[i].buffer("")
		if n := b.Bytes(); n > has {
			return &MemoryError{BufferName(i, given[i].Name), n, has, req.Arch.Title, given[i].Managed != ManagedNot}
		}
		total += b.Bytes()
		managed = managed || given[i].Managed != ManagedNot
	}
	if total > has {
		return &MemoryError{"", total, has, req.Arch.Title, managed}
	}
	return nil
}

// BufferName is the name of a buffer in faults (fault.Fault.Buffer): the index of the kernel's
// parameter, from 0, and the name of the argument passed for it.
func BufferName(parameter int, argument string) string {
	return fmt.Sprintf("argument %d (%s)", parameter, argument)
}

func (a *Arg) buffer(name string) memory.Buffer {
	return memory.Buffer{Name: name, Elem: a.Elem, Count: a.Count * int64(max(a.Lanes, 1)), Fill: a.Fill.exec()}
}

// hasBuffer reports whether the argument comes with a buffer of its own.
func (a *Arg) hasBuffer() bool { return !a.Scalar && (a.Map == nil || a.Map.Of < 0) }

// bytes returns the scalar's bytes, little-endian.
func (a *Arg) bytes() []byte {
	if a.Bytes != nil {
		return a.Bytes
	}
	out := make([]byte, a.Elem.Size())
	for i := range out {
		out[i] = byte(a.Bits >> (8 * i))
	}
	return out
}

func (f *Fill) exec() memory.Fill {
	switch f.Kind {
	case FillRandom:
		return memory.RandomFrom(f.Seed, f.Least, f.Value)
	case FillGenerator:
		return memory.Generated(f.At)
	}
	return memory.Constant(f.Value)
}

// launchKey is the digest of everything that a recording depends on.
func (r *Request) launchKey(module string) string {
	same := r.launched()
	return same.Digest(module)
}

// launched is what of a request decides what its CTAs execute.
func (r *Request) launched() Request {
	same := *r
	same.MaxRegisters, same.CarveOut, same.Level, same.Ideal, same.Assembled = 0, math.MinInt, LevelInvalid, 0, nil
	return same
}

// lot is what draws the launches that are executed in full. Versions of the simulator draw the same.
func (r *Request) lot(module string) [sha256.Size]byte {
	same := r.launched()
	return sha256.Sum256([]byte(same.digest("", module)))
}

// parameters returns the request's arguments, with its constants among them if the kernel has
// parameters for these too.
func parameters(k *ir.Kernel, req *Request) []Arg {
	if len(req.Constants) == 0 || len(k.Params) != len(req.Args)+len(req.Constants) {
		return req.Args
	}
	all := slices.Clone(req.Args)
	for _, c := range req.Constants {
		all = slices.Insert(all, min(c.Position, len(all)), c)
	}
	return all
}

func declares(k *ir.Kernel, name string) bool {
	return slices.ContainsFunc(k.Vars, func(v ir.Var) bool { return v.Name == name })
}
