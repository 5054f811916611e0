package microbench

import (
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/measure/wire"
	"github.com/warptune/warptune/deploy/calibrate/microbench"
	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/arch/calibrate"
)

var h200 = wire.Device{GPU: "NVIDIA H200", CC: [2]int{9, 0}, SMs: 132, L2: 60 << 20, SharedSM: 228 << 10, SharedOptIn: 227 << 10, Bandwidth: 4.8e12}

// script is a program's.
func script(t *testing.T, p *program) (*bench, []byte) {
	t.Helper()
	text, err := microbench.PTX(p.name)
	if err != nil {
		t.Fatal(err)
	}
	b := begin(&h200, text)
	p.script(b)
	if b.err != nil {
		t.Fatal(p.name, b.err)
	}
	return b, text
}

// Every launch gives its kernel the parameters that its PTX declares, by their sizes, and reads
// memory that there is.
func TestLaunchesFitTheirKernels(t *testing.T) {
	for i := range suite {
		p := &suite[i]
		b, text := script(t, p)
		sizes := declared(string(text))
		for k, s := range b.script.Steps {
			want := sizes[s.Entry]
			if len(s.Params) != len(want) {
				t.Errorf("%s, step %d: %s takes %d parameters, %d are given", p.name, k, s.Entry, len(want), len(s.Params))
				continue
			}
			for j, param := range s.Params {
				n := 8
				if param.Bytes != nil {
					n = len(param.Bytes)
				} else if param.Buffer >= len(b.script.Memory) || param.Offset >= b.script.Memory[param.Buffer].Bytes {
					t.Errorf("%s, step %d: parameter %d is outside of memory", p.name, k, j)
				}
				if n != want[j] {
					t.Errorf("%s, step %d: parameter %d of %s has %d bytes, want %d", p.name, k, j, s.Entry, n, want[j])
				}
			}
			for _, r := range s.Read {
				if r.From+r.Bytes > b.script.Memory[r.Buffer].Bytes {
					t.Errorf("%s, step %d reads outside of memory", p.name, k)
				}
			}
		}
	}
}

// declared is the sizes of the parameters of every entry of a text as nvcc writes it.
func declared(text string) map[string][]int {
	bytes := map[string]int{".u32": 4, ".f32": 4, ".u64": 8, ".f64": 8}
	out := map[string][]int{}
	entry := ""
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case strings.Contains(line, ".entry"):
			entry = strings.TrimRight(f[len(f)-1], "()")
			out[entry] = []int{}
		case entry != "" && len(f) > 2 && f[0] == ".param" && f[1] == ".align": // a structure: .b8 name[24]
			n := 0
			for _, c := range f[len(f)-1][strings.Index(f[len(f)-1], "[")+1:] {
				if c >= '0' && c <= '9' {
					n = 10*n + int(c-'0')
				}
			}
			out[entry] = append(out[entry], n)
		case entry != "" && len(f) > 2 && f[0] == ".param":
			out[entry] = append(out[entry], bytes[f[1]])
		case line == "{\n":
			entry = ""
		}
	}
	return out
}

// Of the recorded run of the programs those results that the suite gives, by their parameters, are
// enough: every figure is what it is of all of them, but those that counters give.
func TestSuiteIsEnough(t *testing.T) {
	recorded := measured.Records[calibrate.Result](t, "../../../deploy/calibrate/results/h200.jsonl.gz")
	given := about(&h200)
	for i := range suite {
		b, _ := script(t, &suite[i])
		if err := b.end(madeUp(&b.script)); err != nil {
			t.Fatal(err)
		}
		given = append(given, b.results...)
	}
	var enough calibrate.Results
	for i := range recorded {
		if slices.ContainsFunc(given, func(g calibrate.Result) bool { return same(&g, &recorded[i]) }) {
			enough = append(enough, recorded[i])
		}
	}
	figures, missing := calibrate.Figures(enough, "")
	if want := []string{"l2_kept", "l2_kept_until"}; !slices.Equal(missing, want) {
		t.Errorf("missing are %v, want %v", missing, want)
	}
	all, _ := calibrate.Figures(recorded, "")
	for name, f := range figures {
		if f != all[name] {
			t.Errorf("%s is %+v of what the suite gives, and %+v of the whole run", name, f, all[name])
		}
	}
}

// same reports whether a result of the suite is of what a recorded one is of.
func same(given, recorded *calibrate.Result) bool {
	if given.Name != recorded.Name || given.Unit != recorded.Unit {
		return false
	}
	for k, v := range given.Params {
		if k != "us" && k != "gpu" && k != "driver" && recorded.Params[k] != v {
			return false
		}
	}
	return true
}

// madeUp is what a GPU might answer.
func madeUp(s *wire.Script) []wire.Done {
	done := make([]wire.Done, len(s.Steps))
	for k, step := range s.Steps {
		for range step.Timed {
			done[k].Took = append(done[k].Took, float64(10+k))
		}
		for _, r := range step.Read {
			data := make([]byte, r.Bytes)
			data[0] = 1
			for at := 8; at < len(data); at += 8 {
				data[at], data[at+2] = byte(k+1), 1
			}
			done[k].Read = append(done[k].Read, data)
		}
	}
	return done
}
