package catalogue

import (
	"bytes"
	"encoding/binary"
	"fmt"
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

// packed is one text: the forms of its lines, then its columns in the order of forms and gaps, as variable-length
// integers (those of columns signed).
type packed struct {
	Bytes       int // of the text
	ids, values []byte
}

// pack packs a text.
func (f *forms) pack(text []byte) (*packed, error) {
	if bytes.IndexByte(text, gap) >= 0 || !utf8.Valid(text) {
		return nil, fmt.Errorf("byte 0 or bytes that are not UTF-8 in PTX")
	}
	p := &packed{Bytes: len(text)}
	columns := map[int][][]int64{}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		form, numbers := parse(line)
		id, known := f.ids[form]
		if !known {
			id = len(f.texts)
			f.ids[form] = id
			f.texts = append(f.texts, form)
		}
		p.ids = binary.AppendUvarint(p.ids, uint64(id))
		if columns[id] == nil {
			columns[id] = make([][]int64, len(numbers))
		}
		for i, n := range numbers {
			columns[id][i] = append(columns[id][i], n)
		}
	}
	for id := range f.texts {
		for _, column := range columns[id] {
			last := int64(0)
			for _, n := range column {
				p.values = binary.AppendVarint(p.values, n-last)
				last = n
			}
		}
	}
	return p, nil
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
	var lines []int
	count := make([]int, len(forms))
	for rest := p.ids; len(rest) > 0; {
		id, n := binary.Uvarint(rest)
		if n <= 0 || id >= uint64(len(forms)) {
			return nil, fmt.Errorf("a line has no form")
		}
		lines, rest = append(lines, int(id)), rest[n:]
		count[id]++
	}
	columns := make([][][]int64, len(forms))
	values := p.values
	for id, parts := range forms {
		if count[id] == 0 {
			continue
		}
		for range parts[1:] {
			column := make([]int64, count[id])
			last := int64(0)
			for i := range column {
				change, n := binary.Varint(values)
				if n <= 0 {
					return nil, fmt.Errorf("the numbers end early")
				}
				last += change
				column[i], values = last, values[n:]
			}
			columns[id] = append(columns[id], column)
		}
	}
	out := make([]byte, 0, p.Bytes)
	row := make([]int, len(forms))
	for i, id := range lines {
		if i > 0 {
			out = append(out, '\n')
		}
		for i, part := range forms[id] {
			if i > 0 {
				out = strconv.AppendInt(out, columns[id][i-1][row[id]], 10)
			}
			out = append(out, part...)
		}
		if row[id]++; len(out) > p.Bytes {
			break
		}
	}
	if len(values) > 0 || len(out) != p.Bytes {
		return nil, fmt.Errorf("another text than was packed")
	}
	return out, nil
}
