package bundle

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
)

// Packed ends the name of the script in the folder that Write fills.
const Packed = ".gz"

// Write writes the files of Build into a folder, the script compressed.
func Write(dist string, files map[string][]byte) error {
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if name == Script {
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
	if name != Script {
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
