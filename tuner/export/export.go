// Package export writes tuning tables: the best configurations, each with its
// time and where it comes from, in the formats people and programs read.
//
// An export is a function of its rows only: the same rows give the same bytes.
// Which rows there are is the business of the caller.
package export

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// Row is one configuration of a table.
type Row struct {
	Spec    tuner.Spec
	CC      [2]int // compute capability of Spec.Arch
	Device  string // product name of Spec.Arch, e.g. "NVIDIA H200 SXM"
	Names   []string
	Config  []search.Value
	Outcome tuner.Outcome
	Seq     int64 // the trial's number in its sweep
	Newer   int   // how many sweeps are newer than its own
	// Caution says why predictions for Spec.Arch are not to be trusted much; "": they
	// are as good as any.
	Caution string
}

// writers are the formats by name.
var writers = map[string]func(io.Writer, []Row) error{
	"json":         writeJSON,
	"csv":          writeCSV,
	"markdown":     writeMarkdown,
	"c-header":     writeCHeader,
	"t4":           writeT4,
	"kernel-tuner": writeKernelTuner,
	"triton":       writeTriton,
}

// WholeRun reports whether a format holds a whole run of one kernel,
// architecture and problem size, failed configurations with the others, and
// not a table of the best.
func WholeRun(format string) bool { return format == "t4" || format == "kernel-tuner" }

// Formats are the names that Write takes, sorted.
func Formats() []string {
	names := make([]string, 0, len(writers))
	for name := range writers {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Write writes rows in a format. It sorts them by kernel, architecture,
// problem, level and trial, so that the order they come in does not matter.
func Write(w io.Writer, format string, rows []Row) error {
	write, ok := writers[format]
	if !ok {
		return fmt.Errorf("unknown export format %q: want one of %s", format, strings.Join(Formats(), ", "))
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, compare)
	return write(w, rows)
}

func compare(a, b Row) int {
	if c := compareKey(&a, &b); c != 0 {
		return c
	}
	if c := strings.Compare(a.Spec.Bundle, b.Spec.Bundle); c != 0 {
		return c
	}
	return cmp.Compare(a.Seq, b.Seq)
}

// levelOrder puts what is measured before what is predicted: the first row of several for a
// problem is the one that is looked up.
func levelOrder(level string) int {
	if level == tuner.LevelMeasured {
		return 0
	}
	return 1
}

// source says what a row's time comes from.
func source(r *Row) string {
	if r.Outcome.Device != "" {
		return "measured on " + r.Outcome.Device
	}
	return "simulator " + r.Spec.Engine + ", level " + r.Spec.Level
}

// compareKey orders by what a tuning table is looked up by.
func compareKey(a, b *Row) int {
	return cmp.Or(
		strings.Compare(a.Spec.Kernel, b.Spec.Kernel),
		strings.Compare(a.Spec.Arch, b.Spec.Arch),
		slices.Compare(a.Spec.Problem, b.Spec.Problem),
		cmp.Compare(levelOrder(a.Spec.Level), levelOrder(b.Spec.Level)),
		strings.Compare(a.Spec.Level, b.Spec.Level),
	)
}

// cautions are what is to be said of the rows' architectures, each once.
func cautions(rows []Row) []string {
	var all []string
	for i := range rows {
		if c := rows[i].Caution; c != "" && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// problemText is a problem size as 8192 or 8192x4096.
func problemText(problem []int64) string {
	parts := make([]string, len(problem))
	for i, n := range problem {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, "x")
}

// configText is NAME=V,… as the command line takes it.
func configText(r *Row) string {
	return search.Config{Names: r.Names, Values: r.Config}.String()
}
