package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
	"github.com/warptune/warptune/tuner/record"
)

// readRecords reads a records file by record.Read or record.ReadMeasured, - for standard
// input. What cannot be used of it is said on stderr.
func (a *app) readRecords(name string, read func(string, io.Reader) ([]record.Record, record.Odd, error)) ([]record.Record, error) {
	f := os.Stdin
	if name != "-" {
		var err error
		if f, err = os.Open(name); err != nil {
			return nil, err
		}
		defer f.Close()
	}
	recs, odd, err := read(name, f)
	a.odd(name, odd.String())
	if err == nil && len(recs) == 0 {
		err = fmt.Errorf("%s holds no records", name)
	}
	return recs, err
}

// odd says once what of a file cannot be used.
func (a *app) odd(file, what string) {
	if what != "" {
		fmt.Fprintf(a.stderr, "warptune: %s: %s\n", file, what)
	}
}

// openPTX opens a directory of PTX files, or an archive of them; nil for "".
func openPTX(name string) (fs.FS, func(), error) {
	if name == "" {
		return nil, func() {}, nil
	}
	return ptxfiles.Open(name)
}
