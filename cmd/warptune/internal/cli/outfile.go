package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Outfile is where results go: standard output, or a file that takes its place
// when it is complete. It is opened before the work whose results it is for.
type Outfile struct {
	io.Writer
	file *os.File // nil: standard output
	path string
}

// Create opens the place for results; "" is standard output.
func (a *App) Create(path string) (*Outfile, error) {
	if path == "" {
		return &Outfile{Writer: a.Stdout}, nil
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
	return &Outfile{Writer: f, file: f, path: path}, nil
}

// Finish puts the file in place if err is nil, else leaves no trace of it, and
// returns the first error.
func (o *Outfile) Finish(err error) error {
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
