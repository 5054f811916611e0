package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// writeCSV writes one line a row (RFC 4180). Kernels have different
// parameters, so the configuration is one column.
func writeCSV(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	out.Write([]string{
		"kernel", "arch", "compute_capability", "problem_size", "configuration", "time_us", "bound", "registers", "spill_bytes", "shared_bytes",
		"carve_out_bytes", "occupancy", "limiter", "compiler", "level", "engine", "kernel_digest", "arch_digest", "digest", "trial",
	})
	for i := range rows {
		r, o := &rows[i], &rows[i].Outcome
		cells := []string{
			r.Spec.Kernel, r.Spec.Arch, fmt.Sprintf("%d.%d", r.CC[0], r.CC[1]), problemText(r.Spec.Problem), configText(r), number(o.TimeUS), o.Bound,
			strconv.Itoa(o.Registers), strconv.Itoa(o.SpillBytes), strconv.Itoa(o.Shared), strconv.Itoa(o.CarveOut), number(o.Occupancy),
			o.Limiter, o.Compiler, r.Spec.Level, r.Spec.Engine, r.Spec.Bundle, r.Spec.ArchDigest, o.Digest, strconv.FormatInt(r.Seq, 10),
		}
		for j := range cells {
			cells[j] = inert(cells[j])
		}
		out.Write(cells)
	}
	out.Flush()
	return out.Error()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// inert keeps a spreadsheet from taking a text for a formula.
func inert(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		if _, err := strconv.ParseFloat(cell, 64); err != nil {
			return "'" + cell
		}
	}
	return cell
}
