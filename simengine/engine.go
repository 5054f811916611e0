package simengine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ir/sroa"
	"github.com/warptune/warptune/simengine/ir/unroll"
	"github.com/warptune/warptune/simengine/ptx"
)

// Engine simulates configurations and keeps what they share: parsed modules,
// assembled programs, and the recording of the launch simulated last with what
// was predicted of it. What it keeps changes no report. It is for one goroutine;
// make one for each slot.
type Engine struct {
	modules  cache[string, *Module]
	programs cache[programKey, *assemble.Program]
	prepared preparation // of the kernel assembled last
	last     *recording
}

// preparation is a kernel prepared for assembly under any cap.
type preparation struct {
	of      *ir.Kernel
	cc      [2]int
	without string // rules of the assembler that are left out
	kernel  *assemble.Prepared
	scratch *assemble.Workspace // for the next kernel, too
}

// New makes an engine.
func New() *Engine {
	return &Engine{
		modules:  newCache[string, *Module](maxModules),
		programs: newCache[programKey, *assemble.Program](maxPrograms),
	}
}

// What an engine keeps at most. A sweep visits the configurations of one
// module in a row, so a few are enough.
const (
	maxModules  = 8
	maxPrograms = 16
)

// Module is parsed PTX. It is immutable but for what it remembers of its
// kernels, and belongs to its engine.
type Module struct {
	Name   string
	Digest string // sha-256 of the PTX text, hex
	ir     *ir.Module
	code   map[codeKey]*exec.Program
	// counters are programs that count slow paths, nil for kernels without.
	counters map[string]*exec.Program
	// completed is what complete said, by kernel.
	completed map[string]error
}

type codeKey struct {
	kernel string
	mode   exec.Mode
}

type programKey struct {
	module, kernel string
	cc             [2]int
	maxRegisters   int
	without        string    // rules of the assembler that are left out
	resources      Resources // that a real assembler said; zero: the model's
}

// Parse reads PTX. name is used in messages. The error is a *Failure.
func (e *Engine) Parse(name string, text []byte) (*Module, error) {
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	key := name + "\x00" + digest // the name is in messages
	if m, ok := e.modules.get(key); ok {
		return m, nil
	}
	tree, err := ptx.Parse(name, text)
	if err != nil {
		return nil, &Failure{FailurePTX, err}
	}
	built, err := lower.Build(tree)
	if err != nil {
		return nil, &Failure{FailurePTX, err}
	}
	for i, k := range built.Kernels {
		built.Kernels[i] = sroa.Promote(unroll.Loops(k))
	}
	m := &Module{Name: name, Digest: digest, ir: built, code: map[codeKey]*exec.Program{}, counters: map[string]*exec.Program{}, completed: map[string]error{}}
	e.modules.put(key, m)
	return m, nil
}

// kernel finds the entry a request launches.
func (m *Module) kernel(name string) (*ir.Kernel, error) {
	k, err := m.ir.Kernel(name)
	if err == nil {
		return k, nil
	}
	var unsupported *ir.UnsupportedError
	if errors.As(err, &unsupported) {
		return nil, &Failure{FailureUnsupported, err}
	}
	return nil, &Failure{FailurePTX, err}
}

// compiled is a kernel prepared for execution in one mode.
func (m *Module) compiled(k *ir.Kernel, mode exec.Mode) (*exec.Program, error) {
	key := codeKey{k.Name, mode}
	if p, ok := m.code[key]; ok {
		return p, nil
	}
	p, err := exec.Compile(k, mode)
	if err != nil {
		return nil, &Failure{FailureUnsupported, err}
	}
	m.code[key] = p
	return p, nil
}

// complete reports, by a nil error, whether all of a kernel can be executed, not only its slice.
func (m *Module) complete(k *ir.Kernel) error {
	if err, ok := m.completed[k.Name]; ok {
		return err
	}
	slice, err := m.compiled(k, exec.Slice)
	if err != nil {
		return err
	}
	if err = slice.Complete(); err != nil {
		err = &Failure{FailureUnsupported, err}
	}
	m.completed[k.Name] = err
	return err
}

// assembled is a kernel as the assembler would emit it under a register cap:
// the same program for caps that come to the same code.
func (e *Engine) assembled(m *Module, k *ir.Kernel, req *Request) (*assemble.Program, error) {
	opt := assemble.Options{CC: req.Arch.CC, MaxRegisters: req.MaxRegisters, Without: req.Without}
	without := strings.Join(opt.Without, ",")
	said, ok, err := req.resources(k)
	if err != nil {
		return nil, err
	}
	key := programKey{m.Digest, k.Name, opt.CC, opt.MaxRegisters, without, said}
	if p, ok := e.programs.get(key); ok {
		return p, nil
	}
	last := e.prepared
	e.prepared = preparation{} // nothing is kept of an assembly that panics
	if last.scratch == nil {
		last.scratch = new(assemble.Workspace)
	}
	if last.of != k || last.cc != opt.CC || last.without != without {
		prepared, err := last.scratch.Prepare(k, opt)
		if err != nil {
			return nil, &Failure{FailureUnsupported, err}
		}
		last = preparation{k, opt.CC, without, prepared, last.scratch}
	}
	p, err := last.kernel.Assemble(opt)
	e.prepared = last
	if err != nil {
		return nil, &Failure{FailureUnsupported, err}
	}
	if ok {
		if said.SpillBytes > 0 && p.SpillBytes == 0 && said.Registers < p.Registers {
			opt.MaxRegisters = said.Registers
			if capped, err := last.kernel.Assemble(opt); err == nil {
				p = capped
			}
		}
		p = withResources(p, said)
	}
	for other, q := range e.programs.entries {
		if other.cc == key.cc && p.Equal(q) {
			p = q
			break
		}
	}
	e.programs.put(key, p)
	return p, nil
}
