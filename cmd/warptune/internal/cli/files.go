package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
	"github.com/warptune/warptune/tuner/record"
)

// ReadRecords reads a records file by record.Read or record.ReadMeasured, - for standard
// input. What cannot be used of it is said on stderr.
func (a *App) ReadRecords(name string, read func(string, io.Reader) ([]record.Record, record.Odd, error)) ([]record.Record, error) {
	f := os.Stdin
	if name != "-" {
		var err error
		if f, err = os.Open(name); err != nil {
			return nil, err
		}
		defer f.Close()
	}
	recs, odd, err := read(name, f)
	a.Odd(name, odd.String())
	if err == nil && len(recs) == 0 {
		err = fmt.Errorf("%s holds no records", name)
	}
	return recs, err
}

// Odd says once what of a file cannot be used.
func (a *App) Odd(file, what string) {
	if what != "" {
		fmt.Fprintf(a.Stderr, "warptune: %s: %s\n", file, what)
	}
}

// OpenPTX opens a directory of PTX files, or an archive of them; nil for "".
func OpenPTX(name string) (fs.FS, func(), error) {
	if name == "" {
		return nil, func() {}, nil
	}
	return ptxfiles.Open(name)
}
