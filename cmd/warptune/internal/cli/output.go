package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// PrintJSON writes v to stdout as indented JSON.
func (a *App) PrintJSON(v any) error {
	enc := json.NewEncoder(a.Stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Table aligns rows in columns; numbers are the caller's to format.
type Table struct{ w *tabwriter.Writer }

// NewTable begins a table with its header.
func NewTable(w io.Writer, header ...string) *Table {
	t := &Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.Row(header...)
	return t
}

// Row adds a row of cells, as a terminal may be given them.
func (t *Table) Row(cells ...string) {
	for i, c := range cells {
		if i > 0 {
			fmt.Fprint(t.w, "\t")
		}
		fmt.Fprint(t.w, PlainText(c))
	}
	fmt.Fprintln(t.w)
}

// Flush writes the table.
func (t *Table) Flush() error { return t.w.Flush() }

// BytesText formats a size for people.
func BytesText(n float64) string {
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if n < 1024 || unit == "GiB" {
			if n == float64(int64(n)) {
				return fmt.Sprintf("%.0f %s", n, unit)
			}
			return fmt.Sprintf("%.1f %s", n, unit)
		}
		n /= 1024
	}
	return ""
}
