package recorded

import (
	"fmt"
	"strings"
	"testing"
)

// Where a record stands, and what is wrong with it, is no part of it: neither read from the line, nor written.
func TestPlaceIsNoPartOfARecord(t *testing.T) {
	read := func(more string, line int) *Record {
		t.Helper()
		r, err := Read([]byte(`{"kernel": "k", "params": {"B": 1}, "ptx": "p", "block": [32], "grid": [1]`+more+`}`), line)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	plain, named := read("", 3), read(`, "line": 7, "Line": "x", "wrong": {}`, 4)
	if plain.Line != 3 || named.Line != 4 || named.Wrong != nil {
		t.Errorf("lines %d and %d (%v)", plain.Line, named.Line, named.Wrong)
	}
	if plain.Text() != named.Text() {
		t.Errorf("written %s and %s", plain.Text(), named.Text())
	}
}

// Triton asks for the largest carve-out above 48 KB of shared memory; others leave it to the driver. Its lanes hold replicas.
func TestTritonPrefersShared(t *testing.T) {
	for fields, want := range map[string]int{
		`"dynamic_smem": 49153, "triton": "3.6.0"`: 100,
		`"dynamic_smem": 49152, "triton": "3.6.0"`: -1,
		`"dynamic_smem": 49153`:                    -1,
	} {
		r, err := Read([]byte(`{"kernel": "k", "params": {"B": 1}, "ptx": "p", "block": [32], "grid": [1], `+fields+`}`), 1)
		if err != nil {
			t.Fatal(err)
		}
		if l, err := r.Launch(); err != nil || l.CarveOut != want {
			t.Errorf("%s: carve-out %v (%v), want %d", fields, l, err, want)
		} else if l.Replicas != (r.Triton != "") {
			t.Errorf("%s: replicas %v", fields, l.Replicas)
		}
	}
}

// What a record says of its machine code is part of it, within what CUDA has; what was measured is not.
func TestAssembledOfARecord(t *testing.T) {
	read := func(more string) *Record {
		t.Helper()
		r, err := Read([]byte(`{"kernel": "k", "params": {"B": 1}, "ptx": "p", "block": [32], "grid": [1]`+more+`}`), 1)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	said := func(by, target string, registers, spill int) string {
		return fmt.Sprintf(`, "assembled": {"by": %q, "target": %q, "registers": %d, "spill_bytes": %d}`, by, target, registers, spill)
	}
	r := read(said("ptxas", "sm_90a", 168, 16))
	l, err := r.Launch()
	if err != nil || l.Assembled == nil || l.Assembled.Registers != 168 || l.Assembled.SpillBytes != 16 {
		t.Fatalf("%+v, %v", l, err)
	}
	if plain := read(`, "registers": 168, "local_bytes": 16`); plain.Assembled != nil || plain.Text() != read("").Text() || plain.Text() == r.Text() {
		t.Errorf("measured registers are part of %s", plain.Text())
	}
	for _, wrong := range []string{said("", "sm_90a", 1, 0), said("a\nb", "sm_90a", 1, 0), said("ptxas", "90", 1, 0), said("ptxas", "sm_90a", 0, 0), said("ptxas", "sm_90a", 256, 0), said("ptxas", "sm_90a", 1, -1), said("ptxas", "sm_90a", 1, 1<<20), `, "assembled": 3`} {
		if r := read(wrong); r.Wrong == nil || !strings.Contains(r.Wrong.Error(), "assembled") {
			t.Errorf("%s: %v", wrong, r.Wrong)
		}
	}
}
