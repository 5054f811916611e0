package page

import (
	"encoding/json"
	"math"
	"strconv"
)

// Numbers are numbers of which some are not known: NaN, in JSON null. They are written so that they are read back as
// they were.
type Numbers []float64

// MarshalJSON is in json.Marshaler.
func (n Numbers) MarshalJSON() ([]byte, error) {
	out := make([]byte, 0, 2+12*len(n))
	out = append(out, '[')
	for i, v := range n {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendNumber(out, v)
	}
	return append(out, ']'), nil
}

// appendNumber writes as encoding/json does, but what is not finite as null.
func appendNumber(out []byte, v float64) []byte {
	size := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return append(out, "null"...)
	case v == math.Trunc(v) && size < 1<<53:
		return strconv.AppendInt(out, int64(v), 10)
	case size < 1e-6 || size >= 1e21:
		return strconv.AppendFloat(out, v, 'e', -1, 64)
	}
	return strconv.AppendFloat(out, v, 'f', -1, 64)
}

// rounded is v with seven significant digits, as many as a drawing or a table shows and more: half as long in JSON.
func rounded(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 6, 64), 64)
	if err != nil {
		return v
	}
	return short
}

// UnmarshalJSON is in json.Unmarshaler.
func (n *Numbers) UnmarshalJSON(data []byte) error {
	var all []*float64
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*n = make(Numbers, len(all))
	for i, v := range all {
		(*n)[i] = math.NaN()
		if v != nil {
			(*n)[i] = *v
		}
	}
	return nil
}
