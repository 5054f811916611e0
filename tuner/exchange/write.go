package exchange

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/warptune/warptune/search"
)

// object writes a JSON object whose members stay in the order given, which
// both formats' readers show to people.
type object struct{ b bytes.Buffer }

// add appends a member. The value is anything encoding/json takes, except that
// json.RawMessage is written as it is.
func (o *object) add(name string, value any) {
	if o.b.Len() > 0 {
		o.b.WriteByte(',')
	}
	o.b.Write(encode(name))
	o.b.WriteByte(':')
	if raw, ok := value.(json.RawMessage); ok {
		o.b.Write(raw)
		return
	}
	o.b.Write(encode(value))
}

// raw is the object's text.
func (o *object) raw() json.RawMessage { return json.RawMessage("{" + o.b.String() + "}") }

// encode is a value as JSON, < and & as they are. It is called with texts,
// numbers, lists and maps of them only, which always have a text.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("exchange: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// value is a parameter's value as JSON. A float shows that it is one, since
// Python tells 1 from 1.0 in the key that it looks a configuration up by.
func value(v search.Value) json.RawMessage {
	switch v.Kind {
	case search.Float:
		return number(v.F)
	case search.String:
		return encode(v.S)
	}
	return json.RawMessage(v.String())
}

// values is a list of values as JSON.
func values(vs []search.Value) json.RawMessage {
	texts := make([]string, len(vs))
	for i, v := range vs {
		texts[i] = string(value(v))
	}
	return json.RawMessage("[" + strings.Join(texts, ",") + "]")
}

// number is a float as JSON, with a point or an exponent: Kernel Tuner passes
// over times that Python reads as integers when it looks for the best.
func number(f float64) json.RawMessage { return json.RawMessage(python(f)) }

// python is a float as Python's repr writes it: the shortest text that reads
// back the same, with an exponent from 1e16 on and below 1e-4.
func python(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
