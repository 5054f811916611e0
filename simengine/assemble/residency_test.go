package assemble

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestDeclaredSizesAgainstPtxas assembles what deploy/calibrate/bounds.py asked ptxas: by the size
// of the CTAs declared, the share of kernels whose registers are within 10 % of its own.
func TestDeclaredSizesAgainstPtxas(t *testing.T) {
	// About 5 points under what it was when written, in percent.
	floors := map[string]int{"none": 40, "32": 53, "64": 52, "128": 46, "256": 50, "512": 50, "1024": 50, "64, 24 KB": 50}
	near, all := map[string]int{}, map[string]int{}
	sources := zipped(t, "../../deploy/calibrate/validation/*/ptx.zip")
	f, err := os.Open("../../deploy/calibrate/results/bounds-ptxas-13.0.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var r struct {
			PTX       string
			Registers map[string]int
			More      map[string]int `json:"registers_24576"`
		}
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		k := *buildKernel(t, r.PTX, sources[r.PTX])
		k.MaxNTid = [3]int{}
		check := func(name, threads string, want int) {
			n, _ := strconv.Atoi(threads) // none: 0
			p, err := Assemble(&k, Options{CC: [2]int{9, 0}, MaxThreads: n})
			if err != nil {
				t.Fatal(err)
			}
			all[name]++
			if math.Abs(float64(p.Registers-want)) <= 0.1*float64(want) {
				near[name]++
			}
		}
		for threads, want := range r.Registers {
			check(threads, threads, want)
		}
		if want := r.More["64"]; want > 0 {
			k.SharedBytes = 24576 - 1024
			check("64, 24 KB", "64", want)
		}
	}
	for name, floor := range floors {
		t.Logf("declared %s: %d of %d within 10 %%", name, near[name], all[name])
		if all[name] == 0 || 100*near[name] < floor*all[name] {
			t.Errorf("declared %s: %d of %d within 10 %%, want %d %%", name, near[name], all[name], floor)
		}
	}
}

// TestOffers holds what a declared size offers to cases by hand, on sm_90.
func TestOffers(t *testing.T) {
	tg, err := targetFor([2]int{9, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		need int
		cta  cta
		want int
	}{
		{70, cta{}, 72},
		{40, cta{threads: 32}, 64},                // 32 CTAs of a warp at most
		{70, cta{threads: 128}, 72},               // 28 warps
		{70, cta{threads: 256}, 80},               // three CTAs
		{70, cta{threads: 64, shared: 21504}, 96}, // ten CTAs
		{70, cta{threads: 512}, 80},               // one CTA, and one step more
		{250, cta{threads: 64}, 255},              // all there are
	} {
		if got := tg.offers(c.need, c.cta); got != c.want {
			t.Errorf("%+v offers %d registers to %d, want %d", c.cta, got, c.need, c.want)
		}
	}
}

// zipped reads all files of archives, by name without .ptx.
func zipped(t *testing.T, glob string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	paths, err := filepath.Glob(glob)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		z, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			out[strings.TrimSuffix(f.Name, ".ptx")] = b
		}
		z.Close()
	}
	return out
}
