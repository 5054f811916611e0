package microbench

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/warptune/warptune/cmd/internal/measure/wire"
	"github.com/warptune/warptune/simengine/arch/calibrate"
)

// bench is a program's script in the making, and what is done with what it gives.
type bench struct {
	wire.Device
	script  wire.Script
	entries []string
	after   []func(*wire.Done) // of each step; nil: nothing
	results calibrate.Results
	err     error // the first
}

// buf is memory of the script, by its number.
type buf int

// pointer is an address in memory.
type pointer struct {
	of     buf
	offset int64
}

// launch is one kernel's. args are Go values of the sizes that the kernel takes.
type launch struct {
	entry       string // the beginning of its mangled name
	grid, block int
	shared      int
	full        bool // all that is not for shared memory may be: a carve-out of 100 %
	args        []any
	set         *wire.Param
	zero        []int
}

// params are what a result is of.
type params map[string]any

// entry is the beginning of the mangled name of a kernel: of a template with whole numbers
// and truths as its arguments.
func entry(name string, args ...any) string {
	text := fmt.Sprintf("_Z%d%s", len(name), name)
	if len(args) == 0 {
		return text
	}
	text += "I"
	for _, a := range args {
		switch v := a.(type) {
		case bool:
			text += fmt.Sprintf("Lb%dE", map[bool]int{true: 1}[v])
		case int:
			text += fmt.Sprintf("Li%dE", v)
		case string: // a type, mangled
			text += v
		}
	}
	return text + "E"
}

var entryName = regexp.MustCompile(`\.entry\s+(\w+)`)

// begin makes a script of a program's kernels.
func begin(d *wire.Device, ptx []byte) *bench {
	b := &bench{Device: *d}
	for _, m := range entryName.FindAllSubmatch(ptx, -1) {
		b.entries = append(b.entries, string(m[1]))
	}
	return b
}

// memory is so many bytes of zeros.
func (b *bench) memory(bytes int64) buf { return b.add(wire.Memory{Bytes: bytes}) }

func (b *bench) add(m wire.Memory) buf {
	b.script.Memory = append(b.script.Memory, m)
	return buf(len(b.script.Memory) - 1)
}

// words is memory of these words of 4 bytes.
func (b *bench) words(w []uint32) buf {
	data := make([]byte, 0, 4*len(w))
	for _, v := range w {
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	return b.add(wire.Memory{Bytes: int64(len(data)), Data: data})
}

// line is a cache line, bytes.
const line = 128

// chains is memory of cycles through lines, in an order drawn at random, each through so many
// lines of its own. A line begins with the address of the next.
func (b *bench) chains(cycles, lines int) buf {
	data := make([]byte, 8*cycles*lines)
	for c := range cycles {
		for i, next := range cycle(lines, uint64(c)) {
			binary.LittleEndian.PutUint64(data[8*(c*lines+i):], uint64(c*lines+next)*line)
		}
	}
	return b.add(wire.Memory{Bytes: int64(cycles) * int64(lines) * line, Data: data, Every: line})
}

// cycle is a cycle through n places: of each the next.
func cycle(n int, seed uint64) []int {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(n)
	next := make([]int, n)
	for i, at := range order {
		next[at] = order[(i+1)%n]
	}
	return next
}

// step adds a launch.
func (b *bench) step(l *launch, after func(*wire.Done)) *wire.Step {
	s := wire.Step{Grid: uint32(l.grid), Block: uint32(l.block), Shared: l.shared, CarveOut: -1, Set: l.set, Zero: l.zero}
	if l.full {
		s.CarveOut = 100
	}
	i := slices.IndexFunc(b.entries, func(e string) bool { return strings.HasPrefix(e, l.entry) })
	if i < 0 {
		b.err = fmt.Errorf("there is no kernel %s", l.entry)
		i = 0
	}
	s.Entry = b.entries[i]
	for _, a := range l.args {
		s.Params = append(s.Params, argument(a))
	}
	b.script.Steps = append(b.script.Steps, s)
	b.after = append(b.after, after)
	return &b.script.Steps[len(b.script.Steps)-1]
}

func argument(a any) wire.Param {
	switch v := a.(type) {
	case buf:
		return wire.Param{Buffer: int(v)}
	case pointer:
		return wire.Param{Buffer: int(v.of), Offset: v.offset}
	case int: // C's int and unsigned
		return wire.Param{Bytes: binary.LittleEndian.AppendUint32(nil, uint32(v))}
	case int64: // size_t and long long
		return wire.Param{Bytes: binary.LittleEndian.AppendUint64(nil, uint64(v))}
	case float32:
		return wire.Param{Bytes: binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))}
	case float64:
		return wire.Param{Bytes: binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))}
	case [6]int32: // a structure
		p := wire.Param{}
		for _, w := range v {
			p.Bytes = binary.LittleEndian.AppendUint32(p.Bytes, uint32(w))
		}
		return p
	}
	panic(fmt.Sprintf("a kernel's argument is a %T", a))
}

// times launches so often, back to back.
func (b *bench) times(n int, l launch) { b.step(&l, nil).Launches = n }

// timed launches n at a time, for warming up and then reps times, and gives the median in
// microseconds a launch.
func (b *bench) timed(n, reps int, l launch, f func(us float64)) {
	s := b.step(&l, func(d *wire.Done) {
		slices.Sort(d.Took)
		f(d.Took[len(d.Took)/2])
	})
	s.Launches, s.Timed = n, reps
}

// spanBytes is the size of what a warp notes: when it started and when it stopped.
const spanBytes = 16

// cycles launches twice, the code being in its cache the second time, and gives the cycles from
// the first start to the last stop of so many warps, which they noted.
func (b *bench) cycles(spans buf, warps int, l launch, f func(cycles float64)) {
	b.noted(2, spans, warps, l, f)
}

func (b *bench) noted(launches int, spans buf, warps int, l launch, f func(cycles float64)) {
	b.read(launches, l, spans, warps*spanBytes, func(data []byte) {
		first, last := int64(math.MaxInt64), int64(math.MinInt64)
		for at := 0; at < len(data); at += spanBytes {
			first = min(first, int64(binary.LittleEndian.Uint64(data[at:])))
			last = max(last, int64(binary.LittleEndian.Uint64(data[at+8:])))
		}
		f(float64(last - first))
	})
}

// read launches, and gives what memory begins with then.
func (b *bench) read(launches int, l launch, of buf, bytes int, f func([]byte)) {
	s := b.step(&l, func(d *wire.Done) { f(d.Read[0]) })
	s.Launches = launches
	s.Read = []wire.Range{{Buffer: int(of), Bytes: int64(bytes)}}
}

// emit is a result. What is not a number, of a division by nothing, is none.
func (b *bench) emit(name string, p params, value float64, unit string) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	of := map[string]any{}
	for k, v := range p {
		switch n := v.(type) {
		case int:
			of[k] = float64(n)
		case int64:
			of[k] = float64(n)
		default:
			of[k] = v
		}
	}
	b.results = append(b.results, calibrate.Result{Name: name, Params: of, Value: value, Unit: unit})
}

// end hands each step what it gave.
func (b *bench) end(done []wire.Done) error {
	if len(done) != len(b.after) {
		return fmt.Errorf("%d steps of %d were done", len(done), len(b.after))
	}
	for i, f := range b.after {
		if f == nil {
			continue
		}
		s, d := &b.script.Steps[i], &done[i]
		if len(d.Took) != s.Timed || len(d.Read) != len(s.Read) {
			return fmt.Errorf("step %d, %s, gave %d times and %d readings", i, s.Entry, len(d.Took), len(d.Read))
		}
		f(d)
	}
	return nil
}
