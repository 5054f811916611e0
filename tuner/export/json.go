package export

import (
	"encoding/json"
	"io"

	"github.com/warptune/warptune/search"
)

// SchemaVersion is the version of the JSON and CSV tables' layout.
const SchemaVersion = "1"

// jsonRow is a row as JSON has it; encoding/json keeps the order of the fields
// and sorts maps, so the bytes are always the same.
type jsonRow struct {
	Kernel        string                  `json:"kernel"`
	Arch          string                  `json:"arch"`
	CC            [2]int                  `json:"compute_capability"`
	Problem       []int64                 `json:"problem_size"`
	Configuration map[string]search.Value `json:"configuration"`
	TimeUS        float64                 `json:"time_us"`
	Simulated     bool                    `json:"simulated"`
	MeasuredOn    string                  `json:"measured_on,omitempty"`
	Bound         string                  `json:"bound"`
	Registers     int                     `json:"registers"`
	SpillBytes    int                     `json:"spill_bytes"`
	SharedBytes   int                     `json:"shared_bytes"`
	CarveOutBytes int                     `json:"carve_out_bytes"`
	Occupancy     float64                 `json:"occupancy"`
	Limiter       string                  `json:"limiter"`
	Metrics       map[string]float64      `json:"metrics,omitempty"`
	Caution       string                  `json:"caution,omitempty"`
	Provenance    jsonProvenance          `json:"provenance"`
}

type jsonProvenance struct {
	Compiler string `json:"compiler"`
	Level    string `json:"level"`
	Engine   string `json:"engine"`
	Bundle   string `json:"kernel_digest"`
	Device   string `json:"arch_digest"`
	Question string `json:"digest"`
	Trial    int64  `json:"trial"`
}

func writeJSON(w io.Writer, rows []Row) error {
	out := struct {
		Schema string    `json:"schema_version"`
		Rows   []jsonRow `json:"rows"`
	}{SchemaVersion, make([]jsonRow, len(rows))}
	for i := range rows {
		r := &rows[i]
		o := &r.Outcome
		config := make(map[string]search.Value, len(r.Config))
		for j, v := range r.Config {
			config[r.Names[j]] = v
		}
		out.Rows[i] = jsonRow{
			Kernel: r.Spec.Kernel, Arch: r.Spec.Arch, CC: r.CC, Problem: r.Spec.Problem, Configuration: config,
			TimeUS: o.TimeUS, Simulated: o.Device == "", MeasuredOn: o.Device, Bound: o.Bound, Registers: o.Registers, SpillBytes: o.SpillBytes,
			SharedBytes: o.Shared, CarveOutBytes: o.CarveOut, Occupancy: o.Occupancy, Limiter: o.Limiter, Metrics: o.Metrics,
			Caution:    r.Caution,
			Provenance: jsonProvenance{o.Compiler, r.Spec.Level, r.Spec.Engine, r.Spec.Bundle, r.Spec.ArchDigest, o.Digest, r.Seq},
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}
