package exec

import (
	"math"
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// stored notes the addresses of device memory that are written.
type stored struct {
	k     *ir.Kernel
	bytes map[uint64]bool // by address of 2 bytes
}

func (s *stored) Step(int, int, uint32)  {}
func (s *stored) Repeat(int, int, int64) {}
func (s *stored) Access(_, pc int, space ir.Space, width int, mask uint32, addr *[WarpSize]uint64) {
	if op := s.k.Instrs[pc].Op; space != ir.Global || op != ir.St && op != ir.Atom && op != ir.Red {
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		s.note(addr[bits.TrailingZeros32(m)], width)
	}
}
func (s *stored) Async(_ int, a trace.Async, ranges []Range) {
	if b := s.k.Instrs[a.PC].Bulk; b != nil && s.k.Instrs[a.PC].Op == ir.BulkCopy && b.To == ir.Global {
		for _, x := range ranges {
			s.note(x.Addr, x.Bytes)
		}
	}
}
func (s *stored) note(addr uint64, n int) {
	for i := 0; i < n; i += 2 {
		s.bytes[addr+uint64(i)] = true
	}
}

// values reads elements of the buffer of an argument, as they were before the launch.
type values struct {
	reg    *memory.Region
	decode func(uint64) float64
}

func valuesOf(p *problem, name string) values {
	for _, r := range p.mem.Regions() {
		if _, after, ok := strings.Cut(r.Name, " "); ok && after == name {
			return values{r, alu.DecodeFloat(r.Elem, false)}
		}
	}
	panic("no buffer " + name)
}

func (v values) at(i int) float64 { return v.decode(v.reg.Fill.Element(v.reg.Elem, int64(i))) }

func (v values) list(from, n, step int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v.at(from + i*step)
	}
	return out
}

// hopperOutputs are the arguments that kernels write.
var hopperOutputs = map[string][]string{
	"gemm_wg": {"C"}, "gemm_ws": {"C", "tc"}, "mm_host_desc": {"c_desc"}, "mm_grouped": {"C"}, "mm_fp8_rows": {"C"}, "mm_splitk": {"C"},
	"bulk_stream": {"y"}, "cluster_norm": {"y"}, "row_softmax": {"y"}, "attn_forward": {"O"},
}

// product is the reference of C = A B, by rows of A and columns of B that are kept.
type product struct {
	row, col   map[int][]float64
	a, b       values
	lda        int
	ldb, stepB int // of the next column, and within a column
	k          int
}

func (x *product) at(m, n int) float64 {
	if x.row[m] == nil {
		x.row[m] = x.a.list(m*x.lda, x.k, 1)
	}
	if x.col[n] == nil {
		x.col[n] = x.b.list(n*x.ldb, x.k, x.stepB)
	}
	sum := 0.0
	for i, v := range x.row[m] {
		sum += v * x.col[n][i]
	}
	return sum
}

func scalarOf(r *launchRecord, name string) float64 {
	for i := range r.Args {
		if r.Args[i].Name == name {
			return r.Args[i].Value
		}
	}
	return 0
}

// hopperReference returns what the kernel of a record stores to element i of its output.
func hopperReference(t *testing.T, p *problem, r *launchRecord) func(i int) float64 {
	s := p.size
	prod := func(a, b string, n, k int, transposed bool) *product {
		x := &product{row: map[int][]float64{}, col: map[int][]float64{}, a: valuesOf(p, a), b: valuesOf(p, b), lda: k, ldb: 1, stepB: n, k: k}
		if transposed {
			x.ldb, x.stepB = k, 1
		}
		return x
	}
	switch r.Kernel {
	case "gemm_wg", "gemm_ws", "mm_host_desc":
		names := []string{"ta", "tb"}
		if r.Kernel == "mm_host_desc" {
			names = []string{"a_desc", "w_desc"}
		}
		x := prod(names[0], names[1], s[1], s[2], true)
		return func(i int) float64 { return x.at(i/s[1], i%s[1]) }
	case "mm_grouped":
		x := prod("A", "B", s[1], s[2], false)
		return func(i int) float64 { return x.at(i/s[1], i%s[1]) }
	case "mm_fp8_rows":
		x, sa, sw := prod("A", "W", s[1], s[2], true), valuesOf(p, "ScaleA"), valuesOf(p, "ScaleW")
		return func(i int) float64 { return x.at(i/s[1], i%s[1]) * sa.at(i/s[1]) * sw.at(i%s[1]) }
	case "row_softmax":
		x, cols := valuesOf(p, "x"), s[1]
		rows := map[int][]float64{}
		return func(i int) float64 {
			if rows[i/cols] == nil {
				v := x.list(i/cols*cols, cols, 1)
				top := slices.Max(v)
				sum := 0.0
				for j := range v {
					v[j] = math.Exp(v[j] - top)
					sum += v[j]
				}
				for j := range v {
					v[j] /= sum
				}
				rows[i/cols] = v
			}
			return rows[i/cols][i%cols]
		}
	case "cluster_norm":
		x, cols := valuesOf(p, "x"), s[1]
		scale := map[int]float64{}
		return func(i int) float64 {
			if scale[i/cols] == 0 {
				sum := 0.0
				for _, v := range x.list(i/cols*cols, cols, 1) {
					sum += v * v
				}
				scale[i/cols] = 1 / math.Sqrt(sum/float64(cols)+scalarOf(r, "eps"))
			}
			return x.at(i) * scale[i/cols]
		}
	case "mm_splitk":
		block, parts := int(r.Params["BLOCK_K"].(float64)), int(r.Params["SPLIT_K"].(float64))
		a, b := valuesOf(p, "A"), valuesOf(p, "B")
		part := int(p.launch.Grid.Count() / 3 / int64(p.launch.Grid.X) % int64(p.launch.Grid.Y))
		return func(i int) (sum float64) {
			for k0 := part * block; k0 < s[2]; k0 += block * parts {
				for k := k0; k < min(k0+block, s[2]); k++ {
					sum += a.at(i/s[1]*s[2]+k) * b.at(k*s[1]+i%s[1])
				}
			}
			return sum
		}
	case "attn_forward":
		return attention(p, r)
	case "bulk_stream":
		x, scale := valuesOf(p, "x"), scalarOf(r, "scale")
		if out, _ := r.Params["OUT"].(float64); out == 0 {
			scale = 1
		}
		return func(i int) float64 { return x.at(i) * scale }
	}
	return nil
}

// attention is the reference of attn_forward.
func attention(p *problem, r *launchRecord) func(i int) float64 {
	q, k, v := valuesOf(p, "Q"), valuesOf(p, "K"), valuesOf(p, "V")
	length := int(scalarOf(r, "length"))
	d := int(scalarOf(r, "stride_n"))
	scale, causal := scalarOf(r, "scale_log2"), strings.Contains(r.Group, "causal")
	rows := map[int][]float64{}
	return func(i int) float64 {
		row := i / d
		if rows[row] == nil {
			head := row / length * length
			query := q.list(row*d, d, 1)
			last := length
			if causal {
				last = row%length + 1
			}
			out, total := make([]float64, d), 0.0
			for n := range last {
				s := 0.0
				for j, x := range k.list((head+n)*d, d, 1) {
					s += x * query[j] * scale
				}
				e := math.Exp2(s)
				total += e
				for j, x := range v.list((head+n)*d, d, 1) {
					out[j] += e * x
				}
			}
			for j := range out {
				out[j] /= total
			}
			rows[row] = out
		}
		return rows[row][i%d]
	}
}

// TestHopperResults runs a CTA of measured launches, or its cluster, in Full mode, and compares what
// it stores with plain references.
func TestHopperResults(t *testing.T) {
	seen := map[string]int{}
	all := os.Getenv("WARPTUNE_ALL") != ""
	for _, r := range hopperRecords(t) {
		if seen[r.Kernel]++; hopperOutputs[r.Kernel] == nil || seen[r.Kernel] > 2 && !all {
			continue
		}
		if only := os.Getenv("WARPTUNE_ONLY"); only != "" && !strings.HasPrefix(r.PTX, only) {
			continue
		}
		t.Run(r.PTX, func(t *testing.T) { checkResults(t, &r) })
	}
}

func checkResults(t *testing.T, r *launchRecord) {
	for i := range r.Args {
		if a := &r.Args[i]; slices.Contains(hopperOutputs[r.Kernel], a.Name) {
			a.Zero = true
		}
	}
	p := hopperProblem(t, r)
	want := hopperReference(t, p, r)
	if want == nil {
		t.Skip("no reference")
	}
	prog, err := Compile(p.kernel, Full)
	if err != nil {
		t.Fatal(err)
	}
	writes := &stored{p.kernel, map[uint64]bool{}}
	start := time.Now()
	run := NewRunner(prog)
	if err := run.Run(p.launch, p.mem, p.launch.Grid.Count()/3, Options{Races: true, Uninitialised: true}, writes); err != nil {
		t.Fatal(err)
	}
	t.Logf("%v, work %d", time.Since(start).Round(time.Millisecond), run.Work())
	out := valuesOf(p, hopperOutputs[r.Kernel][0])
	if len(writes.bytes) == 0 {
		t.Fatal("nothing is written")
	}
	size := uint64(element.Size(out.reg.Elem))
	worst, n := 0.0, 0
	for addr := range writes.bytes {
		i := int64(addr-out.reg.Base) / int64(size)
		if !out.reg.Holds(addr, 2) || (addr-out.reg.Base)%size != 0 || (r.Kernel == "attn_forward" || r.Kernel == "mm_splitk") && i%1009 > 2 {
			continue
		}
		pg := p.mem.Page(out.reg, (addr-out.reg.Base)>>memory.PageBits)
		got := out.decode(element.Load(pg.Data[(addr-out.reg.Base)&(memory.PageSize-1):], int(size)))
		w := want(int(i))
		e := math.Abs(got-w) / (math.Abs(w) + 0.05)
		if worst = max(worst, e); e > 0.02 || e != e {
			t.Fatalf("element %d is %v, want %v", i, got, w)
		}
		n++
	}
	t.Logf("%d elements, largest error %.2g", n, worst)
}
