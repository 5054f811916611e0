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

// record checks that d is an object with no other fields than the known ones.
// Fields that differ from a known one only in case, spaces or underscores are
// taken for it, with a warning: real files have "Memory Type".
func (r *reader) record(d document, known ...string) *record {
	rec := &record{r, d.path, map[string]any{}}
	o, ok := d.value.(*object)
	if !ok {
		r.fail(d.path, "an object is expected, not %s", what(d.value))
		return rec
	}
	for _, key := range o.keys {
		name := key
		if !slices.Contains(known, key) {
			k := slices.IndexFunc(known, func(k string) bool { return fold(k) == fold(key) })
			if k < 0 {
				r.fail(join(d.path, key), "unknown field; known are %s", strings.Join(known, ", "))
				return rec
			}
			name = known[k]
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

// ignore checks the JSON types of fields that mean nothing to us: each kind is
// one of "text", "number", "list", "object".
func (rec *record) ignore(kinds map[string]string) {
	for _, name := range sortedKeys(kinds) {
		d, ok := rec.get(name)
		if !ok {
			continue
		}
		fits := false
		switch d.value.(type) {
		case string:
			fits = kinds[name] == "text"
		case json.Number, bool:
			fits = kinds[name] == "number"
		case []any:
			fits = kinds[name] == "list"
		case *object:
			fits = kinds[name] == "object"
		}
		if !fits {
			rec.r.fail(d.path, "a value of type %s is expected, not %s", kinds[name], what(d.value))
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
