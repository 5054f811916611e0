package assemble

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/hir/opt"
	"github.com/warptune/warptune/simengine/assemble/target"
)

// sharedDir is where the measurements of real devices lie beside the checkout.
func sharedDir(t testing.TB) string {
	dir, err := filepath.Abs("../../../shared/silicon/h200")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no measurements at %s", dir)
	}
	return dir
}

// record is one configuration the real assembler assembled.
type record struct {
	Kernel     string             `json:"kernel"`
	PTX        string             `json:"ptx"`
	Params     map[string]float64 `json:"params"`
	Registers  int                `json:"registers"`
	LocalBytes int                `json:"local_bytes"`
}

func (r record) cap() int { return int(r.Params["max_registers"]) }

// readRecords returns the distinct (PTX, cap) pairs of a timings file.
func readRecords(t testing.TB, path string) []record {
	records, err := results.Read[record](path)
	if err != nil {
		t.Fatal(err)
	}
	var out []record
	seen := map[string]bool{}
	for _, r := range records {
		key := fmt.Sprint(r.PTX, r.cap())
		if !seen[key] {
			seen[key] = true
			out = append(out, r)
		}
	}
	return out
}

// score is how the assembler's counts compare with the real one's.
type score struct {
	n, exact, near, spill int
}

func (s *score) add(p *Program, r record) {
	s.n++
	if p.Registers == r.Registers {
		s.exact++
	}
	if math.Abs(float64(p.Registers-r.Registers)) <= 0.1*float64(r.Registers) {
		s.near++
	}
	if (p.LocalBytes > 0) == (r.LocalBytes > 0) {
		s.spill++
	}
}

// shares are the percentages of exact counts, of counts within a tenth, and of
// kernels that spill exactly when the real ones do.
func (s score) shares() (exact, near, spill float64) {
	f := func(x int) float64 { return 100 * float64(x) / float64(max(s.n, 1)) }
	return f(s.exact), f(s.near), f(s.spill)
}

func (s score) String() string {
	exact, near, spill := s.shares()
	return fmt.Sprintf("n=%d exact %.1f%% within10 %.1f%% spill %.1f%%", s.n, exact, near, spill)
}

// dataset is one compiler's kernels and what the real assembler made of them,
// with floors, in percent, a little under what is reached.
type dataset struct {
	name, timings, zip string
	exact, near, spill float64
}

var compilers = []dataset{
	{name: "nvrtc", timings: "timings.jsonl.gz", zip: "ptx.zip", exact: 62, near: 84, spill: 98},
	{name: "clang", timings: "timings-clang.jsonl.gz", zip: "ptx-clang.zip", exact: 50, near: 80, spill: 98},
}

// TestSilicon compares register counts with those of the real assembler: all
// of them under ASSEMBLE_ALL=1 (and a line a record in the file ASSEMBLE_OUT
// names), a seeded sample otherwise.
func TestSilicon(t *testing.T) {
	dir := sharedDir(t)
	const seed = 3
	for _, d := range compilers {
		records := readRecords(t, filepath.Join(dir, d.timings))
		if os.Getenv("ASSEMBLE_ALL") == "" {
			rng := rand.New(rand.NewPCG(seed, seed))
			rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			records = records[:120]
		}
		total := d.measure(t, openCorpus(t, filepath.Join(dir, d.zip)), records)
		if exact, near, spill := total.shares(); exact < d.exact || near < d.near || spill < d.spill {
			t.Errorf("%s, seed %d: %v is under the floors %v, %v and %v", d.name, seed, total, d.exact, d.near, d.spill)
		}
	}
}

// measure assembles the records and logs the scores by kernel.
func (d dataset) measure(t *testing.T, c *asmtest.Corpus, records []record) score {
	var out io.Writer = io.Discard
	if path := os.Getenv("ASSEMBLE_OUT"); path != "" {
		f, err := os.Create(path + "." + d.name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out = f
	}
	total, by := score{}, map[string]*score{}
	for _, r := range records {
		if !strings.HasPrefix(r.PTX, os.Getenv("ASSEMBLE_ONLY")) {
			continue
		}
		p, err := Assemble(c.Kernel(t, r.PTX), Options{CC: [2]int{9, 0}, MaxRegisters: r.cap()})
		if err != nil {
			t.Errorf("%s cap %d: %v", r.PTX, r.cap(), err)
			continue
		}
		fmt.Fprintf(out, "%s cap %d real %d %d ours %d %d instrs %d\n", r.PTX, r.cap(), r.Registers, r.LocalBytes, p.Registers, p.LocalBytes, p.CodeBytes/16)
		key := r.Kernel
		if r.cap() > 0 {
			key += " capped"
		}
		if by[key] == nil {
			by[key] = &score{}
		}
		by[key].add(p, r)
		total.add(p, r)
	}
	keys := make([]string, 0, len(by))
	for k := range by {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		t.Logf("%s %-24s %v", d.name, k, by[k])
	}
	t.Logf("%s %-24s %v", d.name, "all", total)
	return total
}

// TestListing prints the code of one kernel: ASSEMBLE_PTX names a file,
// ASSEMBLE_CAP a register cap.
func TestListing(t *testing.T) {
	path := os.Getenv("ASSEMBLE_PTX")
	if path == "" {
		t.Skip("ASSEMBLE_PTX names no file")
	}
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cap := 0
	fmt.Sscan(os.Getenv("ASSEMBLE_CAP"), &cap)
	tg, _ := target.For([2]int{9, 0})
	k := asmtest.BuildKernel(t, filepath.Base(path), src)
	tg.Specific = k.Specific()
	verifying = true
	base, err := prepared(k, tg, new(Workspace))
	if err != nil {
		t.Fatal(err)
	}
	remat := 0
	if os.Getenv("ASSEMBLE_REDUCE") != "" {
		remat = opt.RematLimit
	}
	u, err := base.selected(remat, opt.Interrupted(k))
	if err != nil {
		t.Fatal(err)
	}
	u.cap = registerCap(k, tg, Options{MaxRegisters: cap})
	u.budget = tg.Step(u.need())
	if cap > 0 {
		u.budget = u.cap
	}
	t.Logf("need %d budget %d", u.need(), u.budget)
	if err := u.runPasses(backEnd); err != nil {
		t.Fatal(err)
	}
	f := u.mir
	fmt.Println(asmtest.Listing(f))
	for _, b := range f.Order {
		fmt.Println(b, f.BlockPressure(b, make([]uint8, len(f.Values)), f.Blocks[b].Insts), asmtest.LiveText(f, b))
	}
	t.Logf("registers %d", u.program.Registers)
}
