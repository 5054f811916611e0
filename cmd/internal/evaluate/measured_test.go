package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/warptune/warptune/deploy/calibrate/datasets"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
	"github.com/warptune/warptune/tuner/record"
)

// seeded returns a random generator, and prints the seed that makes it again.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("WARPTUNE_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("WARPTUNE_SEED=%d draws the same", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// kernelSets are the data sets in the checkout that have kernels of their own.
func kernelSets(t *testing.T) (sets []*datasets.Set) {
	t.Helper()
	m, err := datasets.Load("../../../deploy/calibrate/datasets")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Here() {
		if s.Files.Kernels != "" {
			sets = append(sets, s)
		}
	}
	if len(sets) == 0 {
		t.Fatal("no data set of other kernels")
	}
	return sets
}

// Configurations that ran on a GPU are not called wrong: some of each data set, at the default
// depth, and with what they write compared whether or not it is their turn.
func TestMeasuredConfigurationsAreNotCalledWrong(t *testing.T) {
	rng, sets := seeded(t), kernelSets(t)
	each := 1
	if os.Getenv("WARPTUNE_FULL") != "" {
		each = 12
	} else if len(sets) > 8 {
		rng.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
		sets = sets[:8]
	}
	var right, compared int
	for _, s := range sets {
		r, c := measured(t, rng, s, each)
		right, compared = right+r, compared+c
	}
	t.Logf("%d configurations, outputs of %d compared", right, compared)
}

// measured evaluates n records of a set.
func measured(t *testing.T, rng *rand.Rand, set *datasets.Set, n int) (right, compared int) {
	files, done, err := ptxfiles.Open(set.Path(set.Files.PTX))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	f, err := os.Open(set.Path(set.Files.Timings))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, _, err := record.Read(set.Name, f)
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load(set.Arch)
	if err != nil {
		t.Fatal(err)
	}
	kernels := map[string]*kernel.Definition{}
	b := Batch{PTX: files, Arch: d, Level: simengine.Model, Compare: true, Kernels: func(name string) (*kernel.Definition, error) {
		if kernels[name] == nil {
			def, _, err := kernel.Load(filepath.Join(set.Path(set.Files.Kernels), name+".json"))
			if err != nil {
				return nil, err
			}
			kernels[name] = def
		}
		return kernels[name], nil
	}}
	tasks, err := b.tasks(records)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range rng.Perm(len(tasks))[:n] {
		task := &tasks[i]
		out, _, err := New(task.compiler).Evaluate(t.Context(), task.job)
		if err != nil {
			t.Fatal(err)
		}
		if out.Validity != tuner.Correct {
			t.Errorf("%s %s %v: %s: %s", set.Name, task.job.Kernel.Name, task.job.Config, out.Validity, out.Message)
			continue
		}
		right++
		c, err := forced(t.Context(), task)
		if err != nil {
			t.Logf("%s %v: %v", task.job.Kernel.Name, task.job.Config, err)
			continue
		}
		t.Logf("%s %v: %d elements: %s%s", task.job.Kernel.Name, task.job.Config, c.compared, c.text(), c.wrong)
		if c.wrong != "" {
			t.Errorf("%s %s %v: %s", set.Name, task.job.Kernel.Name, task.job.Config, c.wrong)
		}
		if c.compared > 0 {
			compared++
		}
	}
	return right, compared
}

// forced compares what a task's configuration writes whether or not it is its turn.
func forced(ctx context.Context, task *task) (comparison, error) {
	launch, err := task.job.Kernel.Launch(task.job.Config, task.job.Problem)
	if err != nil {
		return comparison{}, err
	}
	a := task.job.Answers
	s, err := a.of(&task.job, task.compiler)
	if err != nil {
		return comparison{}, err
	}
	m, err := s.member(ctx, task.job.Config)
	if err != nil {
		return comparison{}, err
	}
	if m.reason != "" {
		return comparison{}, errors.New(m.reason)
	}
	return s.compare(ctx, task.job.Config, launch, m.outputs)
}
