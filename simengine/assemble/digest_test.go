package assemble

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var updateDigests = flag.Bool("update", false, "rewrite testdata/digests.txt with what the assembler does now")

// TestDigests holds the assembler to the exact programs it made before, for
// every 25th configuration of the measured set: a change meant only to make it
// faster must not change what it makes. A change meant to alter programs
// rewrites the file with -update.
func TestDigests(t *testing.T) {
	dir := sharedDir(t)
	c := openCorpus(t, filepath.Join(dir, "ptx.zip"))
	recs := readRecords(t, filepath.Join(dir, "timings.jsonl.gz"))
	var sb strings.Builder
	for i := 0; i < len(recs); i += 25 {
		r := recs[i]
		p, err := Assemble(c.kernel(t, r.PTX), Options{CC: [2]int{9, 0}, MaxRegisters: r.cap()})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&sb, "%s %d %s\n", r.PTX, r.cap(), digest(p))
	}
	const path = "testdata/digests.txt"
	if *updateDigests {
		if err := os.WriteFile(path, []byte(sb.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(sb.String(), "\n")
	for i, w := range strings.Split(string(want), "\n") {
		if i >= len(got) || got[i] != w {
			t.Errorf("line %d of %s: the program is now %q, was %q", i+1, path, got[min(i, len(got)-1)], w)
		}
	}
}

// digest is a short hash of everything a program says.
func digest(p *Program) string {
	h := sha256.New()
	fmt.Fprintf(h, "%+v", stripped(p))
	return hex.EncodeToString(h.Sum(nil)[:8])
}
