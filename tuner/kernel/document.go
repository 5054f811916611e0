package kernel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// document is a JSON value with the path that leads to it, such as
// KernelSpecification.Arguments[2].Name. The value is nil, a bool, a
// json.Number, a string, []any or *object.
type document struct {
	path  string
	value any
}

// object is a JSON object in its order.
type object struct {
	keys   []string
	fields map[string]any
}

// maxNesting bounds the recursion over a document.
const maxNesting = 64

// parseDocument reads a JSON text. Errors give line and column; a field that
// occurs twice is one.
func parseDocument(text []byte) (document, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := parseValue(d, "", 0)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return document{value: v}, nil
		} else if err == nil {
			err = errors.New("text after the end of the definition")
		}
	}
	at := d.InputOffset()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = syntax.Offset
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		at, err = int64(len(text)), errors.New("the text ends early: the file is cut off")
	}
	before := text[:min(max(at, 0), int64(len(text)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return document{}, fmt.Errorf("line %d column %d: not a T1 definition in JSON: %w", line, column, err)
}

func parseValue(d *json.Decoder, path string, depth int) (any, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("values are nested deeper than %d levels", maxNesting)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseValue(d, fmt.Sprintf("%s[%d]", path, len(list)), depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	case json.Delim('{'):
		return parseObject(d, path, depth)
	}
	return t, nil
}

func parseObject(d *json.Decoder, path string, depth int) (any, error) {
	o := &object{fields: map[string]any{}}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // the decoder accepts nothing else here
		v, err := parseValue(d, join(path, key), depth+1)
		if err != nil {
			return nil, err
		}
		if _, twice := o.fields[key]; twice {
			return nil, fmt.Errorf("field %s occurs twice", join(path, key))
		}
		o.keys = append(o.keys, key)
		o.fields[key] = v
	}
	_, err := d.Token()
	return o, err
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// reader reads documents into Go values. The first error stays in err, and
// everything read after it is meaningless.
type reader struct {
	err      error
	warnings []Warning
}

func (r *reader) fail(path, format string, args ...any) {
	if r.err == nil {
		if path == "" {
			path = "definition"
		}
		r.err = fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...))
	}
}

func (r *reader) warn(path, format string, args ...any) {
	r.warnings = append(r.warnings, Warning{path, fmt.Sprintf(format, args...)})
}

// what names a value's JSON type in an error.
func what(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "a truth value"
	case json.Number:
		return "the number " + v.String()
	case string:
		return "the text " + strconv.Quote(v)
	case []any:
		return "a list"
	case *object:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}

// record is an object being read field by field.
type record struct {
	r      *reader
	path   string
	fields map[string]any // by known name
}

// record checks that d is an object and reads the fields that matter; the ignored
// ones mean nothing to us, whatever they hold. Fields that differ from one that
// matters only in case, spaces or underscores are taken for it, with a warning:
// real files have "Memory Type". Other fields are other tools' and ignored, with
// a warning, unless they are one that matters misspelt: that would silently be
// another definition.
func (r *reader) record(d document, matter []string, ignored ...string) *record {
	rec := &record{r, d.path, map[string]any{}}
	o, ok := d.value.(*object)
	if !ok {
		r.fail(d.path, "an object is expected, not %s", what(d.value))
		return rec
	}
	for _, key := range o.keys {
		name := key
		if !slices.Contains(matter, key) {
			if slices.Contains(ignored, key) {
				continue
			}
			k := slices.IndexFunc(matter, func(k string) bool { return fold(k) == fold(key) })
			if k < 0 {
				r.unknown(d.path, key, o, matter)
				continue
			}
			name = matter[k]
			r.warn(join(d.path, key), "read as %s", name)
			if _, twice := o.fields[name]; twice {
				r.fail(join(d.path, key), "the same field as %s", name)
				return rec
			}
		}
		rec.fields[name] = o.fields[key]
	}
	return rec
}

// unknown refuses a field that is one of those that matter, misspelt, and warns
// of any other.
func (r *reader) unknown(path, key string, o *object, matter []string) {
	hint := ""
	for _, name := range matter {
		if _, given := o.fields[name]; given {
			continue
		}
		if misspells(key, name) {
			r.fail(join(path, key), "unknown field; did you mean %s? Known are %s", name, strings.Join(matter, ", "))
			return
		}
		if hint == "" && resembles(key, name) {
			hint = "; did you mean " + name + "?"
		}
	}
	r.warn(join(path, key), "unknown field, ignored%s", hint)
}

// misspells reports whether a field's name is so near a known one's that it must
// have been meant: a letter or two are wrong (one in a short name), or its
// beginning is left out.
func misspells(key, known string) bool {
	key, known = fold(key), fold(known)
	most := 2
	if len(known) <= 5 {
		most = 1
	}
	return key != "" && distance(key, known) <= most || len(key) >= 8 && strings.HasSuffix(known, key)
}

// resembles reports whether a field's name may have been meant to be a known one.
func resembles(key, known string) bool {
	key, known = fold(key), fold(known)
	return distance(key, known) <= len(known)/3 || len(known) > 4 && strings.Contains(key, known) || len(key) > 4 && strings.Contains(known, key)
}

// distance is the number of letters to insert, delete, replace or swap with their
// neighbour that make one name of another.
func distance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

func fold(name string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(name))
}

// get returns a field; absent and null are the same.
func (rec *record) get(name string) (document, bool) {
	v := rec.fields[name]
	return document{join(rec.path, name), v}, v != nil
}

// need returns a field that must be there.
func (rec *record) need(name string) (document, bool) {
	d, ok := rec.get(name)
	if !ok {
		rec.r.fail(d.path, "missing; T1 requires it")
	}
	return d, ok && rec.r.err == nil
}

// text returns a text field, or the default.
func (rec *record) text(name, otherwise string) string {
	d, ok := rec.get(name)
	if !ok {
		return otherwise
	}
	return rec.r.text(d)
}

func (r *reader) text(d document) string {
	s, ok := d.value.(string)
	if !ok {
		r.fail(d.path, "a text is expected, not %s", what(d.value))
	}
	return s
}

// list returns a field's elements; none when it is absent.
func (rec *record) list(name string) []document {
	d, ok := rec.get(name)
	if !ok {
		return nil
	}
	return rec.r.list(d)
}

func (r *reader) list(d document) []document {
	vs, ok := d.value.([]any)
	if !ok {
		r.fail(d.path, "a list is expected, not %s", what(d.value))
	}
	var out []document
	for i, v := range vs {
		out = append(out, document{fmt.Sprintf("%s[%d]", d.path, i), v})
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
