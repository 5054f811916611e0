package evaluate

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/datasets"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
	"github.com/warptune/warptune/tuner/record"
	"github.com/warptune/warptune/tuner/score"
)

// Every measured configuration of some data sets on one core, as "warptune fidelity --slots 1" runs them. The sets
// are the built-in kernels, kernels of which each configuration is a program of its own, and, where it is beside
// the checkout, the H200 data set with the PTX that ran. The first configuration of a kernel's PTX pays for
// parsing, execution and assembly, the others for what their cap, carve-out and clocking need. On a busy machine
// only the processor time says something.
func BenchmarkDataset(b *testing.B) {
	m, err := datasets.Load("../../../deploy/calibrate/datasets")
	if err != nil {
		b.Fatal(err)
	}
	const silicon = "../../../../shared/silicon/h200/"
	sets := []dataset{{"h200-development", silicon + "timings.jsonl.gz", silicon + "ptx.zip", ""}}
	for _, name := range []string{"h200-built-in", "h200-loops-and-doubles"} {
		s, err := m.Find(name)
		if err != nil {
			b.Fatal(err)
		}
		sets = append(sets, dataset{name, s.Path(s.Files.Timings), s.Path(s.Files.PTX), s.Path(s.Files.Kernels)})
	}
	for _, set := range sets {
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			b.Run(set.name+"/"+level.String(), func(b *testing.B) { benchmarkDataset(b, set, level) })
		}
	}
}

// dataset is measured configurations, with the directory of their kernels where these
// are not built in.
type dataset struct{ name, timings, ptx, kernels string }

// definition is that of a kernel.
func (s dataset) definition(name string) (*kernel.Definition, error) {
	if s.kernels != "" {
		def, _, err := kernel.Load(filepath.Join(s.kernels, name+".json"))
		return def, err
	}
	k, err := catalogue.Open(name)
	if err != nil {
		return nil, err
	}
	return k.Definition()
}

func benchmarkDataset(b *testing.B, set dataset, level simengine.Level) {
	f, err := os.Open(set.timings)
	if err != nil {
		b.Skip("no such data set: ", err)
	}
	defer f.Close()
	records, _, err := record.Read(set.timings, f)
	if err != nil {
		b.Fatal(err)
	}
	var files fs.FS
	if set.ptx != "" {
		archive, done, err := ptxfiles.Open(set.ptx)
		if err != nil {
			b.Fatal(err)
		}
		defer done()
		files = archive
	}
	d, err := arch.Load("h200")
	if err != nil {
		b.Fatal(err)
	}
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt", CacheDir: "-"})
	if err != nil {
		b.Fatal(err)
	}
	defs := map[string]*kernel.Definition{}
	for i := range records {
		if name := records[i].Kernel; defs[name] == nil {
			if defs[name], err = set.definition(name); err != nil {
				b.Fatal(err)
			}
		}
	}
	batch := Batch{
		Compiler: compiler, PTX: files, Arch: d, Level: level, Slots: 1,
		Kernels: func(name string) (*kernel.Definition, error) { return defs[name], nil },
	}
	var costs costs
	for b.Loop() {
		results, err := batch.Run(b.Context(), records)
		if err != nil {
			b.Fatal(err)
		}
		costs.add(results)
	}
	costs.report(b)
}

// costs is what evaluations took, milliseconds: by the clock, and of a processor.
type costs struct{ wall, processor []float64 }

func (c *costs) add(results []Result) {
	for i := range results {
		c.wall = append(c.wall, float64(results[i].Cost.Microseconds())/1e3)
		c.processor = append(c.processor, float64(results[i].Processor.Microseconds())/1e3)
	}
}

func (c *costs) report(b *testing.B) {
	sort.Float64s(c.wall)
	sort.Float64s(c.processor)
	b.ReportMetric(float64(len(c.wall))/b.Elapsed().Seconds(), "configs/s")
	b.ReportMetric(score.Quantile(c.wall, 0.5), "median-ms")
	b.ReportMetric(score.Quantile(c.wall, 0.99), "p99-ms")
	b.ReportMetric(score.Quantile(c.processor, 0.5), "median-cpu-ms")
	b.ReportMetric(score.Quantile(c.processor, 0.99), "p99-cpu-ms")
}
