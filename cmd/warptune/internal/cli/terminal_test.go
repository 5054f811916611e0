package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"
)

// What compilers, workers and submitters wrote is shown, and steers no terminal:
// neither in a table, nor in a line, nor in an error.
func TestNothingSteersTheTerminal(t *testing.T) {
	const hostile = "k.cu:1: error: \x1b]0;owned\x07\x1b[2J\u009b31mred\r\x00\ttail"
	var text bytes.Buffer
	table := NewTable(&text, "A", "B")
	table.Row(hostile, "next")
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	for what, shown := range map[string]string{"a table": text.String(), "a line": OneLineText(hostile + "\nmore"), "an error": OneLine(errors.New(hostile + "\nmore"))} {
		if strings.ContainsFunc(strings.ReplaceAll(shown, "\n", ""), unicode.IsControl) || !strings.Contains(shown, "owned") || !strings.Contains(shown, "tail") {
			t.Errorf("%s shows %q", what, shown)
		}
	}
	if rows := strings.Split(text.String(), "\n"); len(rows) != 3 || !strings.HasSuffix(rows[1], "  next") {
		t.Errorf("the table is\n%s", text.String())
	}
}
