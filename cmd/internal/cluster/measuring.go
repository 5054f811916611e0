package cluster

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/warptune/warptune/cmd/internal/measure"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/worker"
)

// Measuring evaluates the trials of measured sweeps on a GPU. It is safe for concurrent
// use: as many configurations are made ready at a time, and one is on the GPU.
type Measuring struct {
	prepare *Evaluator
	gauge   *measure.Gauge
	archs   map[string]string
}

var _ worker.Evaluator = (*Measuring)(nil)

// NewMeasuring makes an evaluator of an open GPU.
func NewMeasuring(g *measure.Gauge) (*Measuring, error) {
	archs, err := measurable(g.GPU())
	return &Measuring{prepare: NewEvaluator(nil), gauge: g, archs: archs}, err
}

// measurable are the built-in architectures that a GPU is, name to digest: those of its
// compute capability, number of SMs, and size of memory.
func measurable(d wire.Device) (map[string]string, error) {
	out := map[string]string{}
	for _, name := range arch.Names() {
		a, err := arch.Load(name)
		if err != nil {
			return nil, err
		}
		if fits(a, d) == nil {
			out[a.Name] = a.Digest
		}
	}
	return out, nil
}

// memorySlack is by how much the memory that a driver tells may differ from the data
// sheet's: what it keeps for itself.
const memorySlack = 0.1

// fits says why a GPU is none of an architecture's; nil: it is one.
func fits(a *arch.Descriptor, d wire.Device) error {
	about := func(what string, has, want any) error {
		return fmt.Errorf("the GPU here, %s, is no %s: it has %s %v, not %v", d.GPU, a.Name, what, has, want)
	}
	switch {
	case a.CC != d.CC:
		return about("compute capability", fmt.Sprintf("%d.%d", d.CC[0], d.CC[1]), fmt.Sprintf("%d.%d", a.CC[0], a.CC[1]))
	case a.SMs != d.SMs:
		return about("SMs:", d.SMs, a.SMs)
	case a.DRAMBytes > 0 && math.Abs(float64(d.Memory)/float64(a.DRAMBytes)-1) > memorySlack:
		return about("bytes of memory:", d.Memory, a.DRAMBytes)
	}
	return nil
}

// Fits says why the GPU is none of an architecture's; nil: it is one.
func (m *Measuring) Fits(a *arch.Descriptor) error { return fits(a, m.gauge.GPU()) }

// Archs are the built-in architectures that the GPU is, name to digest.
func (m *Measuring) Archs() map[string]string { return m.archs }

// Labels of a measuring worker, which leases are matched to.
const (
	LabelGPU    = "gpu"
	LabelDriver = "driver"
)

// Labels tell the GPU and its driver.
func (m *Measuring) Labels() map[string]string {
	d := m.gauge.GPU()
	return map[string]string{LabelGPU: d.GPU, LabelDriver: d.Driver}
}

// ParseLabels reads NAME=VALUE[,NAME=VALUE…]; a value alone is the GPU's.
func ParseLabels(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			name, value = LabelGPU, name
		}
		if name == "" || value == "" || out[name] != "" {
			return nil, fmt.Errorf("labels %q: want NAME=VALUE, several with commas, each name once, as in gpu=NVIDIA H200", text)
		}
		out[name] = value
	}
	return out, nil
}

// Evaluate measures one trial's configuration.
func (m *Measuring) Evaluate(ctx context.Context, q tuner.Question, bundle []byte) (tuner.Outcome, error) {
	fail := func(err error) (tuner.Outcome, error) {
		return tuner.Outcome{}, fmt.Errorf("%s on %s, trial %d: %w", q.Spec.Kernel, q.Spec.Arch, q.Seq, err)
	}
	job, ev, err := m.prepare.prepare(&q, bundle)
	if err != nil {
		return fail(err)
	}
	defer m.prepare.release(ev)
	if err := fits(job.Arch, m.gauge.GPU()); err != nil {
		return fail(&tuner.Error{Kind: tuner.Mismatch, Err: err})
	}
	p, failed, err := ev.Prepare(ctx, job)
	if err != nil {
		return fail(lacking(err, &q))
	} else if failed != nil {
		failed.Device = m.gauge.Text()
		return *failed, nil
	}
	out, err := m.gauge.Measure(ctx, p, job.Arch)
	if err != nil {
		return fail(err)
	}
	return out, nil
}
