package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// explain names what bounds a launch and how near that is to its peak, which time is which, and an array that is in
// local memory though nothing is spilled; the ranked table says so of its rows.
func TestExplainSaysWhatBinds(t *testing.T) {
	out := warptune(t, "explain", "median_1d", "--arch", "h200", "--level", "model", "--problem", "65536", "--config", "SORT=0,BLOCK_SIZE=128").ok(t).stdout
	for _, want := range []string{"bound by", "of its peak", " on the GPU (gpu__time_duration), ", "0 bytes spilled", "local memory", "is indexed at run time (PTX line "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	db := filepath.Join(t.TempDir(), "x.db")
	out = warptune(t, "tune", "median_1d", "--arch", "h200", "--level", "model", "--problem", "65536", "--set", "BLOCK_SIZE=128", "--set", "max_registers=0", "--set", "smem_carveout=-1", "--db", db).ok(t).stdout
	if !strings.Contains(out, "no spills, but a variable of a thread's own in local memory (explain says where): rank ") {
		t.Errorf("the table says nothing of local memory:\n%s", out)
	}
	out = warptune(t, "explain", "copy", "--arch", "h200", "--level", "model", "--config", "BLOCK_SIZE=256,ITEMS=4").ok(t).stdout
	if !strings.Contains(out, "bound by     dram, at ") || strings.Contains(out, "local memory") {
		t.Errorf("a copy is not bound by DRAM:\n%s", out)
	}
}
