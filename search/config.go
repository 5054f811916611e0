package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Config is one assignment of all parameters of a space: Values[i] belongs to
// the space's parameter i.
type Config struct {
	Names  []string // shared with the space: do not modify
	Values []Value
}

// Get returns the value of a parameter.
func (c Config) Get(name string) (Value, bool) {
	if i := slices.Index(c.Names, name); i >= 0 {
		return c.Values[i], true
	}
	return Value{}, false
}

// Clone returns a configuration with Values of its own.
func (c Config) Clone() Config { return Config{c.Names, slices.Clone(c.Values)} }

// Equal reports whether two configurations assign the same values to the same
// names in the same order.
func (c Config) Equal(d Config) bool {
	return slices.Equal(c.Names, d.Names) && slices.Equal(c.Values, d.Values)
}

// String returns the canonical text, "NAME=V,NAME=V" in parameter order.
// Space.ParseConfig reads it back.
func (c Config) String() string {
	var b strings.Builder
	for i, n := range c.Names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(n + "=" + c.Values[i].Text())
	}
	return b.String()
}

// Assignment is one NAME=V as text.
type Assignment struct {
	Name, Text string
}

// ParseAssignments splits "NAME=V,NAME=V". Values with commas are quoted as Go
// quotes them; the quotes stay in Text.
func ParseAssignments(text string) ([]Assignment, error) {
	var list []Assignment
	for rest := strings.TrimSpace(text); rest != ""; {
		name, after, ok := strings.Cut(rest, "=")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.Contains(name, ",") {
			return nil, fmt.Errorf("%q: NAME=VALUE is expected at %q", text, rest)
		}
		after = strings.TrimSpace(after)
		end := strings.IndexByte(after, ',')
		if q, err := strconv.QuotedPrefix(after); err == nil && after[0] == '"' { // not 'x' or `x`, which Go quotes too
			end = len(q)
			if end < len(after) && after[end] != ',' {
				return nil, fmt.Errorf("%q: a comma is expected at %q", text, after[end:])
			}
		}
		if end < 0 {
			end = len(after)
		}
		list = append(list, Assignment{name, strings.TrimSpace(after[:end])})
		rest = ""
		if end < len(after) {
			if rest = strings.TrimSpace(after[end+1:]); rest == "" {
				return nil, fmt.Errorf("%q: NAME=VALUE is expected after the last comma", text)
			}
		}
	}
	return list, nil
}

// MarshalJSON writes an object with the parameters in order.
func (c Config) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, n := range c.Names {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(n)
		if err != nil {
			return nil, err
		}
		value, err := c.Values[i].MarshalJSON()
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads an object, keeping its order. Numbers without fraction
// or exponent are integers: Space.Conform gives the values their parameters'
// kinds.
func (c *Config) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("a configuration is a JSON object of NAME: value, not %.40s", data)
	}
	*c = Config{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name := t.(string)
		if slices.Contains(c.Names, name) {
			return fmt.Errorf("configuration has %s twice", name)
		}
		var v Value
		if err := d.Decode(&v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		c.Names, c.Values = append(c.Names, name), append(c.Values, v)
	}
	_, err := d.Token()
	return err
}

// MarshalJSON writes a JSON number, truth value or string. A float shows that
// it is one.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.Kind {
	case Int, Float, Bool:
		s := v.String()
		if !json.Valid([]byte(s)) {
			return nil, fmt.Errorf("%s has no JSON form", s)
		}
		return []byte(s), nil
	case String:
		return json.Marshal(v.S)
	}
	return nil, fmt.Errorf("an invalid value has no JSON form")
}

// UnmarshalJSON reads a JSON number, truth value or string.
func (v *Value) UnmarshalJSON(data []byte) error {
	s := string(bytes.TrimSpace(data))
	switch {
	case strings.HasPrefix(s, `"`):
		*v = Value{Kind: String}
		return json.Unmarshal(data, &v.S)
	case s == "null" || strings.HasPrefix(s, "{") || strings.HasPrefix(s, "["):
		return fmt.Errorf("a value is a number, true, false or a text, not %.40s", s)
	}
	*v = untyped(s)
	if v.Kind == String {
		return fmt.Errorf("number %.40s is out of range", s)
	}
	return nil
}
