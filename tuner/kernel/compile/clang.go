package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/compile/asnvcc"
	"github.com/warptune/warptune/tuner/kernel/source"
)

// Clang is the driver of clang++ 14 or newer with the NVPTX back end. It needs no
// CUDA toolkit: device/ has the device language. Use NewClang.
type Clang struct {
	// Constant fields.
	programs []string
	limits   Limits
	asNVCC   bool // see NewClangAsNVCC

	// Mutable fields.
	mu    sync.Mutex
	found *clang
}

var _ Driver = (*Clang)(nil)

// clangPrograms in order of preference: the versions tried with the device headers
// first, the newest of them first of all; unversioned last.
var clangPrograms = []string{
	"clang++-19", "clang++-18", "clang++-17", "clang++-16", "clang++-20", "clang++-21",
	"clang++-15", "clang++-14", "clang++",
}

const clangNeed = "install clang (apt-get install clang-19, or clang-16, or clang-14) or CUDA's nvcc: " + NVCCInstall

// NewClang returns the driver; program is the compiler to use, "" to look for one
// in PATH.
func NewClang(program string, limits Limits) *Clang {
	if program != "" {
		return &Clang{programs: []string{program}, limits: limits}
	}
	return &Clang{programs: clangPrograms, limits: limits}
}

// Name returns "clang".
func (c *Clang) Name() string { return "clang" }

// Identify looks for the compiler once it is asked and names its version and what else
// its output depends on, e.g. "clang 19.1.7 as nvcc device 3f2a…".
func (c *Clang) Identify(ctx context.Context) (string, error) {
	f, err := c.find(ctx)
	if err != nil {
		return "", err
	}
	return c.title(f) + " device " + deviceDigest(), nil
}

// title is how results name the compiler.
func (c *Clang) title(f *clang) string {
	if c.asNVCC {
		return f.version + " as nvcc"
	}
	return f.version
}

// Compile runs clang++ on the request's source.
func (c *Clang) Compile(ctx context.Context, r Request) (Result, error) {
	if r.Language != kernel.CUDA {
		return Result{}, &UnavailableError{Driver: "clang", Reason: r.SourceFile + " is not CUDA C++"}
	}
	f, err := c.find(ctx)
	if err != nil {
		return Result{}, err
	}
	extra, err := translate(r.Options)
	if err != nil {
		return Result{}, &Error{Compiler: f.version, File: r.SourceFile, Message: err.Error()}
	}
	src, err := readSource(r)
	if err != nil {
		return Result{}, err
	}
	alignShared(src)
	if c.asNVCC {
		nvccPragmas(src)
	}
	addTail(src, r, clangEntry)
	w, err := newWorkdir(src)
	if err != nil {
		return Result{}, err
	}
	defer w.remove()
	if err := w.addDevice(); err != nil {
		return Result{}, fmt.Errorf("device headers: %w", err)
	}
	target, feature := f.target(featured(r.Target, src))
	left, err := c.front(ctx, w, f, r, src, target, feature, extra)
	if err != nil {
		return Result{}, err
	}
	// The scan found no such include; this also catches what no scan can.
	if name, err := w.outside(); err != nil {
		return Result{}, fmt.Errorf("clang's dependency list: %w", err)
	} else if name != "" {
		return Result{}, &Error{Compiler: f.version, File: r.SourceFile, Message: "error: the source includes " + name + ", which is outside the bundle"}
	}
	edit := func(ir []byte) []byte {
		ir, lines := asnvcc.TakeLines(ir)
		return lines.Put(asnvcc.VectorCopies(ir))
	}
	if c.asNVCC {
		edit = func(ir []byte) []byte { return asnvcc.Front(ir, f.major) }
	}
	entry, launchable := "", true
	var clusters []asnvcc.Cluster
	if err := w.rewrite("out.ll", func(ir []byte) []byte {
		ir, entry = asnvcc.Entry(ir)
		ir, clusters = asnvcc.Launch(ir, f.major)
		if asnvcc.Unlaunchable(ir, cmp.Or(entry, r.Entry)) {
			launchable = false
			ir = asnvcc.WithoutLoops(ir)
		}
		return edit(ir)
	}); err != nil {
		return Result{}, fmt.Errorf("clang's LLVM text: %w", err)
	}
	command := func(optimiser ...string) []string { return clangFinish(target, feature, extra, optimiser) }
	finish := func(args ...string) ([]byte, error) {
		if _, err := c.step(ctx, w, f, r.SourceFile, args); err != nil {
			return nil, err
		}
		ptx, err := w.output()
		if err != nil {
			return nil, fmt.Errorf("read clang's output: %w", err)
		}
		return asnvcc.PlainLines(ptx, w.path("src")), nil
	}
	var ptx []byte
	if !launchable { // that it names so much is all that is asked of it
		ptx, err = finish(slices.Concat(command("-fno-unroll-loops"), finished)...)
	} else if c.asNVCC {
		ptx, err = finishAsNVCC(func(optimiser ...string) ([]byte, error) {
			if _, err := c.step(ctx, w, f, r.SourceFile, slices.Concat(command(optimiser...), optimised)); err != nil {
				return nil, err
			}
			if err := w.rewrite("optimised.ll", asnvcc.Optimised); err != nil {
				return nil, fmt.Errorf("clang's LLVM text: %w", err)
			}
			return assembleAsNVCC(func(further ...string) ([]byte, error) {
				return finish(slices.Concat(command(slices.Concat(optimiser, further)...), assembled)...)
			})
		})
	} else {
		ptx, err = finish(slices.Concat(command(), finished)...)
	}
	if err != nil {
		return Result{}, err
	}
	ptx = asnvcc.Clustered(ptx, clusters)
	if err := left.needed(ptx, cmp.Or(entry, r.Entry)); err != nil {
		return Result{}, err
	}
	return Result{PTX: ptx, Compiler: c.title(f) + left.note(), Target: target, Digest: digest(ptx), Entry: entry}, nil
}

// front runs the front end, which writes out.ll, in nvcc's place without the pragmas that clang refuses and
// nvcc does not, and without what it refuses beside the kernel.
func (c *Clang) front(ctx context.Context, w workdir, f *clang, r Request, src *source.Source, target, feature string, extra []string) (left pruned, err error) {
	// Warnings tell of macros that the source redefines.
	options := slices.DeleteFunc(slices.Clone(extra), func(o string) bool { return o == "-w" })
	if c.asNVCC {
		options = append(options, sharedIn32Bits...)
	}
	args := clangArgs(f, target, feature, options, src.Main)
	warnings, err := c.step(ctx, w, f, r.SourceFile, args)
	for own := (*Error)(nil); c.asNVCC && errors.As(err, &own) && dropUnrolls(own.Message, src.Files); {
		if err := w.writeSources(src); err != nil {
			return left, err
		}
		warnings, err = c.step(ctx, w, f, r.SourceFile, args)
	}
	if own := (*Error)(nil); errors.As(err, &own) && own.Message != "" {
		left, warnings, err = c.prune(ctx, w, f, r, src, args, own)
	}
	if err != nil {
		return left, err
	}
	if message := redefined(warnings, r.Fixed, src); message != "" {
		return left, &Error{Compiler: f.version, File: r.SourceFile, Message: message}
	}
	return left, nil
}

// step runs the compiler on a source file once. It takes two: the front end's and the rest, for
// what asnvcc.VectorCopies does between them, and in nvcc's place a third, for asnvcc.Optimised.
func (c *Clang) step(ctx context.Context, w workdir, f *clang, file string, args []string) (warnings string, err error) {
	e, err := run(ctx, c.limits, w.wall(f.program), w.path("src"), f.program, args...)
	if err == nil && (e.code != 0 || e.killed != "") {
		err = &Error{Compiler: f.version, File: file, Message: e.diagnosis(string(w))}
	}
	return e.message, err
}

// clangArgs is the front end's command line, run in src/. -nocudainc and -nostdinc leave only
// the bundle and the device headers to include from, and the view makes those the
// only files there are, however an #include is spelled. nvcc takes "register" in C++17, too.
func clangArgs(f *clang, target, feature string, extra []string, main string) []string {
	args := []string{"-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=" + target}
	if f.major < 15 {
		// --cuda-feature came with 15.
		args = append(args, "-Xclang", "-target-feature", "-Xclang", feature)
	} else {
		args = append(args, "--cuda-feature="+feature)
	}
	args = append(args, "-nocudainc", "-nocudalib", "-nostdinc", "-nostdinc++", "-isystem", "../device",
		"-include", "device.h", "-include", "../macros.h", "-Xclang", "-ivfsoverlay", "-Xclang", "../view.json",
		"-O3", "-std=c++17", "-Wno-register", "-fno-color-diagnostics", "-ferror-limit=10", "-MD", "-MF", "../deps.d")
	args = append(args, lineTables...)
	args = append(args, extra...)
	return append(args, "-I", ".", "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", "../out.ll", "./"+main)
}

// lineTables has the front end say from which line each instruction comes, which changes no code
// (TestLinesChangeNoCode), and is what -lineinfo is for nvcc.
var lineTables = []string{"-gline-directives-only", "-fdebug-compilation-dir=."}

// clangFinish is the command line of what follows the front end: LLVM's text to PTX, with
// options for the optimiser besides the source's. What the latter ask for is in the text,
// but for optimisation and contraction; -enable-memcpyopt-without-libcalls is what clang
// gives itself for CUDA, and -nvptx-fma-level stands for -ffp-contract, which is not read
// with LLVM's text.
func clangFinish(target, feature string, extra, optimiser []string) []string {
	contract := "-nvptx-fma-level=2"
	if slices.Contains(extra, "-ffp-contract=off") {
		contract = "-nvptx-fma-level=0"
	}
	args := []string{"--target=nvptx64-nvidia-cuda", "-march=" + target, "-nogpulib", "-Xclang", "-target-feature", "-Xclang", feature,
		"-O3", "-mllvm", contract, "-fno-color-diagnostics", "-w"}
	if !slices.Contains(optimiser, fillByElements) {
		args = append(args, "-mllvm", "-enable-memcpyopt-without-libcalls")
	}
	args = append(args, optimiser...)
	for i, o := range extra {
		switch {
		case strings.HasPrefix(o, "-O"), strings.HasPrefix(o, "-f"):
			args = append(args, o)
		case i > 0 && extra[i-1] == "-mllvm":
			args = append(args, "-mllvm", o)
		}
	}
	return args
}

// What clangFinish's command line ends with: in one step, or in two where the text between the passes
// that are the same for all targets and those of the back end is rewritten.
var (
	finished  = []string{"-S", "-o", "../out.ptx", "-x", "ir", "../out.ll"}
	optimised = []string{"-S", "-emit-llvm", "-o", "../optimised.ll", "-x", "ir", "../out.ll"}
	assembled = []string{"-Xclang", "-disable-llvm-passes", "-S", "-o", "../out.ptx", "-x", "ir", "../optimised.ll"}
)

// clang is one compiler found.
type clang struct {
	program string // absolute path
	version string // e.g. "clang 19.1.7"
	major   int
}

var clangVersion = regexp.MustCompile(`clang version ((\d+)\.\d+\.\d+)`)

// find returns the first program that is a clang with the NVPTX back end. Only
// success is remembered: a compiler may be installed while we run.
func (c *Clang) find(ctx context.Context) (*clang, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found != nil {
		return c.found, nil
	}
	reason := strings.Join(c.programs, ", ") + " not found in PATH"
	if len(c.programs) > 1 {
		reason = "no clang++ in PATH"
	}
	for _, p := range c.programs {
		path, err := exec.LookPath(p)
		if err != nil {
			continue
		}
		f, why, err := probeClang(ctx, path)
		if err != nil {
			return nil, err
		}
		if f != nil {
			c.found = f
			return f, nil
		}
		reason = why
	}
	return nil, &UnavailableError{Driver: "clang", Reason: reason, Need: clangNeed}
}

// probeClang asks a program for its version and targets; why says what it lacks.
func probeClang(ctx context.Context, path string) (f *clang, why string, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, "", err
	}
	v, err := run(ctx, probeLimits, nil, "/", path, "--version")
	if err != nil {
		return nil, "", err
	}
	m := clangVersion.FindStringSubmatch(v.output)
	if m == nil {
		return nil, path + " --version does not say a clang version", nil
	}
	f = &clang{program: path, version: "clang " + m[1]}
	if f.major, err = strconv.Atoi(m[2]); err != nil || f.major < 14 {
		return nil, path + " is clang " + m[1] + "; 14 or newer is needed", nil
	}
	t, err := run(ctx, probeLimits, nil, "/", path, "--print-targets")
	if err != nil {
		return nil, "", err
	}
	if !strings.Contains(t.output, "nvptx64") {
		return nil, path + " has no NVPTX back end", nil
	}
	return f, "", nil
}
