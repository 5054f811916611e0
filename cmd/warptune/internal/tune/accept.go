package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/rpc"
)

// accept looks for unfinished sweeps of the plan's kernels whose definition has been
// changed since. Unless that is accepted, an error says what has changed; where it
// is, those sweeps are cancelled, since the plan's are in their place.
func (t *tuning) accept(ctx context.Context, c *connect.Client) error {
	if c.Embedded == nil && !c.Beside {
		return nil // sweeps of others, and sweeps that go on without whoever submitted them
	}
	for i, spec := range t.plan.Specs {
		old, err := superseded(ctx, c, spec)
		if err != nil {
			return err
		}
		for _, s := range old {
			ch, err := changedSince(ctx, c, s, t.plan.Of[i].Def, spec)
			if err != nil {
				return err
			}
			if ch.other {
				continue
			}
			if !t.accepted {
				return fmt.Errorf("%s\n\"--accept\" tunes what the definition is now, with the results of configurations that stay, and cancels that sweep; "+
					"with the definition of before, the same command goes on with it", ch)
			}
			fmt.Fprintf(t.Stderr, "warptune: %s\n", ch)
			if _, err := c.Cancel(ctx, &warptunev1.CancelRequest{Id: s.GetId()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// superseded are the unfinished sweeps of a spec's kernel, architecture and problem
// size that are of another definition, and that nobody works on.
func superseded(ctx context.Context, c *connect.Client, spec *warptunev1.Spec) ([]*warptunev1.Sweep, error) {
	var out []*warptunev1.Sweep
	req := &warptunev1.ListRequest{Kernel: spec.GetKernel(), Arch: spec.GetArch()}
	for {
		r, err := c.List(ctx, req)
		if err != nil {
			return nil, err
		}
		for _, s := range r.GetSweeps() {
			of := s.GetSpec()
			if !message.Ended(s) && s.GetWorkers() == 0 && of.GetBundle() != spec.GetBundle() && slices.Equal(of.GetProblem(), spec.GetProblem()) && message.LastLevel(of) == message.LastLevel(spec) {
				out = append(out, s)
			}
		}
		if req.PageToken = r.GetNextPageToken(); req.PageToken == "" {
			return out, nil
		}
	}
}

// change is in what a kernel's definition differs from that of an unfinished sweep.
type change struct {
	sweep   *warptunev1.Sweep
	other   bool     // it is another kernel of the name, or one whose definition is the same where it matters
	parts   []string // that differ
	compare *comparison
}

// comparison is in what configurations two spaces differ.
type comparison struct {
	added, removed, stay int64
	first, gone          string // one that was added, and one that was removed
}

// mostCompared is how many configurations are compared one by one.
const mostCompared = 1_000_000

func changedSince(ctx context.Context, c *connect.Client, s *warptunev1.Sweep, def *kernel.Definition, spec *warptunev1.Spec) (*change, error) {
	bundle, err := fetchBundle(ctx, c, s.GetSpec().GetBundle())
	if err != nil {
		return nil, err
	}
	was, _, err := kernel.OpenBundle(bundle)
	if err != nil {
		return nil, err
	}
	before, err1 := was.Parts()
	now, err2 := def.Parts()
	if err := cmp.Or(err1, err2); err != nil {
		return nil, err
	}
	ch := &change{sweep: s, parts: tuner.Parts(before).Changed(now)}
	if ch.other = len(ch.parts) == 0 || slices.Contains(ch.parts, tuner.PartFunction); ch.other {
		return ch, nil
	}
	set := func(spec *warptunev1.Spec) map[string][]string {
		of := rpc.ToSpec(spec)
		return of.Set
	}
	old, err1 := was.SpaceUntil(s.GetSpec().GetProblem(), set(s.GetSpec()), ctx.Err)
	fresh, err2 := def.SpaceUntil(spec.GetProblem(), set(spec), ctx.Err)
	if err := cmp.Or(err1, err2); err != nil {
		return nil, err
	}
	if max(old.Size(), fresh.Size()) <= mostCompared {
		ch.compare = compareSpaces(old, fresh)
	}
	return ch, nil
}

// fetchBundle reads a bundle that is stored.
func fetchBundle(ctx context.Context, c *connect.Client, digest string) ([]byte, error) {
	stream, err := warptunev1.NewWorkerServiceClient(c.Raw).GetBundle(ctx, &warptunev1.GetBundleRequest{Digest: digest})
	var bundle []byte
	for err == nil {
		var m *warptunev1.GetBundleResponse
		if m, err = stream.Recv(); err == nil {
			bundle = append(bundle, m.GetChunk()...)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return bundle, nil
}

// compareSpaces compares the configurations of two spaces, whatever the order of their
// parameters.
func compareSpaces(old, fresh *search.Space) *comparison {
	var c comparison
	for _, config := range fresh.All() {
		if _, ok := old.IndexOf(config); ok {
			c.stay++
		} else if c.added++; c.added == 1 {
			c.first = config.String()
		}
	}
	if c.removed = old.Size() - c.stay; c.removed > 0 {
		for _, config := range old.All() {
			if _, ok := fresh.IndexOf(config); !ok {
				c.gone = config.String()
				break
			}
		}
	}
	return &c
}

// String says what has changed.
func (ch *change) String() string {
	text := fmt.Sprintf("sweep %s of %s is unfinished, and the definition has changed since it was begun: %s",
		cli.ShortID(ch.sweep.GetId()), message.Target(ch.sweep.GetSpec()), strings.Join(ch.parts, ", "))
	c := ch.compare
	if c == nil {
		return text + fmt.Sprintf("; of more than %d configurations it is not said which are added and removed", mostCompared)
	}
	text += fmt.Sprintf("; configurations: %d stay, %d are added", c.stay, c.added)
	if c.added > 0 {
		text += " (" + c.first + moreText(c.added) + ")"
	}
	text += fmt.Sprintf(", %d are removed", c.removed)
	if c.removed > 0 {
		text += " (" + c.gone + moreText(c.removed) + ")"
	}
	return text
}

// moreText follows the first of n.
func moreText(n int64) string {
	if n > 1 {
		return ", …"
	}
	return ""
}
