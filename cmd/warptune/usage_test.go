package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Wrong usage is told before anything is opened: exit status 2, one line.
func TestWrongUsage(t *testing.T) {
	db := filepath.Join(t.TempDir(), "absent.db")
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"tun", []string{`unknown command "tun"`, "--help"}},
		{"sweep stop", []string{`"sweep stop"`, "--help"}},
		{"tune", []string{"want one kernel"}},
		{"tune copy", []string{"--arch is required", "h200"}},
		{"tune copy --arch h300", []string{`unknown architecture "h300"`, `did you mean "h100"`, "h200"}},
		{"tune copy --arch h200,h300", []string{`"h300"`}},
		{"tune copies --arch h200", []string{`no built-in kernel "copies"`, "transpose_tiled", ".json"}},
		{"tune copy --arch h200 --fast", []string{"--fast", "--help"}},
		{"tune copy --arch h200 --seed x", []string{"--seed", "invalid syntax"}},
		{"tune copy --arch h200 --level exact", []string{`"exact"`, "cycle or model"}},
		{"tune copy --arch h200 --strategy best", []string{`"best"`, "exhaustive"}},
		{"tune copy --arch h200 --compiler gcc", []string{`"gcc"`, "clang"}},
		{"tune copy --arch h200 --budget -1", []string{"--budget", "-1", "200", "10m", "within=2%"}},
		{"tune copy --arch h200 --budget 10,soon", []string{"--budget", `"soon" is neither a number, nor a time, nor a proof`, "200", "10m", "within=2%"}},
		{"tune copy --arch h200 --budget 10m,2h", []string{"more than one time"}},
		{"tune copy --arch h200 --budget within=two", []string{`"two" is no share`, "within=2%"}},
		{"tune copy --arch h200 --budget within=2", []string{`"2" would be 200 %: write 2% if that is what you mean`}},
		{"tune copy --arch h200 --budget 99999999999999999999", []string{"cannot be counted"}},
		{"tune copy --arch h200 --negligible 5", []string{"--negligible", "write 5% if that is what you mean"}},
		{"tune copy --arch h200 --negligible 1% --strategy genetic", []string{"genetic", "believes nothing", "surrogate", "portfolio"}},
		{"tune copy --arch h200 --budget within=-2%", []string{"cannot be within -2%"}},
		{"tune copy --arch h200 --budget 1ns", []string{"too short a time"}},
		{"tune copy --arch h200 --budget within=2% --level cycle", []string{"--level model,cycle", "level cycle says nothing"}},
		{"sweep submit copy --arch h200 --coordinator localhost:1 --budget 10min", []string{"--budget", `"10min" is neither`, "10m"}},
		{"tune copy --arch h200 --level cycle,model", []string{`"cycle,model"`, "model,cycle"}},
		{"tune copy --arch h200 --slots 0", []string{"--slots", "at least 1"}},
		{"tune copy --arch h200 --problem 0", []string{"[0]", "from 1"}},
		{"tune copy --arch h200 --problem -1", []string{"[-1]", "from 1"}},
		{"tune copy --arch h200 --problem 8k", []string{"--problem", "8k", "invalid syntax"}},
		{"tune blur --arch h200 --problem 1024", []string{"--problem", "has 2", "8192,8192"}},
		{"tune copy --arch h200 --set ITEMS", []string{"--set", "NAME=V"}},
		{"tune copy --arch h200 --set TILE=8", []string{"no parameter TILE", "BLOCK_SIZE, ITEMS"}},
		{"tune copy --arch h200 --set ITEMS=3", []string{"ITEMS has no value 3", "1, 2, 4, 8"}},
		{"tune copy --arch h200 --set ITEMS=x", []string{"ITEMS has no value x"}},
		{"tune copy --arch h200 --coordinator localhost:1", []string{"not both"}},
		{"space blur --problem 64", []string{"--problem", "has 2"}},
		{"space copy --problem 64,65", []string{"--problem", "one problem size"}},
		{"simulate copy --arch h200", []string{"--config", "--configs"}},
		{"simulate copy --config ITEMS=1", []string{"--arch is required"}},
		{"simulate copy --arch h200 --config ITEMS", []string{"--config", "NAME=VALUE"}},
		{"simulate copy --arch h200 --config TILE=8", []string{"--config", `no parameter "TILE"`, "BLOCK_SIZE, ITEMS"}},
		{"simulate copy --arch h200 --config ITEMS=x", []string{"--config", "ITEMS", `"x"`, "int"}},
		{"explain copy --arch h200 --config TILE=8", []string{`no parameter "TILE"`}},
		{"fidelity --arch h200", []string{"--timings or --dataset is required"}},
		{"fidelity --arch h200 --timings absent.jsonl --without no-such-rule", []string{"--without", `"no-such-rule"`, "look-ahead"}},
		{"best copy", []string{"--arch is required"}},
		{"best copy --arch h300", []string{`unknown architecture "h300"`}},
		{"export --format yaml", []string{`"yaml"`, "json"}},
		{"archs h300", []string{`unknown architecture "h300"`}},
		{"archs h100 h200", []string{"at most one"}},
		{"version now", []string{"want no arguments"}},
	} {
		args := strings.Fields(tt.line)
		switch args[0] {
		case "tune", "best", "export":
			args = append(args, "--db", db)
		}
		warptune(t, args...).refused(t, exitUsage, tt.want...)
	}
	if found, err := filepath.Glob(filepath.Join(filepath.Dir(db), "*")); err != nil || len(found) > 0 {
		t.Errorf("wrong usage left files: %v %v", found, err)
	}
}

// What is right on the command line but is not there fails: exit status 1, one
// line that says where to look.
func TestAbsent(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent")
	db := absent + ".db"
	file := write(t, filepath.Join(t.TempDir(), "file"), []byte("x"))
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"tune " + absent + ".json --arch h200", []string{absent + ".json", "no such file"}},
		{"simulate copy --arch h200 --configs " + absent, []string{absent, "no such file"}},
		{"simulate copy --arch h200 --config ITEMS=1 --ptx-dir " + absent, []string{absent, "no such file"}},
		{"simulate copy --arch h200 --config ITEMS=1 --ptx-dir " + file, []string{file, "neither a directory nor a .zip or .tar.zst"}},
		{"simulate copy --arch h200 --config ITEMS=1 -o " + file + "/out", []string{file, "not a directory"}},
		{"fidelity --arch h200 --timings " + absent, []string{absent, "no such file"}},
		{"export --db " + db, []string{"no database " + db, "warptune tune", "--db"}},
		{"best copy --arch h200 --db " + db, []string{"no database " + db, "warptune tune"}},
		{"sweep list --db " + db, []string{"no database " + db}},
		{"tune copy --arch h200 --db " + file + "/x.db", []string{file, "not a directory", "--db"}},
		{"tune copy --arch h200 --db " + filepath.Dir(file), []string{filepath.Dir(file), "is a directory", "--db"}},
		{"sweep list --coordinator localhost:1", []string{"no coordinator answers at localhost:1", "is it running", "connection refused"}},
		{"tune copy --arch h200 --coordinator localhost:1", []string{"no coordinator answers at localhost:1"}},
		{"export --coordinator localhost:1", []string{"no coordinator answers at localhost:1"}},
		{"sweep list --coordinator here", []string{`"here"`, "HOST:PORT"}},
	} {
		warptune(t, strings.Fields(tt.line)...).refused(t, exitFailed, tt.want...)
	}
}
