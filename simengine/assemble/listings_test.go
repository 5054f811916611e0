package assemble

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
)

var update = flag.Bool("update", false, "rewrite testdata/listings.txt.zst with what the assembler does now")

// TestListings holds the assembler to the exact programs it made before of every built-in
// kernel: a change that is meant to make it clearer or faster must not change what it
// makes. One that is meant to change programs rewrites the listings with -update; zstd -dc
// shows them.
func TestListings(t *testing.T) {
	var got strings.Builder
	for _, name := range catalogue.Names() {
		got.WriteString(listings(t, name))
	}
	path := filepath.Join("testdata", "listings.txt.zst")
	if *update {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		if err := os.WriteFile(path, z.EncodeAll([]byte(got.String()), nil), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	want, err := z.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(path, ": ", err)
	}
	if difference := firstDifference(got.String(), string(want)); difference != "" {
		t.Errorf("%s, %s\n-update if that is meant", path, difference)
	}
}

// firstDifference shows where a text begins to differ from the one that is wanted: the
// program of that line, three lines that are the same and three of each text; empty where
// the texts are equal.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	at := 0
	for at < len(g) && at < len(w) && g[at] == w[at] {
		at++
	}
	if at == len(g) && at == len(w) {
		return ""
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "line %d:", at+1)
	for i := at; i >= 0; i-- {
		if i < len(g) && strings.HasPrefix(g[i], "#") {
			fmt.Fprintf(&sb, "\n%s", g[i])
			break
		}
	}
	show := func(sign string, lines []string, from, to int) {
		for _, line := range lines[min(max(from, 0), len(lines)):min(to, len(lines))] {
			fmt.Fprintf(&sb, "\n%s%s", sign, line)
		}
	}
	show("  ", g, at-3, at)
	show("- ", w, at, at+3)
	show("+ ", g, at, at+3)
	return sb.String()
}

// listings are the programs of a kernel's shortest variant, for three generations and
// under a cap that spills where something has to.
func listings(t *testing.T, name string) string {
	v := slices.MinFunc(variants(t, name), func(a, b catalogue.Variant) int {
		return cmp.Or(cmp.Compare(len(a.PTX), len(b.PTX)), cmp.Compare(a.Macros, b.Macros))
	})
	k := asmtest.BuildKernel(t, name, v.PTX)
	var sb strings.Builder
	for _, opt := range []Options{{CC: [2]int{9, 0}}, {CC: [2]int{9, 0}, MaxRegisters: 24}, {CC: [2]int{7, 5}}, {CC: [2]int{8, 6}}} {
		p, err := Prepare(k, opt)
		if err != nil {
			t.Fatal(err)
		}
		u, err := p.assemble(opt)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&sb, "# %s %s, sm_%d%d, cap %d: %d registers, %d bytes spilled\n%s", name, v.Macros, opt.CC[0], opt.CC[1], opt.MaxRegisters,
			u.program.Registers, u.program.SpillBytes, asmtest.Listing(u.mir))
	}
	return sb.String()
}

// variants are the compile variants of a built-in kernel.
func variants(t *testing.T, name string) []catalogue.Variant {
	t.Helper()
	archive, err := os.ReadFile("../../tuner/kernel/catalogue/prebuilt/" + name + ".zst")
	if err != nil {
		t.Fatal(err)
	}
	all, err := catalogue.DecodeArchive(archive)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
