package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// ptxasInPath puts a ptxas into PATH that gives every kernel 40 registers.
func ptxasInPath(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a program that is a shell script")
	}
	dir := t.TempDir()
	script := `#!/bin/sh
case "$1" in --version) echo "Cuda compilation tools, release 1.0, V1.0.7"; exit;; --help) echo "'sm_90'"; exit;; esac
sed -n 's/.*\.entry \([A-Za-z0-9_]*\).*/\1/p' kernel.ptx | while read name; do
  echo "ptxas info    : Compiling entry function '$name' for 'sm_90'"
  echo "ptxas info    : Used 40 registers"
done >&2
`
	if err := os.WriteFile(filepath.Join(dir, "ptxas"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// TestPTXASIsNotMixed: sweeps with and without ptxas are two, in one database, and each has its own registers.
func TestPTXASIsNotMixed(t *testing.T) {
	ptxasInPath(t)
	db := filepath.Join(t.TempDir(), "x.db")
	sweep := []string{"tune", "copy", "--arch", "h200", "--problem", "16384", "--level", "model", "--db", db}
	for _, with := range []bool{false, true, false, true} {
		args := sweep
		if with {
			args = append(args, "--ptxas")
		}
		out := warptune(t, args...).ok(t).stdout
		if strings.Contains(out, "registers by ptxas 1.0.7") != with {
			t.Errorf("%v:\n%s", args, out)
		}
	}
	out := warptune(t, "export", "--format", "json", "--all", "--db", db).ok(t).stdout
	var table struct {
		Rows []struct {
			Registers  int `json:"registers"`
			Provenance struct {
				Compiler string `json:"compiler"`
			} `json:"provenance"`
		} `json:"rows"`
	}
	if err := json.Unmarshal([]byte(out), &table); err != nil {
		t.Fatal(err)
	}
	count := map[bool]int{}
	for _, r := range table.Rows {
		with := strings.Contains(r.Provenance.Compiler, "registers by ptxas 1.0.7")
		count[with]++
		if with != (r.Registers == 40) {
			t.Errorf("%d registers by %s", r.Registers, r.Provenance.Compiler)
		}
	}
	if count[true] == 0 || count[true] != count[false] {
		t.Errorf("%d rows with ptxas, %d without\n%.2000s", count[true], count[false], out)
	}
}

// TestFidelityOfRegisters compares the model with ptxas without any measurement.
func TestFidelityOfRegisters(t *testing.T) {
	ptxasInPath(t)
	var all []struct {
		Assembler string `json:"assembler"`
		Configs   int    `json:"configs"`
		Exact     struct {
			Of int `json:"of"`
		} `json:"registers_exact"`
		Farthest []struct {
			Real int `json:"registers"`
		} `json:"farthest"`
	}
	out := warptune(t, "fidelity", "--arch", "h200", "--kernel", "transpose_tiled", "--ptxas", "--sample", "20", "--json").ok(t).stdout
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 {
		t.Fatal(err, out)
	}
	if r := all[0]; r.Assembler != "ptxas 1.0.7" || r.Configs != 20 || len(r.Farthest) != 10 || r.Farthest[0].Real != 40 {
		t.Errorf("%s", out)
	}
	text := warptune(t, "fidelity", "--arch", "h200", "--kernel", "transpose_tiled", "--ptxas", "--sample", "20").ok(t).stdout
	if !strings.Contains(text, "against ptxas 1.0.7: registers 0.0 % exact") {
		t.Error(text)
	}
	warptune(t, "fidelity", "--arch", "h200").refused(t, exitUsage, "--timings or --dataset is required", "--ptxas")
}
