package main

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

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

// openPTX opens a directory of PTX files, or a .zip of them; nil for "".
func openPTX(name string) (fs.FS, func(), error) {
	if name == "" {
		return nil, func() {}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		return os.DirFS(name), func() {}, nil
	}
	if !strings.HasSuffix(name, ".zip") {
		return nil, nil, fmt.Errorf("%s is neither a directory nor a .zip file", name)
	}
	z, err := zip.OpenReader(name)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return flat(z), func() { z.Close() }, nil
}

// flat is a zip's files by base name: archives differ in the folder they
// put the files under.
func flat(z *zip.ReadCloser) fs.FS {
	files := make(flatFS, len(z.File))
	for _, f := range z.File {
		files[path.Base(f.Name)] = f
	}
	return files
}

type flatFS map[string]*zip.File

func (f flatFS) Open(name string) (fs.File, error) {
	file, ok := f[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	r, err := file.Open()
	if err != nil {
		return nil, err
	}
	return zipFile{r, file}, nil
}

type zipFile struct {
	readCloser
	file *zip.File
}

type readCloser interface {
	Read([]byte) (int, error)
	Close() error
}

func (z zipFile) Stat() (fs.FileInfo, error) { return z.file.FileInfo(), nil }
