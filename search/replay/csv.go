package replay

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// failedMS is a time that marks a failure, or a larger one.
const failedMS = 1e20

// ReadCSV reads a space recorded as comma-separated values, gzipped or not: a
// header line, then a line a configuration. The columns before "status" are
// parameters; lines whose status is "ok" have a positive "time_ms", the others
// failed. One whose time is none, or marks a failure, counts as failed; odd says how many
// there are. Other columns are ignored. The file's name gives the record's.
func ReadCSV(name string, r io.Reader) (rec *Record, odd string, err error) {
	text, err := plain(r)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	lines := csv.NewReader(text)
	header, err := lines.Read()
	if err == io.EOF {
		return nil, "", fmt.Errorf("%s: the file is empty", name)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: header: %w", name, err)
	}
	status, time := slices.Index(header, "status"), slices.Index(header, "time_ms")
	if status < 1 || time < 0 {
		return nil, "", fmt.Errorf("%s: header %q: want parameters, then the columns status and time_ms", name, header)
	}
	var rows []Row
	count, first := 0, ""
	for {
		line, err := lines.Read()
		if err == io.EOF && len(rows) == 0 {
			return nil, "", fmt.Errorf("%s: a header and no configurations", name)
		}
		if err == io.EOF {
			if count > 0 {
				odd = fmt.Sprintf("%d configurations have no positive time and count as failed, the first on %s", count, first)
			}
			rec, err = New(Title(name), header[:status], rows)
			return rec, odd, err
		}
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
		row := Row{Values: slices.Clone(line[:status])}
		if line[status] == "ok" {
			if row.Time, err = strconv.ParseFloat(line[time], 64); err == nil && row.Time > 0 && row.Time < failedMS {
				row.Valid = true
			} else if count++; count == 1 {
				at, _ := lines.FieldPos(time)
				first = fmt.Sprintf("line %d, whose time_ms is %q", at, line[time])
			}
		}
		rows = append(rows, row)
	}
}
