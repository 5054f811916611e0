package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// descriptorFile writes a descriptor of a name based on another architecture, with one
// figure changed.
func descriptorFile(t *testing.T, name, base string, sms int) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"name": name, "title": "My GPU", "base": base,
		"numbers": map[string]any{"sms": map[string]any{"value": sms, "unit": "count", "source": "a test", "verified": true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return write(t, filepath.Join(t.TempDir(), name+".json"), text)
}

// A descriptor file is an architecture in every command that takes one, beside names.
func TestDescriptorFiles(t *testing.T) {
	file, db := descriptorFile(t, "mygpu", "h200", 66), filepath.Join(t.TempDir(), "x.db")
	where := []string{"--problem", "65536", "--level", "model"}
	with := func(args ...string) []string { return append(args, where...) }
	tuned := warptune(t, append(with("tune", "copy", "--arch", "h200,"+file), "--db", db)...).ok(t)
	if !strings.Contains(tuned.stdout, "copy on h200, problem 65536") || !strings.Contains(tuned.stdout, "copy on mygpu, problem 65536") {
		t.Errorf("tune says %s", tuned.stdout)
	}
	if again := warptune(t, append(with("tune", "copy", "--arch", "h200,"+file), "--db", db)...).ok(t); again.stdout != tuned.stdout || !strings.Contains(again.stderr, "nothing evaluated") {
		t.Errorf("the same again: %s%s", again.stdout, again.stderr)
	}
	best := warptune(t, "best", "copy", "--arch", file, "--problem", "65536", "--db", db).ok(t).stdout
	if !strings.Contains(best, "exact match") || !strings.Contains(best, "copy on mygpu") {
		t.Errorf("best says %s", best)
	}
	var rows struct {
		Rows []struct {
			Arch string
			CC   [2]int  `json:"compute_capability"`
			Time float64 `json:"time_us"`
		}
	}
	text := warptune(t, "export", "--json", "--arch", file, "--db", db).ok(t).stdout
	if err := json.Unmarshal([]byte(text), &rows); err != nil || len(rows.Rows) != 1 || rows.Rows[0].Arch != "mygpu" || rows.Rows[0].CC != [2]int{9, 0} {
		t.Errorf("export says %s (%v)", text, err)
	}
	if list := warptune(t, "sweep", "list", "--arch", file, "--db", db).ok(t).stdout; strings.Count(list, "\n") != 2 || !strings.Contains(list, "mygpu") {
		t.Errorf("sweep list says %s", list)
	}
	for _, args := range [][]string{with("simulate", "copy", "--arch", file, "--config", "BLOCK_SIZE=128"), with("explain", "copy", "--arch", file, "--config", "BLOCK_SIZE=128"), {"archs", file}} {
		if out := warptune(t, args...).ok(t).stdout; !strings.Contains(out, "mygpu") {
			t.Errorf("%v says %s", args, out)
		}
	}
	// Other figures under the name are another descriptor: nothing of it is known.
	other := descriptorFile(t, "mygpu", "h200", 33)
	if out := warptune(t, "best", "copy", "--arch", other, "--problem", "65536", "--db", db).ok(t).stdout; !strings.Contains(out, "changed since are the architecture descriptor") {
		t.Errorf("best for another descriptor says %s", out)
	}
	if out := warptune(t, append(with("tune", "copy", "--arch", other), "--db", db)...).ok(t); !strings.Contains(out.stderr, "24 configurations evaluated") {
		t.Errorf("tune for another descriptor says %s", out.stderr)
	}
	for _, args := range [][]string{{"export", "--all", "--json", "--db", db, "--arch", file}, {"export", "--all", "--json", "--db", db, "--arch", other}} {
		if out := warptune(t, args...).ok(t).stdout; strings.Count(out, `"arch": "mygpu"`) != 24 {
			t.Errorf("%v has %d rows, want those of its 24 configurations", args, strings.Count(out, `"arch": "mygpu"`))
		}
	}
	if list := warptune(t, "sweep", "list", "--arch", other, "--db", db).ok(t).stdout; strings.Count(list, "mygpu") != 1 {
		t.Errorf("sweep list for another descriptor says %s", list)
	}
}

// A descriptor that is damaged, or has a built-in's name, is refused with its file and
// field before anything is stored.
func TestBadDescriptorFiles(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	named := descriptorFile(t, "h200", "h200", 66)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text  string
		parts []string
	}{
		"cut.json":     {`{"name": "x", "numbers": {`, []string{"cut.json", "unexpected"}},
		"figure.json":  {`{"name": "x", "base": "h200", "numbers": {"sms": {"value": -3, "unit": "count", "source": "s"}}}`, []string{"figure.json", `"sms"`, "positive"}},
		"unknown.json": {`{"name": "x", "base": "h200", "numbers": {"smss": {"value": 3, "unit": "count", "source": "s"}}}`, []string{"unknown.json", `"smss"`}},
	} {
		file := write(t, filepath.Join(dir, name), []byte(c.text))
		for _, args := range [][]string{{"tune", "copy", "--db", db}, {"best", "copy", "--db", db}, {"export", "--db", db}, {"explain", "copy", "--config", "BLOCK_SIZE=128"}} {
			warptune(t, append(args, "--arch", file)...).refused(t, exitUsage, c.parts...)
		}
	}
	warptune(t, "tune", "copy", "--db", db, "--arch", named).refused(t, exitUsage, "h200.json", "name of its own")
	warptune(t, "tune", "copy", "--db", db, "--arch", filepath.Join(dir, "none.json")).refused(t, exitUsage, "none.json", "no such file")
	if _, err := os.Stat(db); err == nil {
		t.Error("there is a database")
	}
}
