package pagesource

import (
	"context"
	"fmt"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/internal/explain"
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/page"
)

// descriptor is the architecture that a sweep is for.
func (s *Source) descriptor(ctx context.Context, sweep *tuner.Sweep) (*arch.Descriptor, error) {
	s.mu.Lock()
	known := s.devices[sweep.Spec.ArchDigest]
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	var text []byte
	if sweep.Spec.Descriptor != "" {
		err := s.ask(ctx, func(c warptunev1.SweepServiceClient) error {
			m, err := c.Descriptor(ctx, &warptunev1.DescriptorRequest{Id: sweep.ID})
			text = m.GetText()
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	d, err := cluster.DescriptorOf(&sweep.Spec, text)
	if err != nil {
		return nil, &tuner.Error{Kind: tuner.Mismatch, Op: "architecture of sweep " + sweep.ID, Err: err}
	}
	s.mu.Lock()
	s.devices[sweep.Spec.ArchDigest] = d
	s.mu.Unlock()
	return d, nil
}

// Device is in page.Source. An architecture that this version does not know has a name and no figures.
func (s *Source) Device(ctx context.Context, sweep *tuner.Sweep) (*page.Device, error) {
	d, err := s.descriptor(ctx, sweep)
	if tuner.KindOf(err) == tuner.Mismatch {
		return unknownDevice(sweep, err), nil
	} else if err != nil {
		return nil, err
	}
	level := sweep.Spec.LastLevel()
	m := fidelity.Expected(d, level)
	unverified, figures := fidelity.Unverified(d)
	o := &page.Device{
		Arch: page.Arch{
			Name: d.Name, Title: d.Title, Capability: fmt.Sprintf("%d.%d", d.CC[0], d.CC[1]), SMs: d.SMs, ClockMHz: d.ClockMHz, RegistersPerSM: d.Registers,
			MaxThreadsPerCTA: d.MaxThreadsPerCTA, MaxWarpsPerSM: d.MaxWarps, MaxCTAsPerSM: d.MaxCTAs, SharedBytesPerCTA: d.SharedPerCTAOptIn, CarveOutsBytes: d.CarveOuts,
			L1SharedBytes: d.UnifiedL1, L2Bytes: d.L2Bytes, DRAMBytes: d.DRAMBytes, UnverifiedFigures: unverified, Figures: figures,
		},
		Expected: page.ExpectedError{Share: m.Share, Configurations: m.Configs, Of: m.Of, Borrowed: m.Borrowed, Text: m.Text()},
		Caution:  fidelity.Caveat(d, level), Ties: m.Ties,
		Use: func(o *tuner.Outcome) []page.NamedNumber { return use(d, o) },
	}
	for _, p := range explain.MemoryPeaks(d) {
		o.Memory = append(o.Memory, page.Peak{Unit: p.Unit, PerSecond: p.PerSecond, Of: "bytes"})
	}
	if sweep.Spec.Measured() { // what is measured errs by no prediction
		o.Expected, o.Caution = page.ExpectedError{Of: []string{}, Text: "0 % (their measured times are equal)"}, ""
		o.Ties = func(over float64, _ ...float64) bool { return over <= 1 }
	}
	o.Compute = []page.Peak{{Unit: "issue", PerSecond: explain.IssuePeak(d), Of: "warp instructions"}}
	for _, p := range explain.ComputePeaks(d) {
		o.Compute = append(o.Compute, page.Peak{Unit: p.Unit, PerSecond: p.PerSecond, Of: "flop"})
	}
	return o, nil
}

// unknownDevice stands for an architecture of another version.
func unknownDevice(sweep *tuner.Sweep, why error) *page.Device {
	return &page.Device{
		Arch:     page.Arch{Name: sweep.Spec.Arch, Title: sweep.Spec.Arch, CarveOutsBytes: []int{}, Memory: []page.Peak{}, Compute: []page.Peak{}},
		Expected: page.ExpectedError{Of: []string{}, Text: "an error that is not known of this architecture"}, Caution: why.Error(),
		Ties: func(over float64, _ ...float64) bool { return over <= 1 },
		Use:  func(*tuner.Outcome) []page.NamedNumber { return []page.NamedNumber{} },
	}
}

// use is how near units come to their peaks by an outcome's counters.
func use(d *arch.Descriptor, o *tuner.Outcome) []page.NamedNumber {
	shares, known := timing.Counted(d, o.Metrics, float64(o.Checked.Of))
	out := []page.NamedNumber{}
	for b, v := range shares.Among(known) {
		if known[b] {
			out = append(out, page.NamedNumber{Name: timing.Bound(b).String(), Value: v})
		}
	}
	sortUse(out)
	return out
}
