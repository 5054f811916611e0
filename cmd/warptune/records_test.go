package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/tuner/record"
)

const copyRecord = `{"kernel":"copy","problem_size":[65536],"params":{"BLOCK_SIZE":%d,"ITEMS":%d},"ptx":"copy_%[1]d_%[2]d"}` + "\n"

// A bad records file, or one that asks for what there is not, is refused by file
// and line before anything is simulated.
func TestBadRecords(t *testing.T) {
	path := given(t, "copy", nil)
	good := fmt.Sprintf(copyRecord, 128, 1)
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"not JSON":          {good + "{\n" + good, []string{"recs.jsonl:2", "not a record"}},
		"no params":         {good + good + `{"kernel":"copy"}`, []string{"recs.jsonl:3", `no "params"`}},
		"wrong type":        {`{"kernel":"copy","params":[]}`, []string{"recs.jsonl:1", "not a record"}},
		"unknown parameter": {good + `{"kernel":"copy","params":{"TILE":8}}`, []string{"line 2", `no parameter "TILE"`, "BLOCK_SIZE, ITEMS"}},
		"bad value":         {good + `{"kernel":"copy","params":{"ITEMS":"many"}}`, []string{"line 2", "ITEMS", `"many"`}},
		"other kernel":      {good + `{"kernel":"blur","params":{}}`, []string{"line 2", `"blur"`, `"copy"`}},
		"missing PTX":       {good + fmt.Sprintf(copyRecord, 128, 3), []string{"line 2", "no copy_128_3.ptx", "--ptx-dir"}},
		"empty":             {"\n", []string{"recs.jsonl", "no records"}},
		"cut gzip":          {"\x1f\x8b\x08\x00\x00\x00\x00\x00", []string{"recs.jsonl"}},
	} {
		t.Run(name, func(t *testing.T) {
			recs := write(t, filepath.Join(t.TempDir(), "recs.jsonl"), []byte(tt.text))
			out := write(t, filepath.Join(t.TempDir(), "out.jsonl"), []byte("kept"))
			warptune(t, "simulate", path, "--arch", "h200", "--configs", recs, "--ptx-dir", filepath.Dir(path), "-o", out).refused(t, exitFailed, tt.want...)
			if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) != 1 || string(read(t, out)) != "kept" {
				t.Errorf("the output of an earlier run was not left alone: %v %v", left, err)
			}
		})
	}
}

// records reads what simulate wrote.
func records(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for dec := json.NewDecoder(strings.NewReader(text)); ; {
		var rec map[string]any
		if err := dec.Decode(&rec); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		out = append(out, rec)
	}
}

// Every record comes back with its prediction, in input order, whatever the number
// of slots; one whose PTX is cut off is its own outcome.
func TestSimulateRecords(t *testing.T) {
	path := given(t, "copy", nil)
	dir := filepath.Dir(path)
	cut := read(t, filepath.Join(dir, "copy_64_2.ptx"))
	write(t, filepath.Join(dir, "copy_64_2.ptx"), cut[:len(cut)/2])
	var in bytes.Buffer
	for _, items := range []int{8, 1, 2, 4} {
		for _, block := range []int{512, 64, 128} {
			fmt.Fprintf(&in, copyRecord, block, items)
		}
	}
	recs := write(t, filepath.Join(t.TempDir(), "recs.jsonl"), in.Bytes())
	simulate := []string{"simulate", path, "--arch", "h200", "--configs", recs, "--ptx-dir", dir}
	one := warptune(t, append(simulate, "--slots", "1")...).ok(t).stdout
	if two := warptune(t, append(simulate, "--slots", "3")...).ok(t).stdout; one != two {
		t.Error("the output depends on the number of slots")
	}
	out := records(t, one)
	input := records(t, in.String())
	if len(out) != len(input) {
		t.Fatalf("%d records out of %d", len(out), len(input))
	}
	for i, rec := range out {
		if fmt.Sprint(rec["params"], rec["problem_size"], rec["ptx"]) != fmt.Sprint(input[i]["params"], input[i]["problem_size"], input[i]["ptx"]) {
			t.Errorf("record %d is not the %dth of the input", i, i)
		}
		checkPrediction(t, rec, rec["ptx"] == "copy_64_2")
	}
}

// PTX that records name needs no source; without either, that is what is missing.
func TestSimulateWithoutSource(t *testing.T) {
	whole := given(t, "copy", nil)
	path := given(t, "copy", func(definition map[string]any) {
		spec := definition["KernelSpecification"].(map[string]any)
		spec["Language"], spec["KernelFile"] = "CUDA", "absent.cu"
	})
	recs := write(t, filepath.Join(t.TempDir(), "recs.jsonl"), []byte(fmt.Sprintf(copyRecord, 128, 1)))
	simulate := func(path string, flags ...string) string {
		return warptune(t, append([]string{"simulate", path, "--arch", "h200", "--configs", recs}, flags...)...).ok(t).stdout
	}
	if got, want := simulate(path, "--ptx-dir", filepath.Dir(path)), simulate(whole, "--ptx-dir", filepath.Dir(whole)); got != want {
		t.Errorf("without a source:\n%s\nwith one:\n%s", got, want)
	}
	rec := records(t, simulate(path))[0]
	if message, _ := rec["message"].(string); rec["validity"] != "compile" || !strings.Contains(message, "absent.cu") {
		t.Errorf("without PTX: %v", rec)
	}
}

// predicted are the fields that simulate adds to every record.
var predicted = []string{"arch", "predicted_us", "validity", "registers", "spill_bytes", "occupancy", "limiter", "bound", "metrics"}

func checkPrediction(t *testing.T, rec map[string]any, broken bool) {
	t.Helper()
	for _, field := range predicted {
		if _, ok := rec[field]; !ok {
			t.Errorf("%v: no %s", rec["params"], field)
		}
	}
	us, _ := rec["predicted_us"].(float64)
	metrics, _ := rec["metrics"].(map[string]any)
	switch {
	case broken && (rec["validity"] != "compile" || rec["predicted_us"] != nil || rec["message"] == ""):
		t.Errorf("%v: validity %v, time %v", rec["params"], rec["validity"], rec["predicted_us"])
	case !broken && (rec["validity"] != "correct" || us <= 0 || rec["bound"] == "" || rec["limiter"] == "" || rec["registers"].(float64) < 1):
		t.Errorf("%v: %v", rec["params"], rec)
	case !broken && (metrics["launch__registers_per_thread"] != rec["registers"] || metrics["smsp__inst_executed.sum"].(float64) <= 0):
		t.Errorf("%v: metrics %v", rec["params"], metrics)
	}
}

// silicon is the dataset's folder, beside the repository.
func silicon(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../../shared/silicon")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the measured dataset is not here: ", err)
	}
	return dir
}

// stencils writes every so manyth of the dataset's records of stencil_1d to a
// file, and unzips their PTX.
func stencils(t *testing.T, every int) (file, ptx string, n int) {
	t.Helper()
	dir := silicon(t)
	f, err := os.Open(filepath.Join(dir, "h200", "timings.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, _, err := record.Read("timings", f)
	if err != nil {
		t.Fatal(err)
	}
	files, done, err := cli.OpenPTX(filepath.Join(dir, "h200", "ptx.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	ptx = t.TempDir()
	var text bytes.Buffer
	seen := 0
	for i := range all {
		if all[i].Kernel != "stencil_1d" {
			continue
		}
		if seen++; (seen-1)%every != 0 {
			continue
		}
		n++
		text.Write(append(all[i].Raw, '\n'))
		f, err := files.Open(all[i].PTX + ".ptx")
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(ptx, all[i].PTX+".ptx"), content)
	}
	return write(t, filepath.Join(t.TempDir(), "recs.jsonl"), text.Bytes()), ptx, n
}

// The dataset's stencil is predicted from its PTX, and from its source alone.
func TestSimulateDataset(t *testing.T) {
	kernel := filepath.Join(silicon(t), "kernels", "stencil_1d.json")
	simulate := func(recs string, n int, args ...string) {
		t.Helper()
		out := filepath.Join(t.TempDir(), "out.jsonl")
		all := append([]string{"simulate", kernel, "--arch", "h200", "--configs", recs, "-o", out}, args...)
		warptune(t, append(all, "--slots", "1")...).ok(t)
		one := read(t, out)
		warptune(t, append(all, "--slots", "2")...).ok(t)
		if !bytes.Equal(one, read(t, out)) {
			t.Errorf("%v: the output depends on the number of slots", args)
		}
		got := records(t, string(one))
		if len(got) != n {
			t.Errorf("%v: %d of %d records predicted", args, len(got), n)
		}
		for _, rec := range got {
			checkPrediction(t, rec, false)
		}
	}
	recs, ptx, n := stencils(t, 16)
	simulate(recs, n, "--ptx-dir", ptx)
	recs, _, n = stencils(t, 56)
	simulate(recs, n, "--ptx-dir", filepath.Join(silicon(t), "h200", "ptx.zip"), "--level", "model")
	if _, err := exec.LookPath("clang++-19"); err != nil {
		t.Log("clang++-19 is not installed: nothing compiled")
		return
	}
	simulate(recs, n, "--compiler", "clang", "--level", "model")
}
