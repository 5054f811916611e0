package replay

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/warptune/warptune/search/replay"
	"github.com/warptune/warptune/search/strategies"
)

// plotScores draws a space's scores into DIR/SPACE.svg.
func plotScores(dir string, scores []replay.Score) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, group := range replay.BySpace(scores) {
		var b bytes.Buffer
		if err := replay.Plot(&b, group); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fileName(group[0].Space)+".svg"), b.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// fileName is a space's name with what file names had better not hold replaced.
func fileName(space string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, space)
}

// Tables go between these lines of a Markdown file.
const (
	tablesBegin = "<!-- tables: written by make search -->\n"
	tablesEnd   = "<!-- end of tables -->\n"
)

// tables returns the lines between which what is replayed goes.
func (r *replays) tables() [2]string {
	if r.table != "" {
		return [2]string{"<!-- begin " + r.table + " -->\n", "<!-- end " + r.table + " -->\n"}
	}
	return [2]string{tablesBegin, tablesEnd}
}

// cutTables returns what is before and after the tables of a Markdown file.
func cutTables(name string, between [2]string) (before, after []byte, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	before, rest, ok := bytes.Cut(text, []byte(between[0]))
	_, after, end := bytes.Cut(rest, []byte(between[1]))
	if !ok || !end {
		return nil, nil, fmt.Errorf("%s: no place for tables: want the lines %q and %q", name, between[0], between[1])
	}
	return before, after, nil
}

// replaceTables has write write the tables of a Markdown file anew.
func replaceTables(name string, between [2]string, write func(io.Writer) error) error {
	before, after, err := cutTables(name, between)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(between[0])
	if err := write(&b); err != nil {
		return err
	}
	b.WriteString(between[1])
	b.Write(after)
	return os.WriteFile(name, b.Bytes(), 0o666)
}

// markScores replaces the tables of a Markdown file; the plots that they show are
// in a directory, if any.
func (r *replays) markScores(scores []replay.Score) error {
	if r.table != "" {
		return replaceTables(r.markdown, r.tables(), func(w io.Writer) error {
			header, rows := replay.Table(scores, false)
			return replay.MarkdownTable(w, header, rows)
		})
	}
	var image func(string) string
	if r.plot != "" {
		dir, err := relative(filepath.Dir(r.markdown), r.plot)
		if err != nil {
			return err
		}
		image = func(space string) string { return filepath.ToSlash(filepath.Join(dir, fileName(space)+".svg")) }
	}
	return replaceTables(r.markdown, r.tables(), func(w io.Writer) error {
		return replay.Markdown(w, scores, strategies.Recommended, image)
	})
}

// relative returns a directory as seen from another, either of which may be
// absolute.
func relative(from, dir string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	return filepath.Rel(from, dir)
}
