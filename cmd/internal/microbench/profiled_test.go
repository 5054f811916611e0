package microbench

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/arch/calibrate"
)

// The third launch of each line is the one that counts, whatever ncu prints before its table.
func TestJoin(t *testing.T) {
	lines := calibrate.Results{
		{Name: "residency.profiled", Params: map[string]any{"mode": "read", "bytes": 1e6}},
		{Name: "residency.profiled", Params: map[string]any{"mode": "read", "bytes": 2e6}},
	}
	table := "==PROF== Connected\n{\"name\": 1}\n" + `"ID","Process ID","Metric Name","Metric Unit","Metric Value"
"0","7","dram__bytes_read.sum","byte","900"
"1","7","dram__bytes_read.sum","byte","800"
"2","7","dram__bytes_read.sum","byte","1,024"
"5","7","dram__bytes_read.sum","byte","2048"
"5","7","dram__bytes_write.sum","byte","1"
"8","7","dram__bytes_read.sum","byte","4096"
`
	all, err := join(lines, []byte(table))
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	for i, want := range []float64{1024, 2048} {
		if r := all[i]; r.Name != "residency.dram_read" || r.Value != want || r.Params["bytes"] != lines[i].Params["bytes"] {
			t.Errorf("line %d: %+v, want %v bytes", i, r, want)
		}
	}
	if _, err := join(lines, []byte("==ERROR== no permission")); err == nil || !strings.Contains(err.Error(), "ncu") {
		t.Errorf("no table: %v", err)
	}
}
