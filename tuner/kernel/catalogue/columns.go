package catalogue

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// The variants of a kernel differ by little else than their numbers: of registers, offsets and sizes. A text is
// therefore stored as a column store has a table. A line is its form, the text with a gap for each number, and its
// numbers; a column is the numbers in one gap of one form, each less the one before:
//
//	fma.rn.f32 %f9, %f1, %f5, %f8;     form 3: fma.rn.f32 %f_, %f_, %f_, %f_;
//	fma.rn.f32 %f10, %f2, %f5, %f9;    columns of form 3: 9 1, 1 1, 5 0, 8 1
//
// so that unrolled loops are the same few bytes again and again.

// gap stands in a form for a number. No PTX has it.
const gap = 0

// most is the digits of the longest number that is taken out of a line.
const most = 18

// forms numbers the forms of lines in the order in which they come.
type forms struct {
	texts []string
	ids   map[string]int
}

// packed is one text: the forms of its lines, then its columns by form and gap, both as variable-length integers
// (those of columns signed).
type packed struct {
	Bytes   int // of the text
	ids     []byte
	columns [][][]byte
}

// pack packs a text.
func (f *forms) pack(text []byte) (*packed, error) {
	if bytes.IndexByte(text, gap) >= 0 || !utf8.Valid(text) {
		return nil, fmt.Errorf("byte 0 or bytes that are not UTF-8 in PTX")
	}
	p := &packed{Bytes: len(text)}
	var last [][]int64
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		form, numbers := parse(line)
		id, known := f.ids[form]
		if !known {
			id = len(f.texts)
			f.ids[form] = id
			f.texts = append(f.texts, form)
		}
		p.ids = binary.AppendUvarint(p.ids, uint64(id))
		for len(last) <= id {
			last, p.columns = append(last, nil), append(p.columns, nil)
		}
		if last[id] == nil {
			last[id], p.columns[id] = make([]int64, len(numbers)), make([][]byte, len(numbers))
		}
		for i, n := range numbers {
			p.columns[id][i] = binary.AppendVarint(p.columns[id][i], n-last[id][i])
		}
		last[id] = numbers
	}
	return p, nil
}

// lines gives the forms of a text's lines one after another.
func (p *packed) lines(forms int, do func(id int)) error {
	for rest := p.ids; len(rest) > 0; {
		id, n := uint64(rest[0]), 1
		if id >= 0x80 {
			id, n = binary.Uvarint(rest)
		}
		if n <= 0 || id >= uint64(forms) {
			return fmt.Errorf("a line has no form")
		}
		do(int(id))
		rest = rest[n:]
	}
	return nil
}

// interleave gives the columns of all texts, each column of all of them together, since they are alike.
func interleave(forms [][]string, all []*packed) (out []byte) {
	for id, parts := range forms {
		for i := range parts[1:] {
			for _, p := range all {
				if id < len(p.columns) && p.columns[id] != nil {
					out = append(out, p.columns[id][i]...)
				}
			}
		}
	}
	return out
}

// separate gives the columns that interleave put together to their texts.
func separate(forms [][]string, all []*packed, columns []byte) error {
	counts := make([][]int, len(all))
	for k, p := range all {
		p.columns, counts[k] = make([][][]byte, len(forms)), make([]int, len(forms))
		if err := p.lines(len(forms), func(id int) { counts[k][id]++ }); err != nil {
			return err
		}
	}
	for id, parts := range forms {
		for range parts[1:] {
			for k, p := range all {
				if counts[k][id] == 0 {
					continue
				}
				end := 0
				for left := counts[k][id]; left > 0; end++ {
					if end == len(columns) {
						return fmt.Errorf("the numbers end early")
					}
					if columns[end] < 0x80 { // the last byte of a number
						left--
					}
				}
				p.columns[id], columns = append(p.columns[id], columns[:end:end]), columns[end:]
			}
		}
	}
	if len(columns) > 0 {
		return fmt.Errorf("%d bytes after the last number", len(columns))
	}
	return nil
}

// parse takes the numbers out of a line.
func parse(line []byte) (form string, numbers []int64) {
	var out []byte
	for i := 0; i < len(line); {
		end := i
		for end < len(line) && digit(line[end]) {
			end++
		}
		switch {
		case end == i:
			end++
			out = append(out, line[i])
		case isNumber(line, i, end):
			n, _ := strconv.ParseInt(string(line[i:end]), 10, 64) // at most 18 digits
			out, numbers = append(out, gap), append(numbers, n)
		default:
			out = append(out, line[i:end]...)
		}
		i = end
	}
	return string(out), numbers
}

// isNumber reports whether digits are a number as strconv writes it, and one that varies: a register's, an operand,
// an offset or a label's, not what belongs to a name, a type or a floating-point constant.
func isNumber(line []byte, start, end int) bool {
	if end-start > most || line[start] == '0' && end-start > 1 || start == 0 || end < len(line) && letter(line[end]) {
		return false
	}
	before := start - 1
	if bytes.IndexByte([]byte(" \t[+<,_-"), line[before]) >= 0 {
		return true
	}
	for before > 0 && letter(line[before]) {
		before--
	}
	return before < start-1 && line[before] == '%'
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// unpack is the text that was packed. forms has of each form the parts between gaps.
func (p *packed) unpack(forms [][]string) ([]byte, error) {
	type place struct {
		left [][]byte
		last []int64
	}
	at := make([]*place, len(forms))
	out := make([]byte, 0, p.Bytes+1)
	short := false
	err := p.lines(len(forms), func(id int) {
		if len(out) > p.Bytes {
			return
		}
		if at[id] == nil {
			at[id] = &place{slices.Clone(p.columns[id]), make([]int64, len(p.columns[id]))}
		}
		for k, part := range forms[id] {
			if k > 0 {
				change, n := binary.Varint(at[id].left[k-1])
				if n <= 0 {
					short = true
					return
				}
				at[id].left[k-1] = at[id].left[k-1][n:]
				at[id].last[k-1] += change
				out = strconv.AppendInt(out, at[id].last[k-1], 10)
			}
			out = append(out, part...)
		}
		out = append(out, '\n')
	})
	if err != nil || short || len(out) != p.Bytes+1 {
		return nil, errors.Join(err, fmt.Errorf("another text than was packed"))
	}
	return out[:p.Bytes:p.Bytes], nil
}
