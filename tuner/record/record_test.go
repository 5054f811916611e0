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
		recs, _, err := Read(name, strings.NewReader(text))
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
		"cut off gzip": {"\x1f\x8b\x08", "f: not a valid gzip file"},
	} {
		_, _, err := Read("f", strings.NewReader(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestAppendKeepsWhatWasRead(t *testing.T) {
	recs, _, err := Read("f", strings.NewReader(line))
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

// TestOddTimes: a bad time or line costs no other. Of measurements lines without a record are
// passed over, with a count; records to predict are wanted all.
func TestOddTimes(t *testing.T) {
	for time, want := range map[string]string{
		`{"median":0}`: "0", `{"median":-1}`: "-1", `{"median":NaN}`: "0", `{"median":Infinity}`: "0", `{"median":null}`: "0", `{"median":1e20}`: "1e+20",
		`{"median":"RuntimeFailedConfig"}`: `{"median":"RuntimeFailedConfig"}`, `"InvalidConfig"`: `"InvalidConfig"`, `{}`: "0", `3.5`: "3.5",
	} {
		bad := strings.Replace(line, `{"median":2.5,"min":2,"max":3,"reps":9,"launches":1}`, time, 1)
		recs, odd, err := Read("f", strings.NewReader(line+"\n"+bad+"\n"+line))
		if err != nil || len(recs) != 3 || recs[1].TimeUS != nil || recs[2].TimeUS == nil || odd != (Odd{Times: 1, First: "line 2: time_us.median is " + want + ": want a positive time"}) {
			t.Errorf("%s: %v, %d records, %+v", time, err, len(recs), odd)
		}
		if text, err := recs[1].Append(nil, Prediction{}); err != nil || !strings.Contains(string(text), `"predicted_us":null`) {
			t.Errorf("%s: %s, %v", time, text, err)
		}
	}
	good := strings.Replace(line, `"min":2`, `"min":NaN`, 1)
	if recs, odd, err := Read("f", strings.NewReader(good)); err != nil || recs[0].TimeUS.Median != 2.5 || odd.String() != "" {
		t.Errorf("%v, %+v: the median is good", err, odd)
	}
	for _, bad := range []string{"{", "null", "3", `{"kernel":"k"}`, "Traceback (most recent call last):"} {
		text := bad + "\n" + line + "\n" + bad
		if _, _, err := Read("f", strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "f:1: ") {
			t.Errorf("%s: %v", bad, err)
		}
		recs, odd, err := ReadMeasured("f", strings.NewReader(text))
		if err != nil || len(recs) != 1 || !strings.HasPrefix(odd.String(), "2 lines hold no record; the first: line 1: ") {
			t.Errorf("%s: %v, %d records, %s", bad, err, len(recs), &odd)
		}
		if _, _, err := ReadMeasured("f", strings.NewReader(bad)); err == nil {
			t.Errorf("%s: no record and no error", bad)
		}
	}
}

// Counters are objects, or numbers alone; what is neither is none.
func TestCounters(t *testing.T) {
	recs, _, err := Read("x", strings.NewReader(`{"params": {}, "counters": {"a": 2.5, "b": {"value": 3, "unit": "byte"}, "c": "H100", "d": null, "e": [1]}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := recs[0].Counters
	if got["a"].Value != 2.5 || got["b"] != (Counter{Value: 3, Unit: "byte"}) {
		t.Errorf("%v", got)
	}
	for _, name := range []string{"c", "e"} {
		if c, ok := got[name]; ok {
			t.Errorf("%s is %v", name, c)
		}
	}
}
