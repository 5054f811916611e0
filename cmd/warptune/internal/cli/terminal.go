package cli

import (
	"strings"
	"unicode"
)

// OneLine is an error's text without the line breaks of a compiler's output.
func OneLine(err error) string {
	return PlainText(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " | "))
}

// OneLineText is the first line of a text, as a terminal may be given it.
func OneLineText(s string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if rest != "" {
		line += " …"
	}
	return PlainText(line)
}

// PlainText is a text of somebody else's, as a terminal may be given it: without
// what would steer the terminal.
func PlainText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return '\uFFFD'
		}
		return r
	}, s)
}
