package replay

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// ReadCSV reads a space recorded as comma-separated values, gzipped or not: a
// header line, then a line a configuration. The columns before "status" are
// parameters; lines whose status is "ok" have a positive "time_ms", the others
// failed. Other columns are ignored. The file's name gives the record's.
func ReadCSV(name string, r io.Reader) (*Record, error) {
	text, err := plain(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	lines := csv.NewReader(text)
	header, err := lines.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: the file is empty", name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: header: %w", name, err)
	}
	status, time := slices.Index(header, "status"), slices.Index(header, "time_ms")
	if status < 1 || time < 0 {
		return nil, fmt.Errorf("%s: header %q: want parameters, then the columns status and time_ms", name, header)
	}
	var rows []Row
	for {
		line, err := lines.Read()
		if err == io.EOF && len(rows) == 0 {
			return nil, fmt.Errorf("%s: a header and no configurations", name)
		}
		if err == io.EOF {
			return New(Title(name), header[:status], rows)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		row := Row{Values: slices.Clone(line[:status])}
		if line[status] == "ok" {
			row.Valid = true
			if row.Time, err = strconv.ParseFloat(line[time], 64); err != nil {
				at, _ := lines.FieldPos(time)
				return nil, fmt.Errorf("%s:%d: the time_ms %q is no number", name, at, line[time])
			}
		}
		rows = append(rows, row)
	}
}
