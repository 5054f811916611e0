// Package ptxfiles reads PTX files from where they are kept: a directory, a .zip, or a .tar.zst.
//
// A .tar.zst is for many files that are much alike, such as the PTX of a kernel's configurations: it is
// compressed as one stream, and so takes about a quarter of what a .zip of the same files takes.
package ptxfiles

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Open opens a directory, a .zip or a .tar.zst of PTX files. Files of an archive are found by their base
// names: archives differ in the folder they put files under. The caller calls close when it has read all
// that it wants; close may be called once.
func Open(name string) (files fs.FS, close func(), err error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, nil, err
	case info.IsDir():
		return os.DirFS(name), func() {}, nil
	case strings.HasSuffix(name, ".tar.zst"):
		packed, err := readTar(name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		return packed, func() {}, nil
	case !strings.HasSuffix(name, ".zip"):
		return nil, nil, fmt.Errorf("%s is neither a directory nor a .zip or .tar.zst file", name)
	}
	z, err := zip.OpenReader(name)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	flat, err := flatZip(z)
	if err != nil {
		z.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return flat, func() { z.Close() }, nil
}

// flatZip is a zip's files by base name.
func flatZip(z *zip.ReadCloser) (zipped, error) {
	files := make(zipped, len(z.File))
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		base, err := inside(f.Name)
		if err != nil {
			return nil, err
		}
		if _, ok := files[base]; ok {
			return nil, fmt.Errorf("two files are called %s", base)
		}
		files[base] = f
	}
	return files, nil
}

// inside is the base name of an archive's file, whose name must not lead out of the archive.
func inside(name string) (base string, err error) {
	clean := path.Clean(name)
	if path.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsRune(name, '\\') {
		return "", fmt.Errorf("file %q leads out of the archive", name)
	}
	return path.Base(clean), nil
}

// zipped is the files of a zip by base name, each unpacked when it is read.
type zipped map[string]*zip.File

func (z zipped) Open(name string) (fs.File, error) {
	file, ok := z[name]
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
