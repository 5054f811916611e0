package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/warptune/warptune/cmd/internal/cuda"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
	"github.com/warptune/warptune/cmd/internal/nvml"
)

// gpu is an open GPU. It is for one goroutine, locked to its thread.
type gpu struct {
	*cuda.Device
	watch   *nvml.Device // nil: NVML does not know it
	about   wire.Device
	stream  cuda.Stream
	from    cuda.Event
	to      cuda.Event
	buffers pool
	flush   cuda.Address // what clears L2; 0: not allocated yet
}

func (g *gpu) device() wire.Device { return g.about }

// Variables of the environment that name the libraries, where they are not installed as usual.
const (
	cudaVariable = "WARPTUNE_LIBCUDA"
	nvmlVariable = "WARPTUNE_LIBNVML"
)

// open opens a GPU. The error says, in a sentence, why nothing can be measured.
func open(o *options) (measurer, error) {
	runtime.LockOSThread()
	driver, err := cuda.Open(cmp.Or(os.Getenv(cudaVariable), cuda.LibraryName))
	if err != nil {
		return nil, err
	}
	n, err := driver.Count()
	if err != nil {
		return nil, err
	}
	if o.device >= n {
		return nil, fmt.Errorf("there is no GPU number %d: %d are visible, numbered from 0", o.device, n)
	}
	g := &gpu{}
	if g.Device, err = driver.Describe(o.device); err != nil {
		return nil, err
	}
	g.about = wire.Device{
		GPU: g.Name, CC: g.CC, SMs: g.SMs, L2: g.L2, Memory: g.Memory, CUDA: driver.Version,
		SharedSM: g.SharedSM, SharedOptIn: g.SharedOptIn, Bandwidth: 2 * 1e3 * float64(g.MemoryClock) * float64(g.BusWidth) / 8, // data at both edges
	}
	if err := g.look(cmp.Or(os.Getenv(nvmlVariable), nvml.LibraryName)); err != nil {
		g.about.Unwatched = err.Error()
	}
	if err := g.alone(o.shared); err != nil {
		return nil, err
	}
	return g, g.start()
}

// look finds the GPU in NVML.
func (g *gpu) look(library string) error {
	l, err := nvml.Open(library)
	if err != nil {
		return err
	}
	if g.about.Driver, err = l.DriverVersion(); err != nil {
		return err
	}
	g.watch, err = l.Device(g.Bus)
	return err
}

// patience is how long a process that was ended may still be listed.
const patience = 3 * time.Second

// alone refuses a GPU that other processes use, unless they may.
func (g *gpu) alone(shared bool) error {
	if g.watch == nil || shared {
		return nil
	}
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		users, err := g.watch.Users()
		if err != nil {
			g.about.Unwatched = err.Error()
			return nil
		}
		var others []string
		for _, pid := range users {
			if pid != os.Getpid() {
				others = append(others, fmt.Sprint(pid))
			}
		}
		switch {
		case len(others) == 0:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("other processes use the GPU %s: %s: end them, take another GPU by --device, or measure beside them by --shared, which says nothing certain", g.Name, strings.Join(others, ", "))
		}
	}
}

// start makes the context and what measuring needs in it.
func (g *gpu) start() (err error) {
	if err = g.Use(); err != nil {
		return err
	}
	if g.stream, err = g.Stream(); err != nil {
		return err
	}
	if g.from, err = g.Event(); err != nil {
		return err
	}
	if g.to, err = g.Event(); err != nil {
		return err
	}
	g.buffers = newPool(g.Device, g.stream)
	return nil
}

// state is what the GPU is doing.
func (g *gpu) state() (wire.State, bool) {
	if g.watch == nil {
		return wire.State{}, false
	}
	return wire.State(g.watch.State()), true
}

// failure says what an error is. kind is what it is if it is the configuration's.
func failure(kind string, err error) *wire.Failure {
	f := &wire.Failure{Kind: kind, Message: err.Error()}
	var e *cuda.Error
	if errors.As(err, &e) {
		f.Fatal = e.Fatal()
		if e.Code == 999 {
			f.Kind = wire.FailedMachine
		} else if f.Fatal {
			f.Kind = wire.FailedRun
		}
	}
	return f
}
