package ptxfiles

import (
	"archive/tar"
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/klauspost/compress/zstd"
)

// maxBytes bounds what an archive unpacks to, and maxWindow what it may refer back to.
const (
	maxBytes  = 512 << 20
	maxWindow = 128 << 20
)

// readTar reads the files of a .tar.zst into memory.
func readTar(name string) (packed, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dec, err := zstd.NewReader(bufio.NewReader(f), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	files := packed{}
	limited := &io.LimitedReader{R: dec, N: maxBytes}
	for t := tar.NewReader(limited); ; {
		h, err := t.Next()
		if err == io.EOF {
			return files, nil
		}
		if err == nil && h.Typeflag != tar.TypeReg {
			continue
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(t)
		}
		if err != nil && limited.N <= 0 {
			err = fmt.Errorf("more than %d MB unpacked", maxBytes>>20)
		}
		if err != nil {
			return nil, fmt.Errorf("damaged archive: %w", err)
		}
		base, err := inside(h.Name)
		if err != nil {
			return nil, err
		}
		if _, ok := files[base]; ok {
			return nil, fmt.Errorf("two files are called %s", base)
		}
		files[base] = text
	}
}

// packed is the files of an archive by base name.
type packed map[string][]byte

func (p packed) Open(name string) (fs.File, error) {
	text, ok := p[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &packedFile{bytes.NewReader(text), info{name, int64(len(text))}}, nil
}

type packedFile struct {
	*bytes.Reader
	info info
}

func (f *packedFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *packedFile) Close() error               { return nil }

type info struct {
	name  string
	bytes int64
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.bytes }
func (i info) Mode() fs.FileMode  { return 0o444 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }

// Names lists the files of an archive that Open opened; of a directory, those directly in it.
func Names(files fs.FS) ([]string, error) {
	var names []string
	switch f := files.(type) {
	case packed:
		for name := range f {
			names = append(names, name)
		}
	case zipped:
		for name := range f {
			names = append(names, name)
		}
	default:
		entries, err := fs.ReadDir(files, ".")
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	return names, nil
}
