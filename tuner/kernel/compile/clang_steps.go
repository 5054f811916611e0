package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile/asnvcc"
	"github.com/warptune/warptune/tuner/kernel/compile/asnvcc/stages"
	"github.com/warptune/warptune/tuner/kernel/compile/dialect"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
	"github.com/warptune/warptune/tuner/kernel/source"
)

// clangEntry has clang instantiate a kernel and say its name in the PTX: a variable's
// initial value in the LLVM text (asnvcc.Entry), which is taken out there.
const clangEntry = "__device__ auto *" + asnvcc.EntryVariable + " = &(%s);"

// compilation is one request on its way through clang: front, edit, back.
type compilation struct {
	c               *Clang
	f               *clang
	r               Request
	w               workdir
	src             *source.Source
	target, feature string
	extra           []string // options as clang spells them
	headers         mount

	left       pruned // by front
	entry      string // the kernel's name in the PTX, by edit
	clusters   []asnvcc.Cluster
	launchable bool
}

// compilation reads a request's source and writes its directory, which the caller removes.
func (c *Clang) compilation(ctx context.Context, r Request) (*compilation, error) {
	if r.Language != call.CUDA {
		return nil, &UnavailableError{Driver: "clang", Reason: r.SourceFile + " is not CUDA C++"}
	}
	f, err := c.find(ctx)
	if err != nil {
		return nil, err
	}
	extra, err := translate(r.Options)
	if err != nil {
		return nil, &Error{Compiler: f.version, File: r.SourceFile, Message: err.Error()}
	}
	src, err := readSource(r)
	if err != nil {
		return nil, err
	}
	dialect.AlignShared(src)
	dialect.EscapeRegisters(src)
	if c.asNVCC {
		dialect.Pragmas(src)
	}
	addTail(src, r, clangEntry)
	k := &compilation{c: c, f: f, r: r, src: src, extra: extra, launchable: true}
	k.target, k.feature = f.target(featured(r.Target, src))
	if k.w, err = newWorkdir(src); err != nil {
		return nil, err
	}
	if k.headers, err = c.mount(ctx, k.w, f, k.flags()); err != nil {
		k.w.remove()
		return nil, fmt.Errorf("device headers: %w", err)
	}
	return k, nil
}

// flags are the front end's that the device headers depend on, too.
func (k *compilation) flags() []string {
	// Warnings tell of macros that the source redefines.
	options := slices.DeleteFunc(slices.Clone(k.extra), func(o string) bool { return o == "-w" })
	if k.c.asNVCC {
		options = append(options, stages.SharedIn32Bits...)
	}
	return clangFlags(k.f, k.target, k.feature, options)
}

// front runs the front end, which writes out.ll, in nvcc's place without the pragmas that clang refuses and
// nvcc does not, and without what it refuses beside the kernel.
func (k *compilation) front(ctx context.Context) error {
	args := k.frontArgs()
	warnings, err := k.step(ctx, args)
	if own := (*Error)(nil); errors.As(err, &own) && k.headers.refused(own.Message) {
		k.withoutPrecompiled()
		args = k.frontArgs()
		warnings, err = k.step(ctx, args)
	}
	for own := (*Error)(nil); k.c.asNVCC && errors.As(err, &own) && dialect.DropUnrolls(own.Message, k.src.Files); {
		if err := k.w.writeSources(k.src); err != nil {
			return err
		}
		warnings, err = k.step(ctx, args)
	}
	if own := (*Error)(nil); errors.As(err, &own) && own.Message != "" {
		warnings, err = k.prune(ctx, args, own)
	}
	if err != nil {
		return err
	}
	if message := redefined(warnings, k.r.Fixed, k.src); message != "" {
		return &Error{Compiler: k.f.version, File: k.r.SourceFile, Message: message}
	}
	return nil
}

// frontArgs is the front end's command line.
func (k *compilation) frontArgs() []string { return clangArgs(k.flags(), k.headers, k.src.Main) }

// step runs the compiler on a source file once. It takes two: the front end's and the rest, for
// what asnvcc.VectorCopies does between them, and in nvcc's place a third, for asnvcc.Optimised.
func (k *compilation) step(ctx context.Context, args []string) (warnings string, err error) {
	e, err := sandbox.Run(ctx, k.c.limits, sandbox.NewWall(string(k.w), k.f.program).Grant(k.headers.dir), k.w.path("src"), k.f.program, args...)
	if err == nil && (e.Code != 0 || e.Killed != "") {
		err = &Error{Compiler: k.f.version, File: k.r.SourceFile, Message: e.Diagnosis(k.w.named()...)}
	}
	return e.Message, err
}

// edit rewrites what the front end wrote.
func (k *compilation) edit() error {
	return k.w.rewrite("out.ll", func(ir []byte) []byte {
		ir, k.entry = asnvcc.Entry(ir)
		ir, k.clusters = asnvcc.Launch(ir, k.f.major)
		if asnvcc.Unlaunchable(ir, cmp.Or(k.entry, k.r.Entry)) {
			k.launchable = false
			ir = asnvcc.WithoutLoops(ir)
		}
		if k.c.asNVCC {
			return asnvcc.Front(ir, k.f.major)
		}
		ir, lines := asnvcc.TakeLines(ir)
		return lines.Put(asnvcc.VectorCopies(ir))
	})
}

// back makes PTX of out.ll.
func (k *compilation) back(ctx context.Context) ([]byte, error) {
	switch {
	case !k.launchable: // that it names so much is all that is asked of it
		return k.finish(ctx, slices.Concat(k.command("-fno-unroll-loops"), finished))
	case !k.c.asNVCC:
		return k.finish(ctx, slices.Concat(k.command(), finished))
	}
	return stages.Finish(func(optimiser ...string) ([]byte, error) {
		if _, err := k.step(ctx, slices.Concat(k.command(optimiser...), optimised)); err != nil {
			return nil, err
		}
		if err := k.w.rewrite("optimised.ll", asnvcc.Optimised); err != nil {
			return nil, fmt.Errorf("clang's LLVM text: %w", err)
		}
		return stages.Assemble(func(further ...string) ([]byte, error) {
			return k.finish(ctx, slices.Concat(k.command(slices.Concat(optimiser, further)...), assembled))
		})
	}, func(err error) bool { return errors.As(err, new(*Error)) })
}

func (k *compilation) command(optimiser ...string) []string {
	return clangFinish(k.target, k.feature, k.extra, optimiser)
}

// finish runs a last step and reads the PTX.
func (k *compilation) finish(ctx context.Context, args []string) ([]byte, error) {
	if _, err := k.step(ctx, args); err != nil {
		return nil, err
	}
	ptx, err := k.w.output()
	if err != nil {
		return nil, fmt.Errorf("read clang's output: %w", err)
	}
	return asnvcc.PlainLines(ptx, k.w.path("src")), nil
}
