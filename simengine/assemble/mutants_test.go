package assemble

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/hir/opt"
	"github.com/warptune/warptune/simengine/assemble/target"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// TestMutantsAssemble: kernels that compilers made, with some lines taken away, moved, doubled
// or given other operands, assemble to programs that hold what every pass promises, as far as
// they are kernels at all.
func TestMutantsAssemble(t *testing.T) {
	const seed = 20
	rounds := 3000
	if testing.Short() {
		rounds = 600
	}
	verifying = true
	defer func() { verifying = false }()
	texts := smallKernels(t, 14_000)
	accepted, failed := 0, 0
	for round := 0; round < rounds && failed < 5; round++ {
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		text := ptxtest.Mutate(r, texts[r.IntN(len(texts))])
		o := Options{CC: [][2]int{hopper.CC, {7, 5}, {8, 0}, {8, 6}}[r.IntN(4)], MaxRegisters: 32 * r.IntN(2)}
		ok, err := assembleMutant(text, o)
		if ok {
			accepted++
		}
		if err != nil {
			failed++
			t.Errorf("seed %d round %d, %+v: %v\n%s", seed, round, o, err, text)
		}
	}
	if failed == 0 && accepted < rounds/3 {
		t.Errorf("%d mutants of %d were kernels: too few to tell", accepted, rounds)
	}
}

// assembleMutant says whether a text is a kernel, and what is wrong with its program.
func assembleMutant(text string, o Options) (ok bool, err error) {
	k := ptxtest.Build(text)
	if k == nil {
		return false, nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if _, err = Assemble(k, o); err == nil {
		err = selectEveryWay(k, o.CC)
	}
	var older *target.TensorError
	if errors.As(err, &older) {
		return true, nil
	}
	if err != nil && strings.Contains(err.Error(), "read before it is written") && readsUnwritten(k) {
		err = nil // as the mutant does
	}
	return true, err
}

// selectEveryWay selects the instructions of a kernel with more and more of its values rematerialised, also as for one
// architecture alone, and with warpgroup MMAs one after another, whether or not its registers ask for it.
func selectEveryWay(k *ir.Kernel, cc [2]int) error {
	t, err := target.For(cc)
	for _, specific := range []bool{false, true} {
		if err != nil {
			break
		}
		t.Specific = specific
		var base *unit
		base, err = prepared(k, t, new(Workspace))
		for remat := 0; err == nil && remat <= opt.RematLimit; remat += 1 + remat {
			for _, serial := range []bool{false, true} {
				if _, err = base.selected(remat, serial); err != nil {
					return fmt.Errorf("specific %v, rematerialised %d, serial %v: %w", specific, remat, serial, err)
				}
			}
		}
	}
	return err
}

// readsUnwritten says whether a path through a kernel reads a register that nothing wrote.
func readsUnwritten(k *ir.Kernel) bool {
	return slices.ContainsFunc(k.Liveness().In[0], func(w uint64) bool { return w != 0 })
}

// smallKernels are the data sets' PTX of up to so many bytes.
func smallKernels(t *testing.T, most int) (texts []string) {
	t.Helper()
	c := openCorpus(t, measuredArchives(t)...)
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		if text := c.Text(t, name); len(text) <= most {
			texts = append(texts, string(text))
		}
	}
	return texts
}
