package simengine

import (
	"fmt"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ideal"
	"github.com/warptune/warptune/simengine/ir"
)

// Assembled is what a real assembler made of a module's kernels, for the request's target and cap. Registers, spills and static
// shared memory are then its, and what follows of them: what can be launched, and how many CTAs an SM holds. The
// instructions stay the model's, without its spills where the assembler has none.
//
// Where only the assembler spills, and has fewer registers than the model, they are the model's for as many. ptxas 12.8
// falls back to 32 registers and 2 to 14 KB of spills in 14 of 1,919 programs of modern kernels, all of Triton's for CTAs of 64
// threads, and for any bound on threads: without one the same program has 255. They take up to 25 times as long.
type Assembled struct {
	By      string               // e.g. "ptxas 13.5.37"; part of the digest, which Kernels follow from
	Kernels map[string]Resources // by name
	// Stated is what is known of the launched kernel without By at hand: part of the digest. Its static shared
	// memory is what the PTX declares. nil: Kernels says it.
	Stated *Resources
}

// Resources are what a kernel is compiled to need.
type Resources struct {
	Registers  int // a thread
	SpillBytes int // of local memory, a thread
	Shared     int // bytes, static, a CTA
}

// Resources are what the model says of the kernel of a request. The error is a *Failure.
func (e *Engine) Resources(m *Module, req Request) (Resources, error) {
	k, err := m.kernel(req.Kernel)
	if err != nil {
		return Resources{}, err
	}
	p, err := e.assembled(m, k, &req)
	if err != nil {
		return Resources{}, err
	}
	return Resources{p.Registers, p.SpillBytes, req.staticShared(k)}, nil
}

// KernelName is the kernel that a request's name stands for.
func (m *Module) KernelName(name string) (string, error) {
	k, err := m.kernel(name)
	if err != nil {
		return "", err
	}
	return k.Name, nil
}

// resources are what was assembled of a kernel; false: the model says it.
func (r *Request) resources(k *ir.Kernel) (Resources, bool, error) {
	if r.Assembled == nil {
		return Resources{}, false, nil
	}
	if s := r.Assembled.Stated; s != nil {
		return Resources{s.Registers, s.SpillBytes, k.SharedBytes}, true, nil
	}
	found, ok := r.Assembled.Kernels[k.Name]
	if !ok {
		return found, false, &Failure{FailureUnsupported, fmt.Errorf("%s says nothing of kernel %s", r.Assembled.By, k.Name)}
	}
	return found, true, nil
}

// staticShared is a kernel's static shared memory, bytes.
func (r *Request) staticShared(k *ir.Kernel) int {
	if found, ok, _ := r.resources(k); ok {
		return found.Shared
	}
	return k.SharedBytes
}

// withResources is the model's program with what was assembled in place of its own.
func withResources(p *assemble.Program, r Resources) *assemble.Program {
	if p.Registers == r.Registers && p.SpillBytes == r.SpillBytes {
		return p
	}
	if r.SpillBytes == 0 && p.SpillBytes > 0 {
		p = ideal.Spills.Program(p)
	}
	q := *p
	q.LocalBytes += r.SpillBytes - q.SpillBytes
	q.Registers, q.SpillBytes = r.Registers, r.SpillBytes
	return &q
}
