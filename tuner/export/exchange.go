package export

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/exchange"
)

// writeT4 and writeKernelTuner write the files of other tuners: one run, with
// every configuration that was evaluated, also those that failed.
func writeT4(w io.Writer, rows []Row) error { return writeRun(w, rows, exchange.WriteT4) }
func writeKernelTuner(w io.Writer, rows []Row) error {
	return writeRun(w, rows, exchange.WriteKernelTuner)
}

func writeRun(w io.Writer, rows []Row, write func(io.Writer, *exchange.Run) error) error {
	if len(rows) == 0 {
		return write(w, &exchange.Run{})
	}
	if i := slices.IndexFunc(rows, func(r Row) bool { return r.Spec.Scope() != rows[0].Spec.Scope() || r.Spec.Arch != rows[0].Spec.Arch }); i >= 0 {
		return fmt.Errorf("these are the results of more than one run, and a file of this format holds one: %s, and %s; choose with --kernel, --arch, --problem, --level or --sweep", runText(&rows[0]), runText(&rows[i]))
	}
	return write(w, run(rows))
}

// runText says which run a row belongs to.
func runText(r *Row) string {
	return fmt.Sprintf("%s %s on %s (level %s, simulator %s, kernel digest %.12s)", r.Spec.Kernel, problemText(r.Spec.Problem), r.Spec.Arch, r.Spec.Level, r.Spec.Engine, r.Spec.Bundle)
}

// run is the rows of one scope as a run: each configuration once, in the order
// of the rows.
func run(rows []Row) *exchange.Run {
	first := &rows[0]
	out := &exchange.Run{
		Kernel: first.Spec.Kernel, Device: first.Device, Problem: first.Spec.Problem, Params: first.Names,
		Provenance: map[string]string{
			"simulated": "true: predicted times, measured on no GPU", "arch": first.Spec.Arch, "level": first.Spec.Level, "engine": first.Spec.Engine,
			"kernel_digest": first.Spec.Bundle, "arch_digest": first.Spec.ArchDigest,
		},
	}
	if i := slices.IndexFunc(rows, func(r Row) bool { return r.Outcome.Device != "" }); i >= 0 {
		out.Provenance["simulated"], out.Provenance["measured_on"] = "false", rows[i].Outcome.Device
	}
	seen := map[string]bool{}
	var compilers []string
	for i := range rows {
		r := &rows[i]
		key := configText(r)
		if seen[key] {
			continue
		}
		seen[key] = true
		if c := r.Outcome.Compiler; c != "" && !slices.Contains(compilers, c) {
			compilers = append(compilers, c)
		}
		out.Trials = append(out.Trials, exchange.Trial{Config: r.Config, Validity: r.Outcome.Validity, TimeUS: r.Outcome.TimeUS, Measurements: measurements(&r.Outcome)})
	}
	slices.Sort(compilers)
	out.Provenance["compiler"] = strings.Join(compilers, "; ")
	return out
}

// measurements are an outcome's numbers, under the names that Kernel Tuner's
// observers use where there is one (kernel_tuner/observers/register.py).
func measurements(o *tuner.Outcome) []exchange.Measurement {
	if o.Validity != tuner.Correct {
		return nil
	}
	return []exchange.Measurement{
		{Name: "num_regs", Value: float64(o.Registers)},
		{Name: "spill_bytes", Value: float64(o.SpillBytes), Unit: "bytes"},
		{Name: "shared_bytes", Value: float64(o.Shared), Unit: "bytes"},
		{Name: "occupancy", Value: o.Occupancy},
	}
}
