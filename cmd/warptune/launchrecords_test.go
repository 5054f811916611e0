package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/record"
)

// recordedKernel writes a folder of launch records of a built-in kernel: what its definition says
// of every configuration, in their order. No compiler is needed for it.
func recordedKernel(t *testing.T, name string) (dir string, n int) {
	t.Helper()
	builtIn, err := catalogue.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	def, err := builtIn.Definition()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "ptx"), 0o755); err != nil {
		t.Fatal(err)
	}
	stem := name
	for _, p := range def.Default().Names {
		stem += "_{" + p + "}"
	}
	writePTX(t, def, filepath.Join(dir, "ptx"), stem+".ptx")
	space, err := def.Space(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, cfg := range space.All() {
		l, err := def.Launch(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		file := stem
		for i, p := range cfg.Names {
			file = strings.ReplaceAll(file, "{"+p+"}", cfg.Values[i].Text())
		}
		line, err := json.Marshal(map[string]any{
			"kernel": name, "problem_size": def.Problem, "params": cfg, "ptx": file, "block": l.Block, "grid": l.Grid, "dynamic_smem": l.DynamicShared, "args": recordedArgs(l.Args),
		})
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	write(t, filepath.Join(dir, "launches.jsonl"), text.Bytes())
	return dir, int(space.Size())
}

// recordedArgs are arguments as launch records have them.
func recordedArgs(args []call.Arg) []map[string]any {
	out := []map[string]any{}
	for i := range args {
		a := &args[i]
		r := map[string]any{"name": a.Name, "type": a.TypeName(), "vector": !a.Scalar, "count": a.Count}
		if a.Scalar {
			r["value"] = a.Fill.Value
		}
		out = append(out, r)
	}
	return out
}

// Launch records of what a definition says are predicted as the definition is, and a folder of them
// is tuned to the same table.
func TestLaunchRecordsOfADefinition(t *testing.T) {
	dir, n := recordedKernel(t, "copy")
	predict := []string{"simulate", "--launches", filepath.Join(dir, "launches.jsonl"), "--ptx-dir", filepath.Join(dir, "ptx"), "--arch", "h100", "--level", "model"}
	got := records(t, warptune(t, append(predict, "--slots", "2")...).ok(t).stdout)
	want := records(t, warptune(t, "simulate", "copy", "--configs", filepath.Join(dir, "launches.jsonl"), "--arch", "h100", "--level", "model").ok(t).stdout)
	if len(got) != n || len(want) != n {
		t.Fatalf("%d and %d records of %d", len(got), len(want), n)
	}
	for i := range got {
		for _, field := range []string{"predicted_us", "validity", "registers", "occupancy", "limiter", "bound", "metrics"} {
			if !reflect.DeepEqual(got[i][field], want[i][field]) {
				t.Errorf("%v: %s is %v, and %v by the definition", got[i]["params"], field, got[i][field], want[i][field])
			}
		}
	}
	rows := func(name string) string {
		db := filepath.Join(t.TempDir(), "x.db")
		warptune(t, "tune", name, "--arch", "h100", "--level", "model", "--db", db).ok(t)
		var out []string
		for _, line := range strings.Split(warptune(t, "export", "--db", db, "--format", "csv", "--all").ok(t).stdout, "\n") {
			if cells := strings.Split(line, `"`); len(cells) == 3 {
				out = append(out, cells[0]+cells[1]+strings.Join(strings.Split(cells[2], ",")[:3], ",")) // up to the time and the bound
			}
		}
		if len(out) != n {
			t.Errorf("%d rows of %d:\n%s", len(out), n, strings.Join(out, "\n"))
		}
		return strings.Join(out, "\n")
	}
	if a, b := rows("copy"), rows(dir); a != b {
		t.Errorf("the tables differ:\n%s\n\n%s", a, b)
	}
}

// Everything that takes a kernel takes a folder of launch records.
func TestLaunchFolderIsAKernel(t *testing.T) {
	dir, n := recordedKernel(t, "copy")
	db := filepath.Join(t.TempDir(), "x.db")
	text := read(t, filepath.Join(dir, "launches.jsonl"))
	second := bytes.ReplaceAll(text, []byte(`"problem_size":[`), []byte(`"group":"other one","problem_size":[0,`))
	write(t, filepath.Join(dir, "launches.jsonl"), append(text, second...))
	if out := warptune(t, "space", dir).ok(t).stdout; !strings.Contains(out, "other one") || strings.Count(out, fmt.Sprint(" ", n, "\n")) != 2 {
		t.Errorf("the groups:\n%s", out)
	}
	out := warptune(t, "tune", dir, "--arch", "h100", "--level", "model", "--db", db, "--strategy", "random", "--budget", "5").ok(t)
	if strings.Count(out.stdout, "best: ") != 2 {
		t.Errorf("two groups are not two sweeps:\n%s", out.stdout)
	}
	again := warptune(t, "tune", dir, "--arch", "h100", "--level", "model", "--db", db, "--strategy", "random", "--budget", "5").ok(t)
	if again.stdout != out.stdout || !strings.Contains(again.stderr, "nothing evaluated") {
		t.Errorf("asked again: %s\n%s", again.stderr, again.stdout)
	}
	warptune(t, "best", dir, "--arch", "h100", "--db", db).refused(t, exitUsage, "2 groups", "--group", "other one")
	best := warptune(t, "best", dir, "--arch", "h100", "--db", db, "--group", "OTHER").ok(t).stdout
	if !strings.Contains(best, "exact match") || !strings.Contains(best, "problem 0,") {
		t.Errorf("best: %s", best)
	}
	config := strings.Fields(best)[1]
	if out := warptune(t, "explain", dir, "--arch", "h100", "--group", "other one", "--config", config, "--level", "model").ok(t).stdout; !strings.Contains(out, "bound") {
		t.Errorf("explain: %s", out)
	}
	if got := records(t, warptune(t, "simulate", dir, "--arch", "h100", "--group", "other", "--config", config, "--level", "model").ok(t).stdout); got[0]["validity"] != "correct" {
		t.Errorf("simulate: %v", got)
	}
	warptune(t, "explain", dir, "--arch", "h100", "--group", "other", "--config", "BLOCK_SIZE=31").refused(t, exitUsage, "no launch record of group other one has BLOCK_SIZE=31")
	warptune(t, "tune", dir, "--arch", "h100", "--db", db, "--group", "third").refused(t, exitUsage, "--group", `"third"`, "other one")
	warptune(t, "tune", dir, "--arch", "h100", "--db", db, "--problem", "3,4").refused(t, exitUsage, "--problem 3,4", "other one")
	warptune(t, "tune", "copy", "--arch", "h100", "--db", db, "--group", "x").refused(t, exitUsage, "--group", "copy is a definition")
	if out := warptune(t, "tune", dir, "--arch", "h100", "--level", "model", "--db", db, "--budget", "3", "--group", "other", "--set", "ITEMS=1").ok(t).stdout; strings.Count(out, "best: ") != 1 || !strings.Contains(out, "ITEMS=1") {
		t.Errorf("one group: %s", out)
	}
}

// Scores of launch records count every record that has a time.
func TestFidelityOfLaunchRecords(t *testing.T) {
	dir, n := recordedKernel(t, "copy")
	var text bytes.Buffer
	for i, line := range bytes.Split(bytes.TrimSpace(read(t, filepath.Join(dir, "launches.jsonl"))), []byte("\n")) {
		timed := bytes.Replace(line, []byte(`{`), fmt.Appendf(nil, `{"time_us": {"median": %d}, "registers": 16, `, 100+i), 1)
		if i == 1 {
			timed = bytes.Replace(timed, []byte(`"type":"float`), []byte(`"type":"fp4`), 1)
		}
		text.Write(append(timed, '\n'))
	}
	text.WriteString(`{"kernel": "copy", "problem_size": [1], "params": {"BLOCK_SIZE": 1, "ITEMS": 1}, "group": "g", "error": "ptxas fatal"}` + "\n")
	file := write(t, filepath.Join(dir, "timed.jsonl"), text.Bytes())
	args := []string{"fidelity", "--arch", "h100", "--timings", file, "--level", "model"}
	warptune(t, args...).refused(t, exitUsage, "launch records", "--ptx-dir")
	var r struct {
		Summary struct{ Configs, Groups, Failed int }
		Groups  []struct {
			Group    string
			Spearman float64
		}
		Failures []struct{ Validity, Message string }
	}
	out := warptune(t, append(args, "--ptx-dir", filepath.Join(dir, "ptx"), "--json")...).ok(t).stdout
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Summary.Configs != n || r.Summary.Groups != 1 || r.Summary.Failed != 1 || len(r.Failures) != 2 {
		t.Errorf("%+v", r)
	}
	for _, f := range r.Failures {
		if !strings.Contains(f.Message, `unknown element type "fp4`) && !strings.Contains(f.Message, "ptxas fatal") {
			t.Errorf("%s: %s", f.Validity, f.Message)
		}
	}
}

// Bad launch records are one sentence.
func TestBadLaunchRecords(t *testing.T) {
	dir, _ := recordedKernel(t, "copy")
	ptx, file := filepath.Join(dir, "ptx"), filepath.Join(dir, "launches.jsonl")
	line, _, _ := bytes.Cut(read(t, file), []byte("\n"))
	with := func(old, changed string) string {
		text := bytes.Replace(line, []byte(old), []byte(changed), 1)
		if bytes.Equal(text, line) {
			t.Fatalf("nothing is replaced by %s", changed)
		}
		return write(t, filepath.Join(t.TempDir(), "x.jsonl"), text)
	}
	run := func(args ...string) result {
		return warptune(t, append([]string{"simulate", "--arch", "h100", "--level", "model"}, args...)...)
	}
	run("--launches", file).refused(t, exitUsage, "--launches wants --ptx-dir")
	run("copy", "--launches", file, "--ptx-dir", ptx).refused(t, exitUsage, "give no kernel")
	run("--launches", file, "--ptx-dir", ptx, "--config", "A=1").refused(t, exitUsage, "--config")
	run().refused(t, exitUsage, "want one kernel")
	run("--launches", with(`"ptx":"copy`, `"ptx":"other`), "--ptx-dir", ptx).refused(t, exitFailed, "line 1: no other")
	run("--launches", with(`"args":`, `"arguments":`), "--ptx-dir", ptx).refused(t, exitFailed, "line 1: not a launch record", "--configs")
	run("--launches", with(`"params":{`, `"params":[{`), "--ptx-dir", ptx).refused(t, exitFailed, "x.jsonl:1: not a record")
	for _, bad := range []struct{ old, changed, validity, want string }{
		{`"args":[`, `"args":[{"name":"more","type":"int32","value":1},`, "runtime", "takes 3 arguments, but the launch record's args and trailing_params are 4: more, "},
		{`"type":"int32"`, `"type":"int64"`, "runtime", "a scalar of int64 has 8 bytes, but that parameter of kernel copy has 4"},
		{`"grid":[`, `"grid":[-`, "constraints", "grid: -"},
	} {
		if !bytes.Contains(line, []byte(bad.old)) {
			continue
		}
		got := records(t, run("--launches", with(bad.old, bad.changed), "--ptx-dir", ptx).ok(t).stdout)
		if message, _ := got[0]["message"].(string); got[0]["validity"] != bad.validity || !strings.Contains(message, bad.want) {
			t.Errorf("%s: %v: %v", bad.changed, got[0]["validity"], got[0]["message"])
		}
	}
}

// Launches measured on Hopper that use none of its own instructions are predicted, the same with any
// number of slots.
func TestMeasuredLaunches(t *testing.T) {
	dir, err := filepath.Abs("../../../shared/hopper")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "h100", "launches.jsonl.gz"))
	if err != nil {
		t.Skip("the measured launches are not here: ", err)
	}
	defer f.Close()
	all, _, err := record.Read("launches", f)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	n := 0
	for i := range all {
		if (all[i].Kernel == "xent_fused" || all[i].Kernel == "ln_back_rows") && i%6 == 0 {
			text.Write(append(all[i].Raw, '\n'))
			n++
		}
	}
	file := write(t, filepath.Join(t.TempDir(), "some.jsonl"), text.Bytes())
	args := []string{"simulate", "--launches", file, "--ptx-dir", filepath.Join(dir, "h100", "ptx.zip"), "--arch", "h100", "--level", "model"}
	one := warptune(t, append(args, "--slots", "1")...).ok(t).stdout
	if two := warptune(t, append(args, "--slots", "2")...).ok(t).stdout; one != two {
		t.Error("the output depends on the number of slots")
	}
	got := records(t, one)
	if len(got) != n || n < 8 {
		t.Errorf("%d of %d records predicted", len(got), n)
	}
	for _, rec := range got {
		checkPrediction(t, rec, false)
	}
}
