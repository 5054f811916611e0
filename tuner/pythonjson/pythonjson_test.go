package pythonjson

import (
	"encoding/json"
	"testing"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1}`: `{"a": 1}`, `{"a": NaN, "b": [-Infinity, Infinity,NaN]}`: `{"a": null, "b": [null, null,null]}`,
		`{"NaN": "Infinity", "x\\": NaN, "\"NaN": "\\\"NaN"}`: `{"NaN": "Infinity", "x\\": null, "\"NaN": "\\\"NaN"}`,
		`NaN`: `null`, `"NaN`: `"NaN`, `"NaN\`: `"NaN\`, ``: ``,
	} {
		if got := string(Plain([]byte(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// FuzzPlain: JSON stays as it is.
func FuzzPlain(f *testing.F) {
	f.Add(`{"NaN": ["\"", NaN]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if got := Plain([]byte(text)); json.Valid([]byte(text)) && string(got) != text {
			t.Fatalf("%s became %s", text, got)
		}
	})
}
