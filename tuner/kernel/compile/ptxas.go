package compile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
	"github.com/warptune/warptune/tuner/kernel/compile/toolkit"
	"github.com/warptune/warptune/tuner/kernel/source"
)

// PTXAS is CUDA's assembler: what it makes of PTX a GPU would run, so its registers are the GPU's. It needs no GPU.
// Its methods are safe for concurrent use. Use NewPTXAS.
//
// What it said is remembered, on disk in DIR/xx/KEY.ptxas, by the digest of all that it depends on.
type PTXAS struct {
	// Constant fields.
	programs []string
	limits   sandbox.Limits
	dir      string // "": memory only

	// Mutable fields.
	flight singleflight.Group
	mu     sync.Mutex
	found  []*ptxas // nil: not looked for, or none
	known  map[string]map[string]Resources
}

// Resources are what ptxas gives a kernel.
type Resources struct {
	Registers   int `json:"registers"`    // a thread
	Frame       int `json:"frame"`        // bytes of local memory a thread: spilled registers and arrays
	SpillStores int `json:"spill_stores"` // bytes a thread, of all stores in its code
	SpillLoads  int `json:"spill_loads"`
	Shared      int `json:"shared"` // bytes a CTA, static
}

// SpillBytes is the local memory a thread has for spilled registers. Each is stored at least once, and all are in the frame.
func (r Resources) SpillBytes() int { return min(r.Frame, r.SpillStores) }

type ptxas struct {
	program, version string // version: e.g. "ptxas 13.5.37"
	help             string // names the architectures that it knows
}

func (f *ptxas) knows(target string) bool { return strings.Contains(f.help, "'"+target+"'") }

// mostRemembered bounds what is kept in memory of modules.
const mostRemembered = 4096

// NewPTXAS returns it; program is what to use, "" to look in PATH and where nvcc is looked for, dir where to remember.
func NewPTXAS(program, dir string, limits sandbox.Limits) *PTXAS {
	p := &PTXAS{programs: []string{program}, limits: limits, dir: dir, known: map[string]map[string]Resources{}}
	if program == "" {
		p.programs = append([]string{"ptxas"}, toolkit.Programs("ptxas")...)
	}
	return p
}

// Identify names the version that would serve an architecture such as "sm_90", e.g. "ptxas 13.5.37"; "": any.
func (p *PTXAS) Identify(ctx context.Context, target string) (string, error) {
	f, err := p.find(ctx, target)
	if err != nil {
		return "", err
	}
	return f.version, nil
}

// Assemble gives the resources of all kernels of PTX by name, for an architecture such as "sm_90" and a cap of registers, 0: none.
// An *Error is that ptxas refuses the PTX; an *UnavailableError, that there is no ptxas that knows the architecture or the PTX.
func (p *PTXAS) Assemble(ctx context.Context, ptx []byte, target string, maxRegisters int) (map[string]Resources, error) {
	f, err := p.find(ctx, target)
	if err != nil {
		return nil, err
	}
	target = assembledFor(ptx, target)
	key := digest(fmt.Appendf(nil, "warptune ptxas 1\x00%s\x00%s\x00%d\x00%s", f.version, target, maxRegisters, digest(ptx)))
	if r, ok := p.remembered(key); ok {
		return r, nil
	}
	v, err, _ := p.flight.Do(key, func() (any, error) {
		r, err := p.run(ctx, f, ptx, target, maxRegisters)
		if err == nil {
			p.remember(key, r)
		}
		return r, err
	})
	if err != nil {
		return nil, err
	}
	return v.(map[string]Resources), nil
}

var ptxTarget = regexp.MustCompile(`(?m)^[ \t]*\.target[ \t]+(sm_\d+[af]?)`)

// assembledFor is a target, with the specific features of it if the PTX asks for them.
func assembledFor(ptx []byte, target string) string {
	if m := ptxTarget.FindSubmatch(ptx); m != nil && strings.TrimRight(string(m[1]), "af") == target {
		return string(m[1])
	}
	return target
}

var (
	ptxasTooOld  = regexp.MustCompile(`Unsupported \.version [\d.]+; current version is '[\d.]+'`)
	ptxasUnknown = regexp.MustCompile(`Value 'sm_\w+' is not defined for option 'gpu-name'`) // "sm_90a", say
)

// run runs ptxas once.
func (p *PTXAS) run(ctx context.Context, f *ptxas, ptx []byte, target string, maxRegisters int) (map[string]Resources, error) {
	w, err := newWorkdir(&source.Source{Files: map[string][]byte{"kernel.ptx": ptx}})
	if err != nil {
		return nil, err
	}
	defer w.remove()
	args := []string{"-v", "-arch=" + target, "-o", "../out.cubin", "kernel.ptx"}
	if maxRegisters > 0 {
		args = append(args, "-maxrregcount="+strconv.Itoa(maxRegisters))
	}
	e, err := sandbox.Run(ctx, p.limits, sandbox.NewWall(string(w), f.program), w.path("src"), f.program, args...)
	if err != nil {
		return nil, err
	}
	said := e.Message + e.Output
	if e.Code == 0 && e.Killed == "" {
		return readPTXAS(said)
	}
	e.Message = said
	switch message := e.Diagnosis(w.named()...); {
	case ptxasTooOld.MatchString(said):
		return nil, &UnavailableError{Driver: f.version, Reason: "it is older than the PTX: " + ptxasTooOld.FindString(said), Need: toolkit.NVCCInstall}
	case ptxasUnknown.MatchString(said):
		return nil, &UnavailableError{Driver: f.version, Reason: "it does not know " + target, Need: toolkit.NVCCInstall}
	default:
		return nil, &Error{Compiler: f.version, File: "PTX", Message: strings.ReplaceAll(message, "ptxas kernel.ptx", "PTX")}
	}
}

var (
	ptxasEntry = regexp.MustCompile(`Compiling entry function '([^']+)'`)
	ptxasFrame = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	ptxasOf    = regexp.MustCompile(`Function properties for (\S+)`)
	ptxasUsed  = regexp.MustCompile(`Used (\d+) registers`)
	ptxasSmem  = regexp.MustCompile(`(\d+)(?:\+(\d+))? bytes smem`)
)

// readPTXAS reads what ptxas -v says. Functions that are no kernels have properties, too.
func readPTXAS(said string) (map[string]Resources, error) {
	kernels := map[string]Resources{}
	entry, of := "", ""
	number := func(s string) int {
		n, _ := strconv.Atoi(s) // digits; one that is too large for an int is the largest
		return n
	}
	for line := range strings.Lines(said) {
		if m := ptxasEntry.FindStringSubmatch(line); m != nil {
			entry = m[1]
			continue
		}
		if m := ptxasOf.FindStringSubmatch(line); m != nil {
			of = m[1]
			continue
		}
		r := kernels[entry]
		if m := ptxasFrame.FindStringSubmatch(line); m != nil && of == entry {
			r.Frame, r.SpillStores, r.SpillLoads = number(m[1]), number(m[2]), number(m[3])
		} else if m := ptxasUsed.FindStringSubmatch(line); m != nil {
			r.Registers = number(m[1])
			if s := ptxasSmem.FindStringSubmatch(line); s != nil {
				r.Shared = number(s[1]) + number(s[2])
			}
		} else {
			continue
		}
		if entry != "" {
			kernels[entry] = r
		}
	}
	for name, r := range kernels {
		if r.Registers == 0 {
			return nil, fmt.Errorf("ptxas -v says no registers of %s: %.200q", name, said)
		}
	}
	return kernels, nil
}

// remembered looks in memory, then on disk.
func (p *PTXAS) remembered(key string) (map[string]Resources, bool) {
	p.mu.Lock()
	r, ok := p.known[key]
	p.mu.Unlock()
	if ok || p.dir == "" {
		return r, ok
	}
	b, err := os.ReadFile(p.path(key))
	if err != nil {
		return nil, false
	}
	var entry ptxasEntryFile
	if json.Unmarshal(b, &entry) != nil || entry.Key != key || entry.Digest != entry.digest() {
		return nil, false
	}
	p.keep(key, entry.Kernels)
	return entry.Kernels, true
}

// ptxasEntryFile is what is remembered on disk.
type ptxasEntryFile struct {
	Key     string               `json:"key"`
	Digest  string               `json:"sha256"` // of Kernels
	Kernels map[string]Resources `json:"kernels"`
}

func (f *ptxasEntryFile) digest() string {
	b, err := json.Marshal(f.Kernels)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return digest(b)
}

func (p *PTXAS) path(key string) string { return filepath.Join(p.dir, key[:2], key+".ptxas") }

func (p *PTXAS) keep(key string, r map[string]Resources) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= mostRemembered {
		clear(p.known)
	}
	p.known[key] = r
}

// remember keeps a result, on disk if that can be.
func (p *PTXAS) remember(key string, r map[string]Resources) {
	p.keep(key, r)
	if p.dir == "" {
		return
	}
	f := ptxasEntryFile{Key: key, Kernels: r}
	f.Digest = f.digest()
	var b bytes.Buffer
	if json.NewEncoder(&b).Encode(f) != nil || os.MkdirAll(filepath.Dir(p.path(key)), 0o755) != nil {
		return
	}
	_ = writeWhole(p.path(key), b.Bytes())
}

var ptxasVersion = regexp.MustCompile(`release \d+\.\d+, V(\d+\.\d+\.\d+)`)

// find returns the first program that is a ptxas and knows a target. Only success is remembered.
func (p *PTXAS) find(ctx context.Context, target string) (*ptxas, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found == nil {
		var err error
		if p.found, err = p.look(ctx); err != nil {
			return nil, err
		}
	}
	for _, f := range p.found {
		if target == "" || f.knows(target) {
			return f, nil
		}
	}
	if len(p.found) == 0 {
		return nil, &UnavailableError{Driver: "ptxas", Reason: "not found", Need: toolkit.NVCCInstall + " (no root, no GPU), or the CUDA toolkit"}
	}
	return nil, &UnavailableError{Driver: p.found[0].version, Reason: "it does not know " + target, Need: "ptxas of CUDA 12 knows sm_50 to sm_90: pip install nvidia-cuda-nvcc-cu12"}
}

// look asks all programs that there are what they are.
func (p *PTXAS) look(ctx context.Context) (found []*ptxas, err error) {
	for _, name := range p.programs {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		v, err := sandbox.Run(ctx, sandbox.ProbeLimits, nil, "/", path, "--version")
		if err != nil {
			return nil, err
		}
		m := ptxasVersion.FindStringSubmatch(v.Output)
		if m == nil {
			continue
		}
		h, err := sandbox.Run(ctx, sandbox.ProbeLimits, nil, "/", path, "--help")
		if err != nil {
			return nil, err
		}
		found = append(found, &ptxas{path, "ptxas " + m[1], h.Output + h.Message})
	}
	return found, nil
}
