package results

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Content returns a file's bytes, unpacked where its name ends in .gz.
func Content(path string) ([]byte, error) {
	f, text, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return content, nil
}

// open opens a file for reading what is in it, unpacked where its name ends in .gz.
func open(path string) (*os.File, io.Reader, error) {
	f, err := os.Open(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return f, f, err
	}
	text, err := gzip.NewReader(f)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, text, nil
}

// Read returns the records of a file of one JSON object a line, unpacked where its name ends in .gz. It
// fails, naming the file and the record, where one is not a T, and where there is none.
func Read[T any](path string) ([]T, error) {
	f, text, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var records []T
	for d := json.NewDecoder(text); ; {
		var r T
		switch err := d.Decode(&r); {
		case errors.Is(err, io.EOF) && len(records) > 0:
			return records, nil
		case err != nil:
			return nil, fmt.Errorf("%s, record %d: %w", path, len(records)+1, err)
		}
		records = append(records, r)
	}
}
