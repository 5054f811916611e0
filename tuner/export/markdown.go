package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

func writeMarkdown(w io.Writer, rows []Row) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "| kernel | architecture | problem | configuration | time (us) | bound | registers | spill (B) | shared (B) | occupancy | limiter | compiler | simulator |")
	fmt.Fprintln(out, "|---|---|---|---|--:|---|--:|--:|--:|--:|---|---|---|")
	for i := range rows {
		r, o := &rows[i], &rows[i].Outcome
		cells := []string{
			r.Spec.Kernel, r.Spec.Arch, problemText(r.Spec.Problem), configText(r), fmt.Sprintf("%.3f", o.TimeUS), o.Bound,
			fmt.Sprint(o.Registers), fmt.Sprint(o.SpillBytes), fmt.Sprint(o.Shared), fmt.Sprintf("%.0f %%", 100*o.Occupancy),
			o.Limiter, o.Compiler, madeBy(r),
		}
		for j, c := range cells {
			cells[j] = cell(c)
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
	for i, c := range cautions(rows) {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "- Caution: %s.\n", cell(c))
	}
	return out.Flush()
}

// madeBy names the simulator and level, or the GPU, that a time comes from.
func madeBy(r *Row) string {
	if r.Outcome.Device != "" {
		return source(r)
	}
	return r.Spec.Engine + ", " + r.Spec.Level
}

// cell is text that stays inside one table cell.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "\r", " ", "<", "&lt;").Replace(text)
}
