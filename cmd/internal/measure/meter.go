package measure

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/warptune/warptune/cmd/internal/measure/wire"
)

// Meter measures launches one after the other, whoever asks. A measurer that ended,
// or had to be ended, is followed by another. It is safe for concurrent use.
type Meter struct {
	options Options
	device  wire.Device

	mu      sync.Mutex
	process *process // nil: it is to be started
	spent   float64  // microseconds that jobs took
}

// Open starts a measurer. A *RefusedError says why nothing can be measured here. Close it.
func Open(ctx context.Context, o Options) (*Meter, error) {
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	p, err := start(ctx, &o)
	if err != nil {
		return nil, err
	}
	return &Meter{options: o, device: p.Device, process: p}, nil
}

// Device is the GPU.
func (m *Meter) Device() wire.Device { return m.device }

// Spent is how long measuring took so far, in microseconds by the host's clock: what
// the GPU was needed for.
func (m *Meter) Spent() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent
}

// HungError is that a launch did not end in time.
type HungError struct {
	Limit string
	Stage string
}

func (e *HungError) Error() string {
	return fmt.Sprintf("measuring did not end within %s: it was ended while %s", e.Limit, e.Stage)
}

// Do measures a job. The error is the machine's, or a *HungError.
func (m *Meter) Do(ctx context.Context, job *wire.Job) (*wire.Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.process == nil {
		p, err := start(ctx, &m.options)
		if err != nil {
			return nil, err
		}
		if p.Device.GPU != m.device.GPU || p.Device.Driver != m.device.Driver {
			p.end()
			return nil, fmt.Errorf("the GPU was %s with driver %s, and is %s with driver %s now: start anew", m.device.GPU, m.device.Driver, p.Device.GPU, p.Device.Driver)
		}
		m.process = p
	}
	r, stage, err := m.process.do(ctx, job, m.options.Limit)
	if err == nil {
		m.spent += r.GPUTime
		if r.Failure != nil && r.Failure.Fatal {
			m.restart()
		}
		return r, nil
	}
	last := m.restart()
	switch {
	case errors.Is(err, errSlow):
		m.spent += float64(m.options.Limit.Microseconds())
		return nil, &HungError{m.options.Limit.String(), stage}
	case errors.Is(err, errEnded):
		// A fault of the host's side, in the driver's compiler say: it is the launch's.
		return &wire.Result{Failure: &wire.Failure{Kind: wire.FailedRun, Message: fmt.Sprintf("the process that measured it ended while %s: %s", stage, last), Fatal: true}}, nil
	}
	return nil, err
}

// restart ends the process; another is started when it is needed.
func (m *Meter) restart() (last string) {
	last = m.process.end()
	m.process = nil
	return last
}

// Close ends the measurer.
func (m *Meter) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process != nil {
		m.restart()
	}
}
