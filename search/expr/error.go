package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error says what is wrong with an expression and where.
type Error struct {
	Text   string // of the whole expression
	Offset int    // bytes into Text
	Msg    string
}

// Error returns one line: the expression, the column and the message.
func (e *Error) Error() string {
	line, col := e.Position()
	at := fmt.Sprintf("column %d", col)
	if strings.Contains(e.Text, "\n") {
		at = fmt.Sprintf("line %d column %d", line, col)
	}
	return fmt.Sprintf("%q, %s: %s", e.excerpt(), at, e.Msg)
}

// excerpt returns the text when it is short, else the part around the error.
func (e *Error) excerpt() string {
	const width = 80
	if len(e.Text) <= width {
		return e.Text
	}
	from := max(0, min(e.Offset-width/2, len(e.Text)-width))
	to := min(len(e.Text), from+width)
	for from > 0 && !utf8.RuneStart(e.Text[from]) {
		from--
	}
	for to < len(e.Text) && !utf8.RuneStart(e.Text[to]) {
		to++
	}
	s := e.Text[from:to]
	if from > 0 {
		s = "…" + s
	}
	if to < len(e.Text) {
		s += "…"
	}
	return s
}

// Position returns the line and the column, both from 1; columns count
// characters.
func (e *Error) Position() (line, column int) {
	before := e.Text[:min(e.Offset, len(e.Text))]
	line = 1 + strings.Count(before, "\n")
	return line, 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

// Caret returns the line of the expression that is wrong and, below it, a
// caret at the place.
func (e *Error) Caret() string {
	line, col := e.Position()
	return strings.Split(e.Text, "\n")[line-1] + "\n" + strings.Repeat(" ", col-1) + "^"
}
