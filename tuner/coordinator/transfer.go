package coordinator

import (
	"cmp"
	"context"
	"slices"

	"github.com/warptune/warptune/search/seeded"
	"github.com/warptune/warptune/tuner"
)

// otherArch is how far another architecture is, beside problem sizes, whose
// distance is the logarithm to base 2.
const otherArch = 1

// transferred returns the configurations that the sweep of a spec is to begin
// with, nearest first: those of the sweep of that identity if there is one
// already, else the best that is stored of other problems and architectures. It
// is a help: what cannot be read is left out.
func (c *Coordinator) transferred(ctx context.Context, spec *tuner.Spec, id string) []string {
	if !spec.Transfer {
		return nil
	}
	if s, ok := c.board.get(id); ok {
		return s.Transferred
	}
	var out []string
	for _, s := range c.nearest(spec) {
		top, _, err := c.Top(ctx, s.ID, seeded.Best)
		if err != nil {
			c.log.Warn("the best of a sweep are not taken over", "sweep", s.ID, "error", err)
			continue
		}
		space, err := c.Space(ctx, s.Num)
		if err != nil { // its kernel or strategy is of another version, say
			c.log.Warn("the best of a sweep are not taken over", "sweep", s.ID, "error", err)
			continue
		}
		for i := range top {
			if top[i].Outcome.Validity != tuner.Correct || top[i].Index >= space.Size() {
				continue
			}
			if text := space.At(top[i].Index).String(); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// nearest returns sweeps of a spec's kernel at other problem sizes and on other
// architectures that found something, nearest first; of each size and architecture the
// one that evaluated most, of equals the newest. What is known at the spec's own is no
// guess: it is answered from the store.
func (c *Coordinator) nearest(spec *tuner.Spec) []tuner.Sweep {
	sweeps := slices.DeleteFunc(c.board.all(), func(s tuner.Sweep) bool {
		return s.Spec.Kernel != spec.Kernel || samePlace(&s.Spec, spec) || s.Best == nil || s.State == tuner.Deleting
	})
	away := func(s *tuner.Sweep) float64 {
		d := distance(s.Spec.Problem, spec.Problem)
		if s.Spec.Arch != spec.Arch {
			d += otherArch
		}
		return d
	}
	slices.SortStableFunc(sweeps, func(a, b tuner.Sweep) int {
		return cmp.Or(cmp.Compare(away(&a), away(&b)), cmp.Compare(b.Counts.Done, a.Counts.Done), cmp.Compare(b.Num, a.Num))
	})
	var out []tuner.Sweep
	for _, s := range sweeps {
		if len(out) < seeded.Sources && !slices.ContainsFunc(out, func(o tuner.Sweep) bool { return samePlace(&o.Spec, &s.Spec) }) {
			out = append(out, s)
		}
	}
	return out
}

// samePlace says whether two specs are of one problem size and architecture.
func samePlace(a, b *tuner.Spec) bool { return a.Arch == b.Arch && slices.Equal(a.Problem, b.Problem) }
