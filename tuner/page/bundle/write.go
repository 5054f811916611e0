package bundle

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
)

// Packed ends the names of what is compressed in the folder that Write fills: the script and the styles.
const Packed = ".gz"

func isPacked(name string) bool { return name == Script || name == Style }

// Write writes the files of Build into a folder.
func Write(dist string, files map[string][]byte) error {
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if isPacked(name) {
			var err error
			if text, err = pack(text); err != nil {
				return err
			}
			name += Packed
		}
		if err := os.WriteFile(filepath.Join(dist, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func pack(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Read returns a file of a folder that Write filled, by the name that Build gives it.
func Read(dist, name string) ([]byte, error) {
	if !isPacked(name) {
		return os.ReadFile(filepath.Join(dist, name))
	}
	packed, err := os.ReadFile(filepath.Join(dist, name+Packed))
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
