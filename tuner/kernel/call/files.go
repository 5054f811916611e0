package call

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Files reads files by slash-separated name relative to the definition.
type Files interface {
	ReadFile(name string) ([]byte, error) // errors.Is(err, fs.ErrNotExist) when missing
}

// Dir is the files of a directory and below. Names and links that lead out of
// it are refused.
type Dir string

// ReadFile implements Files.
func (d Dir) ReadFile(name string) ([]byte, error) {
	if err := Inside(name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	b, err := readLimited(root, name)
	var p *fs.PathError
	if errors.As(err, &p) { // says "openat" and only the name
		err = &fs.PathError{Op: "open", Path: filepath.Join(string(d), filepath.FromSlash(name)), Err: p.Err}
	}
	return b, err
}

// MaxFile bounds a file beside a definition in bytes.
const MaxFile = 64 << 20

func readLimited(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(b) > MaxFile {
		return nil, fmt.Errorf("%s has more than the %d MiB that a definition's file may have", name, MaxFile>>20)
	}
	return b, err
}

// Memory is files held in memory.
type Memory map[string][]byte

// ReadFile implements Files.
func (m Memory) ReadFile(name string) ([]byte, error) {
	if b, ok := m[name]; ok {
		return b, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Inside refuses names that lead out of the definition's directory.
func Inside(name string) error {
	if !fs.ValidPath(name) || name == "." {
		return fmt.Errorf("file %q: a path inside the definition's directory is needed, without .. and not absolute", name)
	}
	return nil
}

var (
	_ Files = Dir("")
	_ Files = Memory(nil)
)
