package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/warptune/warptune/cmd/internal/measure/wire"
)

// Assembler makes machine code of PTX: ptxas, as nvcc does, or the driver's compiler.
// They are of different versions of CUDA more often than not, and so is their code.
type Assembler struct {
	path string // of ptxas; "": the driver's
	Name string // e.g. "ptxas 13.0.88" or "the driver's compiler of CUDA 13.0"
}

// Choices of an assembler, for flags.
const (
	AssemblerAny    = ""
	AssemblerPtxas  = "ptxas"
	AssemblerDriver = "driver"
)

var ptxasRelease = regexp.MustCompile(`V(\d+\.\d+\.\d+)`)

// NewAssembler finds the assembler that is asked for: ptxas if there is one, else the driver's.
func NewAssembler(ctx context.Context, choice string, d *wire.Device) (*Assembler, error) {
	driver := &Assembler{Name: fmt.Sprintf("the driver's compiler of CUDA %d.%d", d.CUDA/1000, d.CUDA%1000/10)}
	if choice == AssemblerDriver {
		return driver, nil
	}
	path := choice
	if choice == AssemblerAny || choice == AssemblerPtxas {
		path = findPtxas()
	}
	if path == "" && choice == AssemblerPtxas {
		return nil, errors.New("there is no ptxas in PATH, in CUDA_HOME/bin or in /usr/local/cuda/bin: install the CUDA toolkit, or take the driver's compiler by --assembler driver")
	} else if path == "" {
		return driver, nil
	}
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	release := ptxasRelease.FindSubmatch(out)
	if err != nil || release == nil {
		return nil, fmt.Errorf("%s --version: %v: %.200s", path, err, out)
	}
	return &Assembler{path: path, Name: "ptxas " + string(release[1])}, nil
}

func findPtxas() string {
	if path, err := exec.LookPath("ptxas"); err == nil {
		return path
	}
	for _, dir := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda"} {
		path := filepath.Join(dir, "bin", "ptxas")
		if info, err := os.Stat(path); dir != "" && err == nil && !info.IsDir() {
			return path
		}
	}
	return ""
}

// Assembled is code to load.
type Assembled struct {
	Image        []byte
	MaxRegisters int // for whoever loads it: the driver's compiler
	SpillBytes   int // a thread, stored; -1: not known
}

// RefusedPTXError is that the assembler refuses the PTX.
type RefusedPTXError struct{ Message string }

func (e *RefusedPTXError) Error() string { return e.Message }

var (
	ptxTarget = regexp.MustCompile(`(?m)^\s*\.target\s+(sm_\d+[af])\b`)
	spills    = regexp.MustCompile(`(\d+) bytes spill stores`)
)

// Assemble makes code for a GPU of compute capability cc. The driver's compiler is left
// to whoever loads what this returns. A *RefusedPTXError is the configuration's own.
func (a *Assembler) Assemble(ctx context.Context, ptx []byte, maxRegisters int, cc [2]int) (*Assembled, error) {
	if a.path == "" {
		return &Assembled{ptx, maxRegisters, -1}, nil
	}
	dir, err := os.MkdirTemp("", "warptune-ptxas-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "kernel.ptx"), filepath.Join(dir, "kernel.cubin")
	if err := os.WriteFile(in, ptx, 0o600); err != nil {
		return nil, err
	}
	target := fmt.Sprintf("sm_%d%d", cc[0], cc[1])
	if t := ptxTarget.FindSubmatch(ptx); t != nil {
		target = string(t[1]) // of one architecture or family only
	}
	args := []string{"-v", "-arch=" + target, "-o", out, in}
	if maxRegisters > 0 {
		args = append(args, "-maxrregcount="+strconv.Itoa(maxRegisters))
	}
	said, err := exec.CommandContext(ctx, a.path, args...).CombinedOutput()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, &RefusedPTXError{a.Name + ": " + strings.Join(strings.Fields(strings.ReplaceAll(string(said), dir+string(filepath.Separator), "")), " ")}
	} else if err != nil {
		return nil, err
	}
	image, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	code := &Assembled{Image: image, SpillBytes: 0}
	for _, m := range spills.FindAllSubmatch(said, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		code.SpillBytes = max(code.SpillBytes, n)
	}
	return code, nil
}
