package main

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
	"github.com/warptune/warptune/tuner/record"
)

// readRecords reads a records file, - for standard input.
func readRecords(name string) ([]record.Record, error) {
	f := os.Stdin
	if name != "-" {
		var err error
		if f, err = os.Open(name); err != nil {
			return nil, err
		}
		defer f.Close()
	}
	recs, err := record.Read(name, f)
	if err == nil && len(recs) == 0 {
		err = fmt.Errorf("%s holds no records", name)
	}
	return recs, err
}

// openPTX opens a directory of PTX files, or an archive of them; nil for "".
func openPTX(name string) (fs.FS, func(), error) {
	if name == "" {
		return nil, func() {}, nil
	}
	return ptxfiles.Open(name)
}
