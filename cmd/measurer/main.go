// Command measurer times launches on this machine's GPU for warptune and its workers,
// which start it: jobs on standard input, results on standard output (package wire). It
// is a program of its own because it loads the driver, which a static program cannot,
// and because a kernel that hangs or faults ends it and nothing else.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/warptune/warptune/cmd/internal/measure/wire"
)

// options are the flags.
type options struct {
	device int
	shared bool
}

func main() {
	var o options
	f := flag.NewFlagSet("measurer", flag.ContinueOnError)
	f.IntVar(&o.device, "device", 0, "number of the GPU, from 0")
	f.BoolVar(&o.shared, "shared", false, "measure although other processes use the GPU")
	if err := f.Parse(os.Args[1:]); errors.Is(err, flag.ErrHelp) {
		return
	} else if err != nil || f.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "measurer: it is started by warptune measure and worker --measure")
		os.Exit(64)
	}
	if err := serve(&o, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "measurer:", err)
		os.Exit(1)
	}
}

// maxLine bounds a job, bytes: its code is in it.
const maxLine = 256 << 20

// measurer measures jobs.
type measurer interface {
	device() wire.Device
	measure(job *wire.Job, stage func(string)) *wire.Result
}

// serve answers jobs until there are no more, or nothing can be measured any more.
func serve(o *options, in io.Reader, out io.Writer) error {
	w := bufio.NewWriter(out)
	say := func(v any) error {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(text, '\n')); err != nil {
			return err
		}
		return w.Flush()
	}
	m, err := open(o)
	if err != nil {
		return say(wire.Greeting{Refusal: err.Error()})
	}
	if err := say(wire.Greeting{Device: m.device()}); err != nil {
		return err
	}
	jobs := bufio.NewScanner(in)
	jobs.Buffer(nil, maxLine)
	for jobs.Scan() {
		var job wire.Job
		if err := json.Unmarshal(jobs.Bytes(), &job); err != nil {
			return fmt.Errorf("a job that cannot be read: %w", err)
		}
		r := m.measure(&job, func(stage string) { _ = say(wire.Reply{Stage: stage}) })
		if err := say(wire.Reply{Result: r}); err != nil {
			return err
		}
		if r.Failure != nil && r.Failure.Fatal {
			return nil
		}
	}
	return jobs.Err()
}
