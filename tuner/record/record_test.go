package record

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

const line = `{"kernel":"k","group":"g","params":{"A":1},"registers":10,"extra":{"kept":true},"time_us":{"median":2.5,"min":2,"max":3,"reps":9,"launches":1}}`

func TestReadPlainAndGzip(t *testing.T) {
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	if _, err := w.Write([]byte(line + "\n\n" + line + "\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"plain": line + "\n\n" + line, "gzip": gz.String()} {
		recs, err := Read(name, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(recs) != 2 || recs[1].Line != 3 || recs[0].TimeUS.Median != 2.5 || recs[0].GroupKey() != "g" {
			t.Errorf("%s: %+v", name, recs)
		}
	}
}

func TestReadErrorsNameTheLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no params":    {`{"kernel":"k"}`, `f:1: the record has no "params"`},
		"not json":     {line + "\n{", "f:2: not a record"},
		"zero time":    {strings.Replace(line, `"median":2.5`, `"median":0`, 1), "f:1: time_us.median is 0"},
		"cut off gzip": {"\x1f\x8b\x08", "f: not a valid gzip file"},
	} {
		_, err := Read("f", strings.NewReader(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestAppendKeepsWhatWasRead(t *testing.T) {
	recs, err := Read("f", strings.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	three := 3.0
	out, err := recs[0].Append(nil, Prediction{Arch: "h200", PredictedUS: &three, Validity: "correct", Registers: 12})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"extra":{"kept":true}`, `"measured_registers":10`, `"registers":12`, `"predicted_us":3`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s is missing in %s", want, out)
		}
	}
	if out[len(out)-1] != '\n' {
		t.Error("no newline at the end")
	}
}
