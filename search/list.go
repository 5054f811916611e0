package search

import (
	"fmt"
	"slices"
	"sort"
)

// FromList builds the space of exactly the configurations listed, in any
// order: digits[k][p] is the index of parameter p's value in the k-th. A
// configuration listed twice is an error. The space is a decision diagram like
// any other; digits is not kept.
func FromList(params []Param, digits [][]int) (*Space, error) {
	if err := validateParams(params); err != nil {
		return nil, err
	}
	if len(params) == 0 {
		return nil, fmt.Errorf("a listed space needs a parameter")
	}
	for k, row := range digits {
		if len(row) != len(params) {
			return nil, fmt.Errorf("listed configuration %d has %d values for %d parameters", k, len(row), len(params))
		}
		for p, d := range row {
			if d < 0 || d >= len(params[p].Values) {
				return nil, fmt.Errorf("listed configuration %d has value %d of parameter %s, which has %d", k, d, params[p].Name, len(params[p].Values))
			}
		}
	}
	rows := slices.Clone(digits)
	slices.SortFunc(rows, slices.Compare)
	for k := 1; k < len(rows); k++ {
		if slices.Equal(rows[k-1], rows[k]) {
			return nil, fmt.Errorf("configuration %s is listed twice", named(params, rows[k]))
		}
	}
	s := newSpace(params, nil)
	s.listed = true
	b := &builder{unique: map[string]int32{}, out: &diagram{}, levels: make([]level, len(params))}
	for p := range params {
		b.out.params = append(b.out.params, p)
	}
	b.out.root = b.list(rows, 0)
	s.components, s.size = []*diagram{b.out}, b.out.size()
	s.findAlive()
	return s, nil
}

// named is a listed configuration as Config.String writes it.
func named(params []Param, digits []int) string {
	var c Config
	for p, d := range digits {
		c.Names, c.Values = append(c.Names, params[p].Name), append(c.Values, params[p].Values[d])
	}
	return c.String()
}

// list returns the node of the rows, sorted and equal before level t; -1 when
// there are none.
func (b *builder) list(rows [][]int, t int) int32 {
	if len(rows) == 0 {
		return -1
	}
	if t == len(b.levels) {
		return 0
	}
	l := &b.levels[t]
	l.edges = l.edges[:0]
	for len(rows) > 0 {
		digit := rows[0][t]
		n := sort.Search(len(rows), func(k int) bool { return rows[k][t] > digit })
		to := b.list(rows[:n], t+1)
		l.edges = append(l.edges, edge{digit: int32(digit), to: to})
		rows = rows[n:]
	}
	return b.node(l)
}

// restrictList is Restrict of a listed space to parameters with fewer values.
func (s *Space) restrictList(params []Param) (*Space, error) {
	digits := make([]map[Value]int, len(params))
	for p, param := range params {
		digits[p] = map[Value]int{}
		for d, v := range param.Values {
			digits[p][v] = d
		}
	}
	var rows [][]int
	for _, c := range s.All() {
		row := make([]int, 0, len(params))
		for p, v := range c.Values {
			if d, ok := digits[p][v]; ok {
				row = append(row, d)
			}
		}
		if len(row) == len(params) {
			rows = append(rows, row)
		}
	}
	return FromList(params, rows)
}
