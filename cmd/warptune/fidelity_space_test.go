package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A space that another tuner recorded is scored like records of the same
// configurations: those with a time, in microseconds, without what never changes
// and the kernel does not have.
func TestFidelityOfARecordedSpace(t *testing.T) {
	dir := t.TempDir()
	var csv, recs strings.Builder
	csv.WriteString("clock,BLOCK_SIZE,ITEMS,status,time_ms\n")
	for i, block := range []int{64, 128, 256} {
		for j, items := range []int{1, 2, 4} {
			if i == j {
				fmt.Fprintf(&csv, "1410,%d,%d,compile,\n", block, items)
				continue
			}
			fmt.Fprintf(&csv, "1410,%d,%d,ok,%g\n", block, items, float64(i+3*j+1)/1000)
			fmt.Fprintf(&recs, `{"kernel":"copy","group":"times","params":{"BLOCK_SIZE":%d,"ITEMS":%d},"time_us":{"median":%d}}`+"\n", block, items, i+3*j+1)
		}
	}
	space := write(t, filepath.Join(dir, "times.csv"), []byte(csv.String()))
	records := write(t, filepath.Join(dir, "times.jsonl"), []byte(recs.String()))
	score := func(args ...string) string {
		out := warptune(t, append([]string{"fidelity", "--arch", "h200", "--level", "model", "--json"}, args...)...).ok(t).stdout
		var r struct {
			Groups, Summary any
			Build           any
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(r)
	}
	got, want := score("--timings", space, "--kernel", "copy"), score("--timings", records)
	if got != want || !strings.Contains(got, "configs:6") {
		t.Errorf("scored as\n%s\nits records as\n%s", got, want)
	}
	warptune(t, "fidelity", "--arch", "h200", "--timings", space).refused(t, exitUsage, "times.csv", "--kernel")
	warptune(t, "fidelity", "--arch", "h200", "--timings", records, "--kernel", "copy").refused(t, exitUsage, "--kernel", "times.jsonl")
	other := write(t, filepath.Join(dir, "other.csv"), []byte("TILE,status,time_ms\n1,ok,1\n2,ok,2\n"))
	warptune(t, "fidelity", "--arch", "h200", "--timings", other, "--kernel", "copy").refused(t, exitFailed, `no parameter "TILE"`, "BLOCK_SIZE, ITEMS")
}
