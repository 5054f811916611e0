package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/warptune/warptune/tuner/kernel/catalogue"
)

// writeLines writes prebuilt/lines.zst from PTX compiled with -lineinfo: dir/KERNEL.lines.json is an object of PTX by a
// variant's macros. PTX whose operations are not those of the archive's is of another compiler, and left out.
func writeLines(dir string) error {
	table := map[string]catalogue.Lines{}
	for _, k := range catalogue.All() {
		text, err := os.ReadFile(filepath.Join(dir, k.Name+".lines.json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		var with map[string]string
		if err := json.Unmarshal(text, &with); err != nil {
			return fmt.Errorf("%s: %w", k.Name, err)
		}
		archive, err := k.Prebuilt()
		if err != nil {
			return err
		}
		table[k.Name] = catalogue.Lines{Source: archive.Source, Variants: map[string]catalogue.LineRuns{}}
		for macros, ptx := range with {
			plain, ok, err := archive.Find(macros)
			if err != nil {
				return err
			}
			if ok && slices.Equal(operations(plain), operations([]byte(ptx))) {
				table[k.Name].Variants[macros] = lineRuns([]byte(ptx), k.SourceName())
			}
		}
		fmt.Printf("%-16s lines of %d of %d variants\n", k.Name, len(table[k.Name].Variants), archive.Variants)
	}
	out, err := catalogue.EncodeLines(table)
	if err == nil {
		out, _, err = smaller(out, "")
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("prebuilt", "lines.zst"), out, 0o644)
}

var (
	operation = regexp.MustCompile(`(?m)^\t(?:@!?%p\d+ )?\s*([a-z][a-zA-Z0-9_.:]*)`)
	fileEntry = regexp.MustCompile(`(?m)^\s*\.file\s+(\d+) "([^"]*)"`)
	locEntry  = regexp.MustCompile(`^\t\.loc\t(\d+) (\d+)`)
)

// operations are the operations of PTX, in their order.
func operations(ptx []byte) (out []string) {
	for _, m := range operation.FindAllSubmatch(ptx, -1) {
		out = append(out, string(m[1]))
	}
	return out
}

// lineRuns are the lines of a file in PTX; instructions from other files have the last one.
func lineRuns(ptx []byte, name string) (out catalogue.LineRuns) {
	own := ""
	for _, m := range fileEntry.FindAllSubmatch(ptx, -1) {
		if filepath.Base(string(m[2])) == name {
			own = string(m[1])
		}
	}
	at := 0
	for line := range bytes.Lines(ptx) {
		if m := locEntry.FindSubmatch(line); m != nil && string(m[1]) == own {
			at, _ = strconv.Atoi(string(m[2]))
		}
		switch n := len(out); {
		case !operation.Match(line):
		case n > 0 && out[n-2] == at:
			out[n-1]++
		default:
			out = append(out, at, 1)
		}
	}
	return out
}
