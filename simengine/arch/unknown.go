package arch

import (
	"fmt"
	"strings"
)

// UnknownError is the error of Load for a name it does not know.
type UnknownError struct {
	Name    string
	Nearest string   // known name closest in spelling, "" when none is close
	Known   []string // every known name, sorted
}

// Error is one line: what was asked, the likeliest meaning, and every known name.
func (e *UnknownError) Error() string {
	hint := ""
	if e.Nearest != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", e.Nearest)
	}
	return fmt.Sprintf("unknown architecture %q%s; known: %s", e.Name, hint, strings.Join(e.Known, ", "))
}

// fold brings spellings of one name together: "RTX 4090", "rtx-4090", "rtx4090".
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.':
			return r
		}
		return -1
	}, name)
}

// nearest is the known name whose spelling, or whose alias's, is at most half
// its length of edits away; ties go to the name sorted first.
func nearest(folded string, c *catalogue) string {
	best, at := "", 1<<30
	for _, name := range c.names {
		d := c.byName[name]
		for _, a := range append([]string{d.Name}, d.Aliases...) {
			f := fold(a)
			if n := editDistance(folded, f); n < at && 2*n <= len(f) {
				best, at = name, n
			}
		}
	}
	return best
}

// editDistance is Levenshtein's; both names are short, long input is cut.
func editDistance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost = 1 + min(diagonal, row[j], row[j-1])
			}
			diagonal, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}
