package measure

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
)

// Gauge measures prepared configurations. It is safe for concurrent use: code is made of
// several at a time, the GPU has one.
type Gauge struct {
	meter     *Meter
	assembler *Assembler
	files     string // folder of contents that are functions
}

// NewGauge opens the GPU. assembler is a choice of NewAssembler. Close it.
func NewGauge(ctx context.Context, o Options, assembler string) (*Gauge, error) {
	m, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	g := &Gauge{meter: m}
	d := m.Device()
	if g.assembler, err = NewAssembler(ctx, assembler, &d); err == nil {
		g.files, err = os.MkdirTemp("", "warptune-measure-")
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	return g, nil
}

// Close ends the measurer.
func (g *Gauge) Close() {
	g.meter.Close()
	_ = os.RemoveAll(g.files)
}

// GPU is what is measured on.
func (g *Gauge) GPU() wire.Device { return g.meter.Device() }

// Spent is the time for which the GPU was needed, microseconds.
func (g *Gauge) Spent() float64 { return g.meter.Spent() }

// Text names the GPU, its driver and the assembler, as results carry it.
func (g *Gauge) Text() string {
	d := g.GPU()
	text := d.GPU
	if d.Driver != "" {
		text += ", driver " + d.Driver
	}
	return text + ", " + g.assembler.Name
}

// Measure measures a configuration. The outcome is the configuration's on this GPU; the error is the
// machine's.
func (g *Gauge) Measure(ctx context.Context, p *evaluate.Prepared, d *arch.Descriptor) (tuner.Outcome, error) {
	o := tuner.Outcome{Compiler: p.PTX.Compiler, Digest: g.digest(p), Device: g.Text()}
	code, err := g.assembler.Assemble(ctx, p.PTX.PTX, p.Launch.MaxRegisters, g.GPU().CC)
	var refused *RefusedPTXError
	if errors.As(err, &refused) {
		return failed(o, tuner.Compile, refused.Error()), nil
	} else if err != nil {
		return o, err
	}
	outputs := p.Outputs()
	j, err := job(p, code, outputs, g.files)
	if err != nil {
		return o, err
	}
	r, err := g.meter.Do(ctx, j)
	var hung *HungError
	if errors.As(err, &hung) {
		return failed(o, tuner.Timeout, hung.Error()), nil
	} else if err != nil {
		return o, err
	}
	if f := r.Failure; f != nil {
		return g.failure(o, f)
	}
	return g.outcome(o, p, code, r, d)
}

// digest names the question, and what answers it: no prediction has it.
func (g *Gauge) digest(p *evaluate.Prepared) string {
	question := fmt.Appendf(nil, "measured %q %q %q", Engine, p.Digest, g.Text())
	if p.Cooperative || slices.ContainsFunc(p.Args, func(a simengine.Arg) bool { return a.Managed != simengine.ManagedNot }) {
		question = append(question, " as it is launched"...) // these were launched as others once
	}
	sum := sha256.Sum256(question)
	return hex.EncodeToString(sum[:])
}

// Engine is the version of how times are measured, in the place of the simulator's.
const Engine = tuner.MeasuringEngine + "1"

func failed(o tuner.Outcome, v tuner.Validity, message string) tuner.Outcome {
	o.Validity, o.Message = v, message
	return o
}

func (g *Gauge) failure(o tuner.Outcome, f *wire.Failure) (tuner.Outcome, error) {
	switch f.Kind {
	case wire.FailedLoad:
		return failed(o, tuner.Compile, f.Message), nil
	case wire.FailedLaunch, wire.FailedRun:
		return failed(o, tuner.Runtime, f.Message), nil
	}
	return o, errors.New(f.Message)
}

// outcome makes the outcome of what was measured.
func (g *Gauge) outcome(o tuner.Outcome, p *evaluate.Prepared, code *Assembled, r *wire.Result, d *arch.Descriptor) (tuner.Outcome, error) {
	t, err := Summarise(r)
	if err != nil { // a clock that lies is found again wherever the launch is tried again
		return failed(o, tuner.Runtime, err.Error()), nil
	}
	o.Registers, o.SpillBytes, o.Shared = r.Registers, max(code.SpillBytes, 0), r.StaticShared+p.Launch.DynamicShared
	occupy(&o, p, d)
	o.Checked = tuner.Checked{Of: p.Launch.Grid[0] * p.Launch.Grid[1] * p.Launch.Grid[2], Outputs: "not compared: " + p.Unchecked}
	if p.Execution != nil {
		o.Checked = evaluate.CheckedOf(&p.Execution.Checked)
		o.Checked.Outputs = "not compared: " + p.Unchecked
	}
	if outputs := p.Outputs(); outputs != nil {
		a := compare(p, outputs, r.Read)
		o.Checked.Compared, o.Checked.Outputs = a.elements, "agree with the simulator's execution"
		if a.wrong != "" {
			o.Checked.Outputs = "disagree with the simulator's execution"
			return failed(o, tuner.Correctness, a.wrong), nil
		}
	}
	o.Checked.Warnings = strings.Join(t.Warnings, "; ")
	o.Validity, o.TimeUS, o.Metrics = tuner.Correct, t.Median, t.metrics(r)
	return o, nil
}

// occupy notes the theoretical occupancy of what the assembler came to.
func occupy(o *tuner.Outcome, p *evaluate.Prepared, d *arch.Descriptor) {
	b := p.Launch.Block
	k := arch.Kernel{Threads: int(b[0] * b[1] * b[2]), Registers: o.Registers, Shared: o.Shared}
	carveOut, err := arch.ChooseCarveOut(d, k, p.Launch.CarveOut)
	if err != nil {
		return
	}
	if occ, err := arch.Occupy(d, k, carveOut); err == nil {
		o.Occupancy, o.Limiter = occ.Theoretical, occ.Limiter.String()
	}
}

// Names of what a measured outcome's metrics have besides the time: none is a counter's.
const prefix = "warptune__measured_"

func (t *Timing) metrics(r *wire.Result) map[string]float64 {
	m := map[string]float64{}
	for name, v := range map[string]float64{
		"min_us": t.Min, "max_us": t.Max, "batches": float64(t.Batches), "launches": float64(t.Launches), "outliers": float64(t.Outliers),
		"cold_us": t.Cold, "sm_mhz": float64(t.SM), "memory_mhz": float64(t.Memory), "max_sm_mhz": float64(t.MaxSM),
		"celsius": float64(t.Temperature), "watts": float64(t.Power), "local_bytes": float64(r.LocalBytes), "gpu_us": r.GPUTime,
	} {
		m[prefix+name] = v
	}
	if t.First > 0 {
		m[prefix+"first_us"] = t.First
	}
	return m
}

// Metric returns one of a measured outcome's metrics, e.g. "min_us".
func Metric(metrics map[string]float64, name string) float64 { return metrics[prefix+name] }
