package compile

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile/asnvcc"
	"github.com/warptune/warptune/tuner/kernel/compile/dialect"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
	"github.com/warptune/warptune/tuner/kernel/compile/toolkit"
)

// NVCC is the driver of CUDA's own compiler. Use NewNVCC.
type NVCC struct {
	// Constant fields.
	programs []string
	limits   sandbox.Limits

	// Mutable fields.
	mu    sync.Mutex
	found *nvcc
}

var _ Driver = (*NVCC)(nil)

// NewNVCC returns the driver; program is the compiler to use, "" to look in PATH,
// in CUDA's customary places, and in those of Conda and Python (toolkit.Programs).
func NewNVCC(program string, limits sandbox.Limits) *NVCC {
	if program != "" {
		return &NVCC{programs: []string{program}, limits: limits}
	}
	return &NVCC{programs: append([]string{"nvcc"}, toolkit.Programs("nvcc")...), limits: limits}
}

// Name returns "nvcc".
func (n *NVCC) Name() string { return "nvcc" }

// Identify names the version, e.g. "nvcc 13.0.88".
func (n *NVCC) Identify(ctx context.Context) (string, error) {
	f, err := n.find(ctx)
	if err != nil {
		return "", err
	}
	return f.version, nil
}

// Compile runs nvcc -ptx on the request's source.
func (n *NVCC) Compile(ctx context.Context, r Request) (Result, error) {
	if r.Language != call.CUDA {
		return Result{}, &UnavailableError{Driver: "nvcc", Reason: r.SourceFile + " is not CUDA C++"}
	}
	f, err := n.find(ctx)
	if err != nil {
		return Result{}, err
	}
	if _, err := translate(r.Options); err != nil {
		return Result{}, &Error{Compiler: f.version, File: r.SourceFile, Message: err.Error()}
	}
	src, err := readSource(r)
	if err != nil {
		return Result{}, err
	}
	dialect.ExpandUnroll(src)
	addTail(src, r, nvccEntry)
	w, err := newWorkdir(src)
	if err != nil {
		return Result{}, err
	}
	defer w.remove()
	target := smName(nearest(f.architectures, r.Target))
	if want := featured(r.Target, src); want != r.Target && f.featured {
		target = want
	}
	libraries, err := w.mountHostLibraries()
	if err != nil {
		return Result{}, err
	}
	e, err := sandbox.Run(ctx, n.limits, sandbox.NewWall(string(w), f.program), w.path("src"), f.program, append(libraries, nvccArgs(target, r.Options, src.Main)...)...)
	if err != nil {
		return Result{}, err
	}
	if e.Code != 0 || e.Killed != "" {
		// Some of nvcc's complaints go to its standard output.
		e.Message += e.Output
		if name := w.foreign(e.Message, f.program); name != "" {
			e.Message = "error: the source includes " + name + ", which is outside the bundle"
		}
		return Result{}, &Error{Compiler: f.version, File: r.SourceFile, Message: e.Diagnosis(w.named()...)}
	}
	if message := redefined(e.Message+e.Output, r.Fixed, src); message != "" {
		return Result{}, &Error{Compiler: f.version, File: r.SourceFile, Message: message}
	}
	ptx, err := w.output()
	if err != nil {
		return Result{}, fmt.Errorf("read nvcc's output: %w", err)
	}
	ptx = asnvcc.PlainLines(ptx, w.path("src"))
	ptx, entry := takeNVCCEntry(ptx)
	compiler := f.version
	if bytes.Contains(ptx, []byte("vprintf")) {
		compiler += printsLeftOut
	}
	return Result{PTX: ptx, Compiler: compiler, Target: target, Digest: digest(ptx), Entry: entry}, nil
}

// nvccEntry has nvcc instantiate a kernel, as a program does that launches it, and say its name in the PTX: the source may
// instantiate the template with other arguments, too.
const nvccEntry = "__device__ auto *warptune_entry = &(%s);"

var (
	nvccEntryVariable = regexp.MustCompile(`(?m)^(?:\.visible )?\.global \.align 8 \.u64 warptune_entry = ([\w$]+);\n\n?`)
	// nvccPrototype is a declaration of a kernel, which there is where it is named before it is defined.
	nvccPrototype = regexp.MustCompile(`(?m)^(?:\t// \.globl\t[\w$]+\n)?(?:\.visible |\.weak )?\.entry [\w$]+\n\([^)]*\)\n(?:\.[^{};\n]*\n)*;\n`)
)

// takeNVCCEntry takes the variable of nvccEntry out of the PTX, and returns the kernel that it names; "" if there is none.
func takeNVCCEntry(ptx []byte) ([]byte, string) {
	m := nvccEntryVariable.FindSubmatch(ptx)
	if m == nil {
		return ptx, ""
	}
	ptx = nvccEntryVariable.ReplaceAllLiteral(ptx, nil)
	return nvccPrototype.ReplaceAllLiteral(ptx, nil), string(m[1])
}

// nvccArgs is the command line, run in src/. Warnings tell of macros that the source
// redefines.
func nvccArgs(target string, options []string, main string) []string {
	options = slices.DeleteFunc(slices.Clone(options), func(o string) bool { return o == "-w" || strings.HasSuffix(o, "-disable-warnings") })
	args := []string{"-ptx", "-x", "cu", "-arch=" + target, "-include", "../macros.h"}
	// nvcc refuses a second -std.
	if !slices.ContainsFunc(options, func(o string) bool { return strings.Contains(o, "-std=") }) {
		args = append(args, "-std=c++17")
	}
	if !slices.ContainsFunc(options, func(o string) bool {
		return strings.HasSuffix(o, "lineinfo") || strings.HasSuffix(o, "-generate-line-info")
	}) {
		args = append(args, "-lineinfo")
	}
	return append(append(args, options...), "-I", ".", "-o", "../out.ptx", "./"+main)
}

// nvcc is one compiler found.
type nvcc struct {
	program       string // absolute path
	version       string // e.g. "nvcc 13.0.88"
	architectures []int  // what it compiles for, rising
	featured      bool   // sm_90a too, as since 12.0
}

var (
	nvccVersion = regexp.MustCompile(`release \d+\.\d+, V(\d+\.\d+\.\d+)`)
	nvccArch    = regexp.MustCompile(`(?m)^compute_(\d+)$`)
)

func (n *NVCC) find(ctx context.Context) (*nvcc, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.found != nil {
		return n.found, nil
	}
	reason := "nvcc not found in PATH"
	for _, p := range n.programs {
		path, err := exec.LookPath(p)
		if err != nil {
			continue
		}
		f, why, err := probeNVCC(ctx, path)
		if err != nil {
			return nil, err
		}
		if f != nil {
			n.found = f
			return f, nil
		}
		reason = why
	}
	return nil, &UnavailableError{Driver: "nvcc", Reason: reason, Need: toolkit.NVCCInstall + " (no root, no GPU), or the CUDA toolkit, or clang (apt-get install clang-19)"}
}

// probeNVCC asks a program for its version and the architectures it knows, which
// nvcc lists since 11.2; why says what it lacks.
func probeNVCC(ctx context.Context, path string) (f *nvcc, why string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, "", err
	}
	v, err := sandbox.Run(ctx, sandbox.ProbeLimits, nil, "/", path, "--version")
	if err != nil {
		return nil, "", err
	}
	m := nvccVersion.FindStringSubmatch(v.Output)
	if m == nil {
		return nil, path + " --version does not say a CUDA release", nil
	}
	l, err := sandbox.Run(ctx, sandbox.ProbeLimits, nil, "/", path, "--list-gpu-arch")
	if err != nil {
		return nil, "", err
	}
	f = &nvcc{program: path, version: "nvcc " + m[1]}
	for _, a := range nvccArch.FindAllStringSubmatch(l.Output, -1) {
		arch, err := strconv.Atoi(a[1])
		if err != nil {
			return nil, "", err
		}
		f.architectures = append(f.architectures, arch)
	}
	if len(f.architectures) == 0 {
		return nil, path + " lists no architectures (CUDA 11.2 or newer is needed)", nil
	}
	slices.Sort(f.architectures)
	f.featured = !strings.HasPrefix(m[1], "11.") && slices.Contains(f.architectures, 90)
	return f, "", nil
}
