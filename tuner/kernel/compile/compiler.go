package compile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// Options say how a Compiler chooses and where it remembers. The zero value works:
// first driver that can, default limits, the user's cache directory.
type Options struct {
	// Compiler is "" (given, prebuilt, nvcc, clang as nvcc, the first that can), "prebuilt",
	// "nvcc", "clang" as it is, or one program's name or path, e.g. "clang++-16"; and WithPTXAS behind it.
	Compiler string
	// CacheDir holds compiled PTX; "": warptune/ptx in the user's cache directory,
	// "-": none.
	CacheDir string
	Limits   sandbox.Limits // zero: DefaultLimits
}

// WithPTXAS is the end of a choice that takes registers, spills and static shared memory from ptxas, as in "nvcc+ptxas".
const WithPTXAS = "+ptxas"

// plainChoice are the drivers, and names of compilers for PATH to find.
var plainChoice = regexp.MustCompile(`^((prebuilt|nvcc|clang|clang\+\+)?|(nvcc|clang|clang\+\+)-[0-9]{1,3})$`)

// CheckChoice says why somebody else must not choose a compiler, nil if they may:
// it is a driver's or a compiler's plain name. By a path they would have any
// program run that is somewhere to be found.
func CheckChoice(compiler string) error {
	compiler = strings.TrimSuffix(compiler, WithPTXAS)
	if plainChoice.MatchString(compiler) {
		return nil
	}
	return fmt.Errorf("compiler %.80q: a sweep for others names prebuilt, nvcc, clang, or one such as clang++-19, which each worker finds in its PATH", compiler)
}

// Compiler compiles with the first driver that can. It is safe for concurrent use.
type Compiler struct {
	drivers []Driver
	choice  string
	ptxas   *PTXAS
}

// New returns a compiler. The only errors are an unknown Options.Compiler and no
// place for the cache; whether a compiler is installed shows when one is needed.
func New(o Options) (*Compiler, error) {
	if o.Limits == (sandbox.Limits{}) {
		o.Limits = sandbox.DefaultLimits()
	}
	dir := o.CacheDir
	if dir == "" {
		var err error
		if dir, err = DefaultCacheDir(); err != nil {
			return nil, err
		}
	} else if dir == "-" {
		dir = ""
	}
	var ptxas *PTXAS
	if choice, with := strings.CutSuffix(o.Compiler, WithPTXAS); with {
		o.Compiler, ptxas = choice, NewPTXAS("", dir, o.Limits)
	}
	cached := func(d Driver) Driver { return NewCached(d, dir) }
	// PTX given needs no compiler, whichever is chosen.
	drivers := []Driver{Given{}}
	program := filepath.Base(o.Compiler)
	switch {
	case o.Compiler == "":
		drivers = append(drivers, Prebuilt{}, cached(NewNVCC("", o.Limits)), cached(NewClangAsNVCC(o.Limits).KeepHeaders(dir)))
	case o.Compiler == "prebuilt":
		drivers = append(drivers, Prebuilt{})
	case o.Compiler == "nvcc":
		drivers = append(drivers, cached(NewNVCC("", o.Limits)))
	case o.Compiler == "clang":
		drivers = append(drivers, cached(NewClang("", o.Limits).KeepHeaders(dir)))
	case strings.HasPrefix(program, "nvcc"):
		drivers = append(drivers, cached(NewNVCC(o.Compiler, o.Limits)))
	case strings.HasPrefix(program, "clang"):
		drivers = append(drivers, cached(NewClang(strings.Replace(o.Compiler, "clang-", "clang++-", 1), o.Limits).KeepHeaders(dir)))
	default:
		return nil, fmt.Errorf("compiler %q: use prebuilt, nvcc, clang, or a program such as clang++-19", o.Compiler)
	}
	return &Compiler{drivers: drivers, choice: o.Compiler, ptxas: ptxas}, nil
}

// Assembler is what says the registers; nil: nothing does.
func (c *Compiler) Assembler() *PTXAS { return c.ptxas }

// Of returns a compiler that tries the drivers in order, without caches of its own.
func Of(drivers ...Driver) *Compiler { return &Compiler{drivers: drivers} }

// Compile gives the PTX of a request. An *Error is the configuration's outcome;
// an *UnavailableError says what to install; other errors are the machine's.
func (c *Compiler) Compile(ctx context.Context, r Request) (Result, error) {
	var recorded *kernel.RecordedError
	if errors.As(r.Missing, &recorded) {
		return Result{}, &Error{Compiler: "the launch record's compiler", File: r.SourceFile, Message: recorded.Message}
	}
	if r.Missing != nil {
		return Result{}, &Error{Compiler: "no compiler", File: r.SourceFile, Message: r.Missing.Error()}
	}
	var reasons []string
	var last *UnavailableError
	for _, d := range c.drivers {
		res, err := d.Compile(ctx, r)
		var u *UnavailableError
		if errors.As(err, &u) {
			last = u
			if d.Name() != "given" {
				reasons = append(reasons, u.Driver+": "+u.Reason)
			}
			continue
		}
		return res, err
	}
	if last == nil {
		return Result{}, errors.New("no compile driver")
	}
	u := &UnavailableError{Driver: "compile " + r.SourceFile, Reason: strings.Join(reasons, "; "), Need: last.Need}
	if u.Need == "" && c.choice == "prebuilt" {
		u.Need = "leave --compiler prebuilt out to compile it"
	}
	return Result{}, u
}

// Made gives the PTX of a request if it is there: given, prebuilt, or remembered.
// No compiler runs for it.
func (c *Compiler) Made(ctx context.Context, r Request) (Result, bool) {
	for _, d := range c.drivers {
		m, ok := d.(maker)
		if !ok {
			return Result{}, false
		}
		res, err := m.made(ctx, r)
		var u *UnavailableError
		if errors.As(err, &u) {
			continue // another serves it
		}
		return res, err == nil
	}
	return Result{}, false
}
