// Package microbench measures a GPU for its descriptor: the kernels of deploy/calibrate/microbench
// by the loader that times configurations (cmd/measurer), and what needs Nsight Compute by nvcc
// and ncu, where there are both. What each program measures is what simengine/arch/calibrate
// takes a figure of; the programs themselves measure more.
package microbench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/warptune/warptune/cmd/internal/measure"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
	"github.com/warptune/warptune/deploy/calibrate/microbench"
	"github.com/warptune/warptune/simengine/arch/calibrate"
)

// program is one of the suite's.
type program struct {
	name   string
	script func(*bench)
	least  [2]int // compute capability
}

// suite is in the order in which it is measured: the clock first, what heats the chip last.
var suite = []program{
	{name: "launch", script: launches},
	{name: "latency", script: latency},
	{name: "pipes", script: pipes},
	{name: "wavefronts", script: wavefronts},
	{name: "registers", script: registers},
	{name: "queues", script: queues},
	{name: "slots", script: slots},
	{name: "tensor", script: tensor, least: [2]int{8, 0}},
	{name: "atomics", script: atomics},
	{name: "meetings", script: meetings},
	{name: "reds", script: reds},
	{name: "waits", script: waits},
	{name: "merged", script: merged},
	{name: "rows", script: rows},
	{name: "bandwidth", script: bandwidth},
}

// Oldest is the compute capability from which on the suite's code runs.
var Oldest = [2]int{7, 0}

func older(a, b [2]int) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }

// Skipped is a program that gave nothing, and why.
type Skipped struct{ Program, Why string }

// Run measures with every program, and says which gave nothing. progress is told of each that
// begins. The error is the machine's, or that of ctx.
func Run(ctx context.Context, m *measure.Meter, progress func(program string)) (calibrate.Results, []Skipped, error) {
	d := m.Device()
	if older(d.CC, Oldest) {
		return nil, nil, fmt.Errorf("the GPU here, %s, is of compute capability %d.%d: the microbenchmarks are for %d.%d and later", d.GPU, d.CC[0], d.CC[1], Oldest[0], Oldest[1])
	}
	all := about(&d)
	var skipped []Skipped
	for i := range suite {
		p := &suite[i]
		if older(d.CC, p.least) {
			skipped = append(skipped, Skipped{p.name, fmt.Sprintf("for compute capability %d.%d and later", p.least[0], p.least[1])})
			continue
		}
		progress(p.name)
		results, why, err := p.run(ctx, m, &d)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("microbenchmark %s: %w", p.name, err)
		case why != "":
			skipped = append(skipped, Skipped{p.name, why})
		}
		all = append(all, results...)
	}
	progress(profiledProgram)
	results, err := profiled(ctx)
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	} else if err != nil {
		skipped = append(skipped, Skipped{profiledProgram, err.Error()})
	}
	return append(all, results...), skipped, nil
}

// about is what the driver says of the GPU.
func about(d *wire.Device) calibrate.Results {
	b := &bench{}
	b.emit("device.name", params{"gpu": d.GPU, "driver": d.Driver}, 1, "flag")
	b.emit("device.cc", nil, float64(10*d.CC[0]+d.CC[1]), "major*10+minor")
	b.emit("device.sms", nil, float64(d.SMs), "count")
	b.emit("device.l2_size", nil, float64(d.L2), "bytes")
	b.emit("device.shared_per_sm", nil, float64(d.SharedSM), "bytes")
	b.emit("device.shared_per_cta_optin", nil, float64(d.SharedOptIn), "bytes")
	if d.Bandwidth > 0 {
		b.emit("device.dram_bandwidth", nil, d.Bandwidth, "bytes/s")
	}
	return b.results
}

// run measures with one program. why says what kept it from giving anything.
func (p *program) run(ctx context.Context, m *measure.Meter, d *wire.Device) (results calibrate.Results, why string, err error) {
	ptx, err := microbench.PTX(p.name)
	if err != nil {
		return nil, "", err
	}
	b := begin(d, ptx)
	p.script(b)
	if b.err != nil {
		return nil, "", b.err
	}
	r, err := m.Do(ctx, &wire.Job{Image: ptx, Script: &b.script})
	switch {
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case err != nil: // it hung: the next are tried
		return nil, err.Error(), nil
	case r.Failure != nil:
		return nil, r.Failure.Message, nil
	}
	if err := b.end(r.Done); err != nil {
		return nil, "", err
	}
	return b.results, "", nil
}

// Lines are results as files have them, an object a line.
func Lines(all calibrate.Results) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	for i := range all {
		if err := e.Encode(&all[i]); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}
