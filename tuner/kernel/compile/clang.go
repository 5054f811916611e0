package compile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/warptune/warptune/tuner/kernel/compile/asnvcc"
	"github.com/warptune/warptune/tuner/kernel/compile/asnvcc/stages"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
	"github.com/warptune/warptune/tuner/kernel/compile/toolkit"
)

// Clang is the driver of clang++ 14 or newer with the NVPTX back end. It needs no
// CUDA toolkit: device/ has the device language. Use NewClang.
type Clang struct {
	// Constant fields.
	programs []string
	limits   sandbox.Limits
	asNVCC   bool   // see NewClangAsNVCC
	keep     string // directory for the device headers and what is made of them; "": none

	// Mutable fields.
	mu      sync.Mutex
	found   *clang
	headers headers
}

var _ Driver = (*Clang)(nil)

// clangPrograms in order of preference: the versions tried with the device headers
// first, the newest of them first of all; unversioned last.
var clangPrograms = []string{
	"clang++-19", "clang++-18", "clang++-17", "clang++-16", "clang++-20", "clang++-21",
	"clang++-15", "clang++-14", "clang++",
}

const clangNeed = "install clang (apt-get install clang-19, or clang-16, or clang-14) or CUDA's nvcc: " + toolkit.NVCCInstall

// NewClang returns the driver; program is the compiler to use, "" to look for one
// in PATH.
func NewClang(program string, limits sandbox.Limits) *Clang {
	if program != "" {
		return &Clang{programs: []string{program}, limits: limits}
	}
	return &Clang{programs: clangPrograms, limits: limits}
}

// KeepHeaders has the device headers kept in a directory, ready to use, instead of written and read for each
// compilation. It is called before anything else.
func (c *Clang) KeepHeaders(dir string) *Clang {
	c.keep = dir
	return c
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
	k, err := c.compilation(ctx, r)
	if err != nil {
		return Result{}, err
	}
	defer k.w.remove()
	if err := k.front(ctx); err != nil {
		return Result{}, err
	}
	// The scan found no such include; this also catches what no scan can.
	if name, err := k.w.outside(k.headers); err != nil {
		return Result{}, fmt.Errorf("clang's dependency list: %w", err)
	} else if name != "" {
		return Result{}, &Error{Compiler: k.f.version, File: r.SourceFile, Message: "error: the source includes " + name + ", which is outside the bundle"}
	}
	if err := k.edit(); err != nil {
		return Result{}, fmt.Errorf("clang's LLVM text: %w", err)
	}
	ptx, err := k.back(ctx)
	if err != nil {
		return Result{}, err
	}
	ptx = asnvcc.Clustered(ptx, k.clusters)
	if err := k.left.needed(ptx, cmp.Or(k.entry, r.Entry)); err != nil {
		return Result{}, err
	}
	return Result{PTX: ptx, Compiler: c.title(k.f) + k.left.note(), Target: k.target, Digest: digest(ptx), Entry: k.entry}, nil
}

// clangFlags are the front end's flags that are the same for all sources. By -nocudainc and -nostdinc only the
// bundle and the device headers are left to include from, and the view makes those the only files there are,
// however an #include is spelled. As to "register" in C++17, nvcc takes it, too.
func clangFlags(f *clang, target, feature string, extra []string) []string {
	args := []string{"-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=" + target}
	if f.major < 15 {
		// --cuda-feature came with 15.
		args = append(args, "-Xclang", "-target-feature", "-Xclang", feature)
	} else {
		args = append(args, "--cuda-feature="+feature)
	}
	args = append(args, "-nocudainc", "-nocudalib", "-nostdinc", "-nostdinc++", "-isystem", deviceMount,
		"-Xclang", "-ivfsoverlay", "-Xclang", "../view.json", "-O3", "-std=c++17", "-Wno-register", "-fno-color-diagnostics")
	args = append(args, lineTables...)
	return append(args, extra...)
}

// clangArgs is the front end's command line, run in src/.
func clangArgs(flags []string, headers mount, main string) []string {
	args := append(slices.Clone(flags), headers.include()...)
	return append(args, "-include", "../macros.h", "-ferror-limit=10", "-MD", "-MF", "../deps.d",
		"-I", ".", "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", "../out.ll", "./"+main)
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
	if !slices.Contains(optimiser, stages.FillByElements) {
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

// NewClangAsNVCC returns a driver of clang whose optimiser is brought nearer to that of nvcc 13.0 where the two
// were seen to differ. It is for machines that have no nvcc: what is tuned is more often built with nvcc than with
// clang. Results say so: "clang 19.1.7 as nvcc".
func NewClangAsNVCC(limits sandbox.Limits) *Clang {
	c := NewClang("", limits)
	c.asNVCC = true
	return c
}
