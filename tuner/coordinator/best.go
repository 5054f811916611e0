package coordinator

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/warptune/warptune/tuner"
)

// Match says by which rule Best found its answer. The zero value is invalid.
type Match uint8

// Rules of Best, in the order they are tried.
const (
	MatchInvalid      Match = iota
	MatchExact              // kernel, architecture and problem are as asked
	MatchOtherProblem       // the nearest problem on the same architecture
	MatchOtherArch          // another architecture of the same compute capability
)

// String returns the rule in words.
func (m Match) String() string {
	return [...]string{"invalid", "exact", "other problem size", "other architecture of the same compute capability"}[m%4]
}

// BestQuery asks for the best that is known of a kernel.
type BestQuery struct {
	Kernel, Arch string
	ArchDigest   string   // "": any descriptor of that name
	Problem      []int64  // nil: any
	Similar      []string // architectures to look at when Arch has nothing, nearest first
	// Bundle is the digest of the definition's bundle; "": any definition of a kernel
	// of that name.
	Bundle string
	// Parts are the definition's (Options.Parts).
	Parts tuner.Parts
}

// BestAnswer is the best known, and how it was found.
type BestAnswer struct {
	tuner.Best
	Match Match
	// Changed are the parts of the definition, and the descriptor, that are others
	// than those asked for. nil: none.
	Changed []string
	// Damaged are how many records are that might have known of a better one.
	Damaged int64
}

// descriptorPart is the descriptor's name among the parts that changed.
const descriptorPart = "the architecture descriptor"

// mostDefinitions is how many definitions of one name are compared with the one
// asked for, those of the newest sweeps.
const mostDefinitions = 32

// Best returns the best configuration known for a definition, architecture and problem, or the nearest there is:
// that of the nearest problem, then that of one of the similar architectures. Only where nothing is known of the
// definition asked for is it that of another one of the same function, with what has changed. Another kernel of the
// same name is no answer.
func (c *Coordinator) Best(_ context.Context, q BestQuery) (BestAnswer, error) {
	all, lost, err := c.candidates(&q)
	if err != nil {
		return BestAnswer{}, err
	}
	known, other, err := c.definitions(&q, all)
	if err != nil {
		return BestAnswer{}, err
	}
	best := -1
	for i := range all {
		if _, ok := known[all[i].Spec.Bundle]; ok && (best < 0 || q.nearer(&all[i], &all[best], known)) {
			best = i
		}
	}
	if best < 0 && lost > 0 {
		return BestAnswer{}, tuner.Errorf(tuner.Damaged, "find best", "%d records are damaged in the database, and no other knows of it: \"warptune doctor\" looks through it, and a backup has it all", lost)
	} else if best < 0 {
		return BestAnswer{}, noBest(&q, other)
	}
	spec := &all[best].Spec
	same := slices.DeleteFunc(slices.Clone(all), func(b tuner.Best) bool {
		return b.Spec.Bundle != spec.Bundle || b.Spec.Arch != spec.Arch || b.Spec.ArchDigest != spec.ArchDigest || !slices.Equal(b.Spec.Problem, spec.Problem)
	})
	out := BestAnswer{Best: tuner.Stands(same), Match: MatchExact, Damaged: lost, Changed: known[spec.Bundle]}
	switch {
	case spec.Arch != q.Arch:
		out.Match = MatchOtherArch
	case len(q.Problem) > 0 && !slices.Equal(spec.Problem, q.Problem):
		out.Match = MatchOtherProblem
	}
	if q.otherDescriptor(spec) {
		out.Changed = append(slices.Clone(out.Changed), descriptorPart)
	}
	if s, ok := c.board.number(out.Sweep); ok {
		out.Missing = s.Counts.Abandoned
	}
	return out, nil
}

// candidates are the bests of all sweeps of the kernel on the architectures asked for;
// lost counts the records that are damaged.
func (c *Coordinator) candidates(q *BestQuery) (all []tuner.Best, lost int64, err error) {
	lost = int64(len(c.Damaged()))
	seen := map[uint64]bool{}
	c.board.before(math.MaxUint64, func(s *tuner.Sweep) bool {
		if s.Spec.Kernel != q.Kernel || q.archRank(s.Spec.Arch) < 0 {
			return true
		}
		if b, ok := tuner.BestOf(s); ok {
			seen[s.Num] = true
			all = append(all, b)
		}
		return true
	})
	for _, a := range append([]string{q.Arch}, q.Similar...) { // records of old do not have all of it
		stored, damaged, err := c.store.Bests(q.Kernel, a)
		if err != nil {
			return nil, 0, err
		}
		lost += damaged
		for i := range stored {
			if !seen[stored[i].Sweep] {
				all = append(all, stored[i])
			}
		}
	}
	slices.SortStableFunc(all, func(a, b tuner.Best) int { return cmp.Compare(b.Sweep, a.Sweep) })
	return all, lost, nil
}

// definitions returns, by the bundles of candidates, what of the definition asked for is different there, for those
// of the same function. The result other names a function of the kernel's name that is not the one asked for; "":
// there is none.
func (c *Coordinator) definitions(q *BestQuery, all []tuner.Best) (known map[string][]string, other string, err error) {
	known = map[string][]string{}
	looked := map[string]bool{}
	for i := range all {
		digest := all[i].Spec.Bundle
		if q.Bundle == "" || digest == q.Bundle {
			known[digest] = nil
			continue
		}
		if looked[digest] || len(looked) == mostDefinitions || c.opts.Parts == nil {
			continue
		}
		looked[digest] = true
		parts, err := c.partsOf(digest)
		if err != nil {
			return nil, "", err
		}
		if parts == nil {
			continue
		}
		if parts[tuner.PartFunction] != q.Parts[tuner.PartFunction] {
			other = parts[tuner.PartFunction]
			continue
		}
		known[digest] = q.Parts.Changed(parts)
	}
	return known, other, nil
}

// maxParts is how many definitions' parts are kept.
const maxParts = 256

// partsOf returns what a stored definition consists of; nil: this version cannot read
// it.
func (c *Coordinator) partsOf(digest string) (tuner.Parts, error) {
	c.partsMu.Lock()
	defer c.partsMu.Unlock()
	if parts, ok := c.parts[digest]; ok {
		return parts, nil
	}
	content, err := c.store.Bundle(digest)
	if err != nil {
		return nil, err
	}
	parts, err := c.opts.Parts(content)
	if err != nil {
		c.log.Warn("a stored definition could not be read", "bundle", digest, "error", err)
		parts = nil
	}
	if c.parts == nil || len(c.parts) >= maxParts {
		c.parts = map[string]tuner.Parts{}
	}
	c.parts[digest] = parts
	return parts, nil
}

// archRank is how near an architecture is to the one asked for, 0 for that one; -1: it
// is not asked for.
func (q *BestQuery) archRank(name string) int {
	if name == q.Arch {
		return 0
	}
	if i := slices.Index(q.Similar, name); i >= 0 {
		return i + 1
	}
	return -1
}

func (q *BestQuery) otherDescriptor(s *tuner.Spec) bool {
	return s.Arch == q.Arch && q.ArchDigest != "" && s.ArchDigest != q.ArchDigest
}

// nearer reports whether a is nearer to what is asked for than b, of which changed
// says by bundle what is different: first the definition, then the architecture, the
// problem and the descriptor; of equals the later sweep.
func (q *BestQuery) nearer(a, b *tuner.Best, changed map[string][]string) bool {
	order := func(x *tuner.Best) (int, int, int) {
		other, descriptor := 0, 0
		if len(changed[x.Spec.Bundle]) > 0 {
			other = 1
		}
		if q.otherDescriptor(&x.Spec) {
			descriptor = 1
		}
		return other, q.archRank(x.Spec.Arch), descriptor
	}
	ao, aa, ad := order(a)
	bo, ba, bd := order(b)
	return cmp.Or(cmp.Compare(ao, bo), cmp.Compare(aa, ba), compareNearness(a.Spec.Problem, b.Spec.Problem, q.Problem),
		cmp.Compare(ad, bd), cmp.Compare(b.Sweep, a.Sweep)) < 0
}

// noBest says that nothing is known, and of which other kernel something is.
func noBest(q *BestQuery, other string) error {
	const op = "find best"
	if other != "" {
		return tuner.Errorf(tuner.NotFound, op, "no correct result is stored for this definition of %q on %s: what is stored under that name is of another kernel, function %s instead of %s",
			q.Kernel, q.Arch, other, q.Parts[tuner.PartFunction])
	}
	return tuner.Errorf(tuner.NotFound, op, "no correct result is stored for kernel %q on %s", q.Kernel, q.Arch)
}

// compareNearness orders problems by their distance from want, then by size.
func compareNearness(a, b, want []int64) int {
	return cmp.Or(cmp.Compare(distance(a, want), distance(b, want)), slices.Compare(a, b))
}

// distance is the sum over dimensions of |log2(a/b)|; a missing dimension
// counts as size 1, and 0 as a half.
func distance(a, b []int64) float64 {
	if len(b) == 0 {
		return 0
	}
	d := 0.0
	for i := range max(len(a), len(b)) {
		x, y := int64(1), int64(1)
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		d += math.Abs(math.Log2(max(float64(x), 0.5)) - math.Log2(max(float64(y), 0.5)))
	}
	return d
}
