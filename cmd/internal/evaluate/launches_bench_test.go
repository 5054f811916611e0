package evaluate

import (
	"math/rand/v2"
	"os"
	"sort"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
	"github.com/warptune/warptune/tuner/record"
)

// Launch records of kernels with Hopper's own instructions on one core, a sample of a fixed seed of those
// that lie beside the checkout. Each has PTX of its own, so that each pays for parsing and assembly.
func BenchmarkLaunches(b *testing.B) {
	const folder, sample, seed = "../../../../shared/hopper/h100/", 60, 1
	f, err := os.Open(folder + "launches.jsonl.gz")
	if err != nil {
		b.Skip("no such launch records: ", err)
	}
	defer f.Close()
	records, _, err := record.Read(f.Name(), f)
	if err != nil {
		b.Fatal(err)
	}
	drawn := make([]record.Record, sample)
	picked := rand.New(rand.NewPCG(seed, 0)).Perm(len(records))[:sample]
	sort.Ints(picked)
	for i, at := range picked {
		drawn[i] = records[at]
	}
	ptx, done, err := ptxfiles.Open(folder + "ptx.zip")
	if err != nil {
		b.Fatal(err)
	}
	defer done()
	for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
		b.Run(level.String(), func(b *testing.B) {
			d, err := arch.Load("h100")
			if err != nil {
				b.Fatal(err)
			}
			compiler, err := compile.New(compile.Options{Compiler: "prebuilt", CacheDir: "-"})
			if err != nil {
				b.Fatal(err)
			}
			launches, err := Launches(drawn)
			if err != nil {
				b.Fatal(err)
			}
			batch := Batch{Compiler: compiler, PTX: ptx, Launches: launches, Arch: d, Level: level, Slots: 1}
			var costs costs
			for b.Loop() {
				results, err := batch.Run(b.Context(), drawn)
				if err != nil {
					b.Fatal(err)
				}
				costs.add(results)
			}
			costs.report(b)
		})
	}
}
