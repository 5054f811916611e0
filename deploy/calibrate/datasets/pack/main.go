// Command pack writes as a tar what the records of a data set name of the PTX in a directory or an archive, in the
// order of their names. The same files give the same bytes. zstd's highest level makes it a quarter smaller than the
// Go package does, and so compresses it:
//
//	set=deploy/calibrate/datasets/NAME
//	go run ./deploy/calibrate/datasets/pack jobs/ptx $set | zstd --ultra -22 --long=27 > $set/ptx.tar.zst
package main

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pack PTX SET: a directory or .zip of PTX files, and the directory of a data set with its *.jsonl.gz")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	if err := errors.Join(pack(out, os.Args[1], os.Args[2]), out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// pack writes the tar of a data set.
func pack(w io.Writer, from, set string) error {
	files, done, err := ptxfiles.Open(from)
	if err != nil {
		return err
	}
	defer done()
	names, err := named(set)
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(text)), Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, err := t.Write(text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return t.Close()
}

// named lists the PTX files that the records of a data set name, in order.
func named(set string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(set, "*.jsonl.gz"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no records *.jsonl.gz in %s (%v)", set, err)
	}
	names := map[string]bool{}
	for _, path := range paths {
		records, err := results.Read[struct {
			PTX string `json:"ptx"`
		}](path)
		if err != nil {
			return nil, err
		}
		for i, r := range records {
			if r.PTX == "" {
				return nil, fmt.Errorf("%s, record %d names no PTX", path, i+1)
			}
			names[r.PTX+".ptx"] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}
