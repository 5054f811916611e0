package replay

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
)

// Record is a space with an answer for each of its configurations. It is
// immutable and safe for concurrent use.
type Record struct {
	Name  string
	Space *search.Space
	// Time of each configuration by index, in the recording's unit; +Inf where
	// it failed.
	Time []float64
	// Predicted are predicted times by index, in the same unit, 0 where there is none, and Bound what was
	// predicted to bound them.
	Predicted []float64
	Bound     []string
	// sorted holds the times of the valid configurations, ascending.
	sorted []float64
}

// Row is one recorded configuration, its values as text.
type Row struct {
	Values []string
	Time   float64 // meaningless unless Valid
	Valid  bool
	// Predicted is the time that was predicted; 0: there is none. Bound is what bounds it.
	Predicted float64
	Bound     string
}

// Optimum returns the best time.
func (r *Record) Optimum() float64 { return r.sorted[0] }

// Median returns the median time of the valid configurations.
func (r *Record) Median() float64 { return r.sorted[len(r.sorted)/2] }

// Valid returns the number of configurations that have a time.
func (r *Record) Valid() int { return len(r.sorted) }

// Observation returns the answer for a configuration.
func (r *Record) Observation(i int64) search.Observation {
	t := r.Time[i]
	if math.IsInf(t, 1) {
		return search.Observation{Index: i}
	}
	return search.Observation{Index: i, Objective: t, Valid: true}
}

// New builds a record from rows of values of the named parameters. A
// parameter's values are those that occur: numbers ascend, texts stay in order
// of appearance. A configuration recorded twice is an error, and so is a record
// without a valid configuration or with a time that is not positive.
func New(name string, params []string, rows []Row) (*Record, error) {
	columns, values, err := parameters(params, rows)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	digits := make([][]int, len(rows))
	for k, row := range rows {
		digits[k] = make([]int, len(params))
		for p, text := range row.Values {
			digits[k][p] = values[p][text]
		}
	}
	space, err := search.FromList(columns, digits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &Record{Name: name, Space: space, Time: make([]float64, space.Size()), Predicted: make([]float64, space.Size()), Bound: make([]string, space.Size())}
	for k, row := range rows {
		i, _ := space.IndexOfDigits(digits[k])
		r.Predicted[i], r.Bound[i] = row.Predicted, row.Bound
		r.Time[i] = math.Inf(1)
		if !row.Valid {
			continue
		}
		if !(row.Time > 0) || math.IsInf(row.Time, 1) {
			return nil, fmt.Errorf("%s: %s has the time %v; a positive number is needed", name, space.At(i), row.Time)
		}
		r.Time[i] = row.Time
		r.sorted = append(r.sorted, row.Time)
	}
	if len(r.sorted) == 0 {
		return nil, fmt.Errorf("%s: none of %d configurations has a time", name, len(rows))
	}
	slices.Sort(r.sorted)
	return r, nil
}

// parameters returns the parameters that the rows' texts need, and for each the
// index of the value of a text.
func parameters(names []string, rows []Row) ([]search.Param, []map[string]int, error) {
	params := make([]search.Param, len(names))
	digits := make([]map[string]int, len(names))
	for p, name := range names {
		var texts []string
		digits[p] = map[string]int{}
		for k, row := range rows {
			if len(row.Values) != len(names) {
				return nil, nil, fmt.Errorf("row %d has %d values for %d parameters", k+1, len(row.Values), len(names))
			}
			if _, ok := digits[p][row.Values[p]]; !ok {
				digits[p][row.Values[p]] = 0
				texts = append(texts, row.Values[p])
			}
		}
		var kind search.Kind
		for _, k := range []search.Kind{search.Int, search.Float, search.Bool, search.String} {
			if kind = k; !slices.ContainsFunc(texts, func(t string) bool { _, err := search.ParseValue(k, t); return err != nil }) {
				break
			}
		}
		params[p] = search.Param{Name: name}
		of := map[string]search.Value{}
		for _, t := range texts {
			v, err := search.ParseValue(kind, t)
			if err != nil {
				return nil, nil, fmt.Errorf("parameter %s: %w", name, err)
			}
			if of[t] = v; !slices.Contains(params[p].Values, v) {
				params[p].Values = append(params[p].Values, v)
			}
		}
		slices.SortStableFunc(params[p].Values, compare)
		for t, v := range of {
			digits[p][t] = slices.Index(params[p].Values, v)
		}
	}
	return params, digits, nil
}

// compare orders numbers and truth values; texts are all equal.
func compare(a, b search.Value) int {
	switch {
	case a.I < b.I || a.F < b.F:
		return -1
	case a.I > b.I || a.F > b.F:
		return 1
	}
	return 0
}

// plain returns a reader of the decompressed bytes of gzip data, and of any
// other data as it is.
func plain(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	if head, err := b.Peek(2); err != nil || head[0] != 0x1f || head[1] != 0x8b {
		return b, nil
	}
	return gzip.NewReader(b)
}

// Title returns a record's name: its file's without folder and endings.
func Title(name string) string {
	if k := strings.LastIndexByte(name, '/'); k >= 0 {
		name = name[k+1:]
	}
	for _, end := range []string{".gz", ".csv", ".jsonl", ".json"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}
