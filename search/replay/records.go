package replay

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sort"
)

// measured is the part of a line of measured records that a space needs.
type measured struct {
	Group   string                     `json:"group"`
	Kernel  string                     `json:"kernel"`
	Problem []int64                    `json:"problem_size"`
	Params  map[string]json.RawMessage `json:"params"`
	Time    *struct {
		Median float64 `json:"median"`
	} `json:"time_us"`
	Predicted *float64 `json:"predicted_us"`
	Bound     string   `json:"bound"`
}

// Searchable is how many configurations make a space worth searching.
const Searchable = 100

// ReadRecords reads measured records, one JSON object a line, gzipped or not:
// those of a group form one space, without one those of a kernel and problem
// size. Params are the parameters, in order of name; the median of time_us, in
// microseconds, is the time, and a record without it failed. Groups of fewer than least valid configurations are left
// out: Searchable where they are searched.
func ReadRecords(name string, r io.Reader, least int) ([]*Record, error) {
	text, err := plain(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var order []string
	groups := map[string][]measured{}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var m measured
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if m.Group == "" {
			if m.Group = m.Kernel; len(m.Problem) > 0 {
				m.Group += fmt.Sprint(" ", m.Problem)
			}
		}
		if _, ok := groups[m.Group]; !ok {
			order = append(order, m.Group)
		}
		groups[m.Group] = append(groups[m.Group], m)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var all []*Record
	for _, g := range order {
		if len(groups[g]) < least {
			continue
		}
		rec, err := group(g, groups[g])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, rec)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no group has %d records or more: there is nothing to search", name, least)
	}
	return all, nil
}

func group(name string, lines []measured) (*Record, error) {
	var params []string
	for p := range lines[0].Params {
		params = append(params, p)
	}
	sort.Strings(params)
	rows := make([]Row, len(lines))
	for k, m := range lines {
		if len(m.Params) != len(params) {
			return nil, fmt.Errorf("%s: records have different parameters", name)
		}
		for _, p := range params {
			v, ok := m.Params[p]
			if !ok {
				return nil, fmt.Errorf("%s: a record lacks the parameter %s", name, p)
			}
			rows[k].Values = append(rows[k].Values, string(v))
		}
		if m.Time != nil {
			rows[k].Time, rows[k].Valid = m.Time.Median, true
		}
		if rows[k].Bound = m.Bound; m.Predicted != nil {
			rows[k].Predicted = *m.Predicted
		}
	}
	return New(name, params, rows)
}
