package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/warptune/warptune/search/replay"
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
		if err := os.WriteFile(filepath.Join(dir, group[0].Space+".svg"), b.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Tables go between these lines of a Markdown file.
const (
	tablesBegin = "<!-- tables: written by make search -->\n"
	tablesEnd   = "<!-- end of tables -->\n"
)

// markScores replaces the tables of a Markdown file.
func markScores(name string, scores []replay.Score) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(text, []byte(tablesBegin))
	_, after, end := bytes.Cut(rest, []byte(tablesEnd))
	if !ok || !end {
		return fmt.Errorf("%s: no place for tables: want the lines %q and %q", name, tablesBegin, tablesEnd)
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(tablesBegin)
	if err := replay.Markdown(&b, scores); err != nil {
		return err
	}
	b.WriteString(tablesEnd)
	b.Write(after)
	return os.WriteFile(name, b.Bytes(), 0o666)
}
