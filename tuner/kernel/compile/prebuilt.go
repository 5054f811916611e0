package compile

import (
	"context"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
)

// Prebuilt is the driver that answers from the catalogue's embedded PTX. It knows
// a kernel by its source's content, not by its name: an edited copy is another
// kernel and is compiled.
type Prebuilt struct{}

var _ Driver = Prebuilt{}

// Name returns "prebuilt".
func (Prebuilt) Name() string { return "prebuilt" }

// Identify returns "prebuilt": what made the PTX differs from kernel to kernel
// and is in the result.
func (Prebuilt) Identify(context.Context) (string, error) { return "prebuilt", nil }

// Compile looks the source and the macros that matter up. The target is not
// asked for: the PTX says for which it was made (Result.Target).
func (Prebuilt) Compile(_ context.Context, r Request) (Result, error) {
	src, err := readSource(r)
	if err != nil {
		return Result{}, err
	}
	miss := func(reason string) (Result, error) {
		return Result{}, &UnavailableError{Driver: "prebuilt", Reason: reason}
	}
	if r.Language != call.CUDA || len(r.Options) > 0 {
		return miss("only the built-in kernels' own options are prebuilt")
	}
	k, ok := catalogue.BySource(src.Digest)
	if !ok {
		return miss(r.SourceFile + " is not the source of a built-in kernel")
	}
	archive, err := k.Prebuilt()
	if err != nil {
		return Result{}, err
	}
	ptx, ok, err := archive.Find(src.MacroKey())
	if err != nil {
		return Result{}, err
	}
	if !ok {
		return miss("the configuration " + src.MacroKey() + " of " + k.Name + " is not prebuilt")
	}
	sum := digest(ptx)
	if r.Lines {
		if located, ok := k.Located(src.MacroKey()); ok {
			ptx = located
		}
	}
	return Result{PTX: ptx, Compiler: archive.Compiler + " (prebuilt)", Target: archive.Target, Digest: sum}, nil
}

func (p Prebuilt) made(ctx context.Context, r Request) (Result, error) { return p.Compile(ctx, r) }
