package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// FuzzRead: no text makes reading panic; errors are of one line and name the
// file; a record that is read and written with a prediction is read as the same,
// and gzip changes nothing.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		line, line + "\n\n" + line, "{", `{"kernel":"k","params":{}}`, `{"params":{"A":null,"B":"x","C":[1]},"counters":{"a":{"value":1}}}`,
		"\x1f\x8b\x08", `{"params":{},"registers":1e3}`, `{"params":{},"registers":null,"measured_registers":"x"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		recs, _, err := Read("f", bytes.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q", err)
			}
			return
		}
		var again []byte
		for i := range recs {
			if again, err = recs[i].Append(again, Prediction{Arch: "a", Registers: 7}); err != nil {
				t.Fatalf("%s: %v", recs[i].Raw, err)
			}
		}
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, _ = w.Write(again)
		_ = w.Close()
		back, _, err := Read("f", &zipped)
		if err != nil || len(back) != len(recs) {
			t.Fatalf("%d records are read back as %d (%v)", len(recs), len(back), err)
		}
		for i := range recs {
			a, b := &recs[i], &back[i]
			if a.Kernel != b.Kernel || a.GroupKey() != b.GroupKey() || !slices.Equal(keys(a.Params), keys(b.Params)) || b.Registers != 7 {
				t.Errorf("%s\nis read back as\n%s", a.Raw, b.Raw)
			}
		}
	})
}

func keys(m map[string]json.RawMessage) []string { return slices.Sorted(maps.Keys(m)) }
