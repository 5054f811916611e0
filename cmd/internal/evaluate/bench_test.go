package evaluate

import (
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// A sweep on one core: every configuration of a kernel in its own order, which
// is how a worker meets them.
func BenchmarkSweep(b *testing.B) {
	for _, name := range []string{"copy", "transpose_tiled", "reduce", "sgemm"} {
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			b.Run(name+"/"+level.String(), func(b *testing.B) { benchmarkSweep(b, name, level) })
		}
	}
}

func benchmarkSweep(b *testing.B, name string, level simengine.Level) {
	k, err := catalogue.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	def, err := k.Definition()
	if err != nil {
		b.Fatal(err)
	}
	space, err := def.Space(nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		b.Fatal(err)
	}
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt", CacheDir: "-"})
	if err != nil {
		b.Fatal(err)
	}
	ev := New(compiler)
	var at, instructions int64
	for b.Loop() {
		out, report, err := ev.Evaluate(b.Context(), Job{Kernel: def, Config: space.At(at % space.Size()), Arch: d, Level: level})
		if err != nil || out.Validity != tuner.Correct {
			b.Fatalf("configuration %d: %v %s %v", at%space.Size(), out.Validity, out.Message, err)
		}
		instructions += report.SampledInstructions
		at++
	}
	b.ReportMetric(float64(at)/b.Elapsed().Seconds(), "configs/s")
	if level == simengine.Cycle {
		b.ReportMetric(float64(instructions)/b.Elapsed().Seconds(), "warp-inst/s")
	}
}

// What checking costs a sweep: each iteration is a whole one, of an evaluator of its own, so
// that what is executed once to compare others with counts. With time-us, the processor time.
func BenchmarkChecking(b *testing.B) {
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt", CacheDir: "-"})
	if err != nil {
		b.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		b.Fatal(err)
	}
	for _, k := range catalogue.All() {
		def, err := k.Definition()
		if err != nil {
			b.Fatal(err)
		}
		space, err := def.Space(nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			for _, depth := range []simengine.Depth{simengine.CheckNone, simengine.CheckSample} {
				b.Run(k.Name+"/"+level.String()+"/"+depth.String(), func(b *testing.B) {
					began := processorTime()
					for b.Loop() {
						ev, answers := New(compiler), NewAnswers()
						for i := range space.Size() {
							out, _, err := ev.Evaluate(b.Context(), Job{Kernel: def, Config: space.At(i), Arch: d, Level: level, Check: depth, Answers: answers})
							if err != nil || out.Validity != tuner.Correct {
								b.Fatalf("configuration %d: %v %s %v", i, out.Validity, out.Message, err)
							}
						}
					}
					b.ReportMetric(float64((processorTime()-began).Microseconds())/float64(b.N), "cpu-us")
				})
			}
		}
	}
}
