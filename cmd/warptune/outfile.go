package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// outfile is where results go: standard output, or a file that takes its place
// when it is complete. It is opened before the work whose results it is for.
type outfile struct {
	io.Writer
	file *os.File // nil: standard output
	path string
}

// create opens the place for results; "" is standard output.
func (a *app) create(path string) (*outfile, error) {
	if path == "" {
		return &outfile{Writer: a.stdout}, nil
	}
	var f *os.File
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // a pipe or a device, in place
		f, err = os.OpenFile(path, os.O_WRONLY, 0)
	} else {
		f, err = os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	}
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return &outfile{Writer: f, file: f, path: path}, nil
}

// finish puts the file in place if err is nil, else leaves no trace of it, and
// returns the first error.
func (o *outfile) finish(err error) error {
	if o.file == nil {
		return err
	}
	temp := o.file.Name() != o.path
	if temp && err == nil {
		err = o.file.Chmod(0o644)
	}
	err = errors.Join(err, o.file.Close())
	if temp && err == nil {
		err = os.Rename(o.file.Name(), o.path)
	}
	if temp && err != nil {
		_ = os.Remove(o.file.Name())
	}
	return err
}
