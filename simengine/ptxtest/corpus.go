package ptxtest

import (
	"archive/zip"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// RandomBody is a kernel body of n labelled blocks, each of which moves and
// adds a few registers and then falls through, branches, or returns.
func RandomBody(rng *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString("\t.reg .b32 %r<6>;\n\t.reg .pred %p<3>;\n")
	for i := range n {
		fmt.Fprintf(&b, "L%d:\n", i)
		for range rng.IntN(4) {
			guard := ""
			if rng.IntN(4) == 0 {
				guard = fmt.Sprintf("@%%p%d ", rng.IntN(3))
			}
			switch rng.IntN(3) {
			case 0:
				fmt.Fprintf(&b, "\t%smov.u32 %%r%d, %d;\n", guard, rng.IntN(6), rng.IntN(100))
			case 1:
				fmt.Fprintf(&b, "\t%sadd.u32 %%r%d, %%r%d, %%r%d;\n", guard, rng.IntN(6), rng.IntN(6), rng.IntN(6))
			case 2:
				fmt.Fprintf(&b, "\t%ssetp.eq.u32 %%p%d, %%r%d, 0;\n", guard, rng.IntN(3), rng.IntN(6))
			}
		}
		switch rng.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "\tbra L%d;\n", rng.IntN(n))
		case 1, 2:
			fmt.Fprintf(&b, "\t@%%p%d bra L%d;\n", rng.IntN(3), rng.IntN(n))
		case 3:
			if rng.IntN(3) == 0 {
				b.WriteString("\tret;\n")
			}
		}
	}
	b.WriteString("\tret;\n")
	return b.String()
}

// Silicon calls f for every PTX file that ran on hardware. The test is skipped where these are not beside the repository,
// whose root is given.
func Silicon(t testing.TB, root string, f func(stem string, src []byte)) {
	t.Helper()
	for _, archive := range []string{"ptx.zip", "ptx-clang.zip"} {
		each(t, filepath.Join(root, "../shared/silicon/h200", archive), func(name string, src []byte) {
			f(strings.TrimSuffix(filepath.Base(name), ".ptx"), src)
		})
	}
}

// Hopper is Silicon for the kernels of Hopper's own instructions.
func Hopper(t testing.TB, root string, f func(name string, src []byte)) {
	t.Helper()
	each(t, filepath.Join(root, "../shared/hopper/h100/ptx.zip"), f)
}

// each calls f for every PTX file of an archive.
func each(t testing.TB, archive string, f func(name string, src []byte)) {
	t.Helper()
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Skipf("no measured PTX beside the repository: %v", err)
	}
	defer z.Close()
	for _, e := range z.File {
		if !strings.HasSuffix(e.Name, ".ptx") {
			continue
		}
		r, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		src, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		f(e.Name, src)
	}
}
