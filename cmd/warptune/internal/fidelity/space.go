package fidelity

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/replay"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/record"
)

// timedRecords reads measured configurations: records, or a space that another
// tuner recorded, a table of times or a cache, whose configurations are of the kernel.
func timedRecords(a *cli.App, file, kernelName string) ([]record.Record, error) {
	plain := strings.TrimSuffix(file, ".gz")
	inMS := strings.HasSuffix(plain, ".csv")
	if !inMS && !strings.HasSuffix(plain, ".json") {
		if kernelName != "" {
			return nil, cli.Usagef("--kernel names the kernel of a recorded space (.csv or .json); each record of %s names its own", file)
		}
		return a.ReadRecords(file, record.ReadMeasured)
	}
	if kernelName == "" {
		return nil, cli.Usagef("%s does not say of which kernel its configurations are: give its definition by --kernel NAME.json", file)
	}
	def, err := input.OpenKernel(a, kernelName, nil, nil)
	if err != nil {
		return nil, err
	}
	spaces, err := input.OpenRecorded(a, file, 0)
	if err != nil {
		return nil, err
	}
	unit := 1.0
	if inMS {
		unit = 1000
	}
	return spaceRecords(spaces[0], def, kernelName, unit)
}

// spaceRecords lists the configurations of a recorded space that have a time, in
// the order of the space; unit is the microseconds of one of its times. Parameters
// that never change are left out if the kernel has none of that name: clocks, say.
func spaceRecords(rec *replay.Record, def *kernel.Definition, kernelName string, unit float64) ([]record.Record, error) {
	var keep []int
	known := def.Default().Names
	for i, p := range rec.Space.Params() {
		if slices.Contains(known, p.Name) {
			keep = append(keep, i)
		} else if len(p.Values) > 1 {
			return nil, fmt.Errorf("%s: kernel %s has no parameter %q: it has %s", rec.Name, def.Name, p.Name, strings.Join(known, ", "))
		}
	}
	var out []record.Record
	for i, c := range rec.Space.All() {
		t := rec.Time[i] * unit
		if math.IsInf(t, 1) {
			continue
		}
		r := record.Record{
			Kernel: kernelName, Group: rec.Name, Params: map[string]json.RawMessage{}, Line: len(out) + 1,
			TimeUS: &record.Time{Median: t, Min: t, Max: t, Reps: 1, Launches: 1},
		}
		for _, p := range keep {
			r.Params[c.Names[p]] = rawValue(c.Values[p])
		}
		raw, err := json.Marshal(&r)
		if err != nil {
			return nil, err
		}
		r.Raw = raw
		out = append(out, r)
	}
	return out, nil
}

// rawValue is a value as JSON: numbers as they are, the rest as text.
func rawValue(v search.Value) json.RawMessage {
	text := v.String()
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // strings always can
	return quoted
}
