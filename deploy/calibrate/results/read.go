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

// Read returns the records of a file of one JSON object a line, unpacked where its name ends in .gz. It
// fails, naming the file and the record, where one is not a T, and where there is none.
func Read[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var text io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if text, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
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
