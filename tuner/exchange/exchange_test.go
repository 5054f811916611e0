package exchange

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

var formats = map[string]func(io.Writer, *Run) error{"t4": WriteT4, "kernel-tuner": WriteKernelTuner}

// random is a run with every kind of value and of outcome.
func random(rng *rand.Rand) *Run {
	r := &Run{
		Kernel: "transpose<float>", Device: "NVIDIA H200 SXM", Problem: []int64{8192, 1 + rng.Int64N(1<<40)},
		Params: []string{"z", "a", "mode", "flag"}, Provenance: map[string]string{"engine": "1-ab", "level": "cycle"},
	}
	for i := range 1 + rng.IntN(20) {
		v := tuner.Validities()[rng.IntN(len(tuner.Validities()))]
		t := Trial{Validity: v, Config: []search.Value{
			search.OfInt(int64(i)), search.OfFloat(math.Ldexp(rng.Float64(), rng.IntN(160)-80)),
			search.OfString([]string{"", "a,b", "\"\\\n<&>é", "1"}[rng.IntN(4)]), search.OfBool(rng.IntN(2) == 0),
		}}
		if v == tuner.Correct {
			t.TimeUS = math.Ldexp(1+rng.Float64(), rng.IntN(60)-30)
			t.Measurements = []Measurement{{Name: "num_regs", Value: float64(rng.IntN(255))}, {Name: "occupancy", Value: rng.Float64()}}
		}
		r.Trials = append(r.Trials, t)
	}
	return r
}

// byKey orders trials as a cache file is read.
func byKey(r *Run) {
	for i := range r.Trials { // insertion sort: few
		for j := i; j > 0 && cacheKey(r.Trials[j].Config) < cacheKey(r.Trials[j-1].Config); j-- {
			r.Trials[j], r.Trials[j-1] = r.Trials[j-1], r.Trials[j]
		}
	}
}

// What is written is read back, and written again it is the same bytes.
func TestRoundTrip(t *testing.T) {
	for format, write := range formats {
		for seed := range uint64(200) {
			run := random(rand.New(rand.NewPCG(seed, 1)))
			byKey(run)
			var file bytes.Buffer
			if err := write(&file, run); err != nil {
				t.Fatal(err)
			}
			text := bytes.Clone(file.Bytes())
			got, err := Read("x", &file)
			if err != nil {
				t.Fatalf("%s: seed %d: %v\n%s", format, seed, err, text)
			}
			var again bytes.Buffer
			if err := write(&again, got); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again.Bytes(), text) {
				t.Fatalf("%s: seed %d: written\n%s\nagain\n%s", format, seed, text, again.Bytes())
			}
			compare(t, fmt.Sprintf("%s: seed %d", format, seed), format, got, run)
		}
	}
}

// compare compares runs but for what a format cannot hold: a cache file has
// three kinds of failure, and times are rounded once to milliseconds.
func compare(t *testing.T, where, format string, got, want *Run) {
	t.Helper()
	for i := range got.Trials {
		g, w := &got.Trials[i], want.Trials[i]
		if math.Abs(g.TimeUS-w.TimeUS) > 1e-12*w.TimeUS {
			t.Fatalf("%s: trial %d: time %v, want %v", where, i, g.TimeUS, w.TimeUS)
		}
		if format == "kernel-tuner" && (w.Validity == tuner.Timeout || w.Validity == tuner.Correctness) {
			w.Validity = tuner.Runtime
		}
		if g.Validity != w.Validity || !reflect.DeepEqual(g.Config, w.Config) {
			t.Fatalf("%s: trial %d: %v, want %v", where, i, *g, w)
		}
		for _, m := range w.Measurements {
			if !hasMeasurement(g, m) {
				t.Fatalf("%s: trial %d: no %v in %v", where, i, m, g.Measurements)
			}
		}
	}
	if got.Kernel != want.Kernel || got.Device != want.Device || !reflect.DeepEqual(got.Problem, want.Problem) ||
		!reflect.DeepEqual(got.Params, want.Params) || !reflect.DeepEqual(got.Provenance, want.Provenance) {
		t.Fatalf("%s: read %+v, want %+v", where, got, want)
	}
}

func hasMeasurement(t *Trial, m Measurement) bool {
	for _, have := range t.Measurements {
		if have == m {
			return true
		}
	}
	return false
}

// A cache file that a run is still writing, or that a kill cut after an entry,
// reads like the closed one; one cut inside an entry, like that without it.
func TestOpenCache(t *testing.T) {
	run := random(rand.New(rand.NewPCG(7, 1)))
	var file bytes.Buffer
	if err := WriteKernelTuner(&file, run); err != nil {
		t.Fatal(err)
	}
	whole, err := Read("x", bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	open := strings.TrimSuffix(file.String(), "}\n}")
	for _, text := range []string{open, open + ",", open + ",\n"} {
		got, err := Read("x", strings.NewReader(text))
		if err != nil || !reflect.DeepEqual(got, whole) {
			t.Errorf("%q at the end: %v", text[len(text)-3:], err)
		}
	}
	last := strings.LastIndex(open, "\n")
	less, err := Read("x", strings.NewReader(open[:last]))
	if err != nil || len(less.Trials) != len(whole.Trials)-1 {
		t.Fatalf("without the last entry: %v", err)
	}
	for cut := last; cut < len(open); cut++ {
		got, err := Read("x", strings.NewReader(open[:cut]))
		if err != nil || !reflect.DeepEqual(got, less) {
			t.Errorf("cut after %q: %v", open[last:cut], err)
		}
	}
}

// The dialects that are in use: the public data sets' spelling, times only
// among the runtimes, gzip, both notations of a failure, problem sizes as a
// number.
func TestDialects(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, `{"schema_version":"1.0.0","metadata":{"timeunit":"miliseconds"},"results":[
		{"configuration":{"b":32,"a":1.5},"times":{"runtimes":[1,3]},"invalidity":"correct","correctness":1,"objectives":["time"]},
		{"configuration":{"a":2,"b":64,"c":0},"times":{"runtimes":[9]},"invalidity":"correct","correctness":1,
		 "measurements":[{"name":"time","value":2500,"unit":"us"},{"name":"note","value":"x","unit":""}]},
		{"configuration":{"a":2,"b":65},"times":{},"invalidity":"timeout","correctness":0}]}`)
	z.Close()
	run, err := Read("x.json.gz", &zipped)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(run.Params, run.Trials); got != "[a b] [{[1.5 32] correct 2000 []} {[2 64] correct 2500 []} {[2 65] timeout 0 []}]" {
		t.Error(got)
	}
	run, err = Read("x.json", strings.NewReader(`{"device_name":"D","kernel_name":"k","problem_size":100,"tune_params_keys":["n"],"tune_params":{"n":[1,2,3,4]},
		"cache":{"1":{"n":1,"time":0.5,"GFLOP/s":3},"2":{"n":2,"time":"InvalidConfig"},"3":{"n":3,"__error__":"CompilationFailedConfig"},
		"4":{"n":4,"time":"RuntimeFailedConfig","GFLOP/s":null}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(run.Kernel, " ", run.Device, run.Problem, run.Trials); got != "k D[100] [{[1] correct 500 [{GFLOP/s 3 }]} {[2] constraints 0 []} {[3] compile 0 []} {[4] runtime 0 []}]" {
		t.Error(got)
	}
}

// KTT's own results, which have T4's list in another letter case.
func TestKTT(t *testing.T) {
	const text = `{"Metadata":{"ComputeApi":"CUDA","Device":"D","KttVersion":"2.1.0","TimeUnit":"Milliseconds"},"Results":[
		{"ComputationResults":[{"Duration":1}],"Configuration":[{"Name":"b","Value":32,"ValueType":"UnsignedInt"},{"Name":"a","Value":1.5,"ValueType":"Double"}],"KernelName":"k","Status":"Ok","TotalDuration":2.5},
		{"Configuration":[{"Name":"a","Value":2,"ValueType":"Int"},{"Name":"b","Value":64,"ValueType":"UnsignedInt"}],"KernelName":"k","Status":"DeviceLimitsExceeded","TotalDuration":0},
		{"Configuration":[{"Name":"a","Value":3,"ValueType":"Int"},{"Name":"b","Value":64,"ValueType":"UnsignedInt"}],"KernelName":"k","Status":"ValidationFailed","TotalDuration":1}]}`
	run, err := Read("x.json", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(run.Kernel, " ", run.Device, run.Params, run.Trials); got != "k D[b a] [{[32 1.5] correct 2500 []} {[64 2] runtime 0 []} {[64 3] correctness 0 []}]" {
		t.Error(got)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"Ok"`, `"no"`, `Results[0]: unknown status "no"; known are Ok`},
		{"2.5", "0", "Results[0]: no positive time"},
		{"2.5", "NaN", "Results[0]: no positive time"},
		{"2.5", `"fast"`, "Results[0]: no positive time"},
		{`"b","Value":64,`, `"c","Value":64,`, "Results[1]: its Configuration: the parameter b is missing"},
	} {
		run, err := Read("x.json", strings.NewReader(strings.Replace(text, c.old, c.new, 1)))
		if err != nil || run.Odd.Count != 1 || len(run.Trials) != 2 || !strings.HasPrefix(run.Odd.First, c.want) {
			t.Errorf("%s: %v, %+v", c.old, err, run)
		}
	}
	for _, c := range []struct{ old, new, want string }{
		{`"Milliseconds"`, `"no"`, `x.json: Metadata.TimeUnit: unknown unit of time "no"`},
		{`"KttVersion":"2.1.0",`, "", "x.json: none of its 3 entries can be used; the first is results[0]: json: cannot unmarshal array"},
	} {
		if _, err := Read("x.json", strings.NewReader(strings.Replace(text, c.old, c.new, 1))); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", c.old, err)
		}
	}
}

// TestCollidingNames: a parameter called as something else in a file comes back, or is refused.
func TestCollidingNames(t *testing.T) {
	for _, name := range []string{"time", "times", "timestamp", "compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time", "__error__", "num_regs", "n", "configuration", "cache", "unit"} {
		run := &Run{Kernel: "k", Device: "d", Problem: []int64{1}, Params: []string{name, "other"}, Trials: []Trial{
			{Config: []search.Value{search.OfInt(4), search.OfString("InvalidConfig")}, Validity: tuner.Correct, TimeUS: 5000, Measurements: []Measurement{{Name: "num_regs", Value: 9}}},
			{Config: []search.Value{search.OfInt(5), search.OfString("x")}, Validity: tuner.Compile},
		}}
		for format, write := range formats {
			var out bytes.Buffer
			if err := write(&out, run); err != nil {
				if format == "t4" || !strings.Contains(err.Error(), strconv.Quote(name)+" has the name of a member") || name == "n" {
					t.Errorf("%s, %s: %v", format, name, err)
				}
				continue
			}
			back, err := Read("x.json", &out)
			if err != nil || len(back.Trials) != 2 || back.Odd.Count > 0 {
				t.Errorf("%s, %s: %v, %+v", format, name, err, back)
				continue
			}
			for i := range back.Trials {
				if got, want := &back.Trials[i], &run.Trials[i]; !slices.Equal(got.Config, want.Config) || got.Validity != want.Validity || got.TimeUS != want.TimeUS {
					t.Errorf("%s, %s: %+v, want %+v", format, name, got, want)
				}
			}
		}
	}
}

// TestOddEntries: one bad entry costs no other. It is used where its time is good, a failure where
// it marks one, and passed over, with a count, where it says nothing.
func TestOddEntries(t *testing.T) {
	const cache = `{"tune_params_keys":["n"],"cache":{"1":{"n":1,"time":0.5},"2":%s,"3":{"n":3,"time":1.5}}}`
	const t4 = `{"metadata":{"timeunit":"ms"},"results":[{"configuration":{"n":1},"invalidity":"correct","times":{"runtimes":[0.5]}},%s,{"configuration":{"n":3},"invalidity":"correct","times":{"runtimes":[1.5]}}]}`
	for _, c := range []struct{ file, entry, want, odd string }{
		{cache, `{"n":2,"time":1.0,"power":NaN}`, "[2] correct 1000", ""},
		{cache, `{"n":2,"time":1.0,"power":-Infinity,"name":"NaN, \"Infinity\""}`, "[2] correct 1000", ""},
		{cache, `{"n":2,"time":NaN,"times":[1.0,3.0]}`, "[2] correct 2000", ""},
		{cache, `{"n":2,"time":null,"times":[1.0,3.0]}`, "[2] correct 2000", ""},
		{cache, `{"n":2,"time":"a text","times":[2.0]}`, "[2] correct 2000", ""},
		{cache, `{"n":2,"time":1e20}`, "[2] runtime 0", ""},
		{cache, `{"n":2,"time":1.7976931348623157e308}`, "[2] runtime 0", ""},
		{cache, `{"n":2,"time":"InvalidConfig"}`, "[2] constraints 0", ""},
		{cache, `{"n":2,"time":"CompilationFailedConfig"}`, "[2] compile 0", ""},
		{cache, `{"n":2,"time":"RuntimeFailedConfig"}`, "[2] runtime 0", ""},
		{cache, `{"n":2,"time":NaN}`, "", `cache entry "2": no positive time`},
		{cache, `{"n":2,"time":Infinity,"times":[1.0,NaN]}`, "", `cache entry "2": no positive time`},
		{cache, `{"n":2,"time":0}`, "", `cache entry "2": no positive time`},
		{cache, `{"n":2,"time":-3.0}`, "", `cache entry "2": no positive time`},
		{cache, `{"n":2,"time":null}`, "", `cache entry "2": no positive time`},
		{cache, `{"n":2,"time":"out of memory"}`, "", `cache entry "2": no positive time`},
		{cache, `{"n":2,"time":1e999}`, "", `cache entry "2": no positive time`},
		{cache, `{"n":NaN,"time":1.0}`, "", `cache entry "2": parameter n: null is not`},
		{cache, `{"time":1.0}`, "", `cache entry "2": the parameter n is missing`},
		{cache, `null`, "", `cache entry "2": it is no object`},
		{cache, `["n", 2]`, "", `cache entry "2": it is no object`},
		{cache, `NaN`, "", `cache entry "2": it is no object`},
		{t4, `{"configuration":{"n":2},"invalidity":"correct","times":{"runtimes":[NaN]},"measurements":[{"name":"time","value":1.0,"unit":"ms"},{"name":"power","value":NaN,"unit":"W"}]}`, "[2] correct 1000", ""},
		{t4, `{"configuration":{"n":2},"invalidity":"correct","times":{"runtimes":[2.0]},"measurements":[{"name":"time","value":NaN,"unit":"ms"}]}`, "[2] correct 2000", ""},
		{t4, `{"configuration":{"n":2},"invalidity":"correct","times":{"runtimes":[1e20]}}`, "[2] runtime 0", ""},
		{t4, `{"configuration":{"n":2},"invalidity":"correct","times":{"runtimes":"none"}}`, "", "results[1]: no positive time"},
		{t4, `{"configuration":{"n":2},"invalidity":"who knows","times":{"runtimes":[1.0]}}`, "", "results[1]: invalidity"},
		{t4, `{"configuration":{"n":2},"invalidity":NaN}`, "", "results[1]: invalidity"},
		{t4, `{"configuration":null,"invalidity":"correct","times":{"runtimes":[1.0]}}`, "", "results[1]: configuration: the parameter n is missing"},
		{t4, `"a text"`, "", "results[1]: json: cannot unmarshal string"},
		{t4, `{"configuration":{"n":2},"invalidity":"correct","times":{"runtimes":[]},"measurements":[{"name":"time","value":1.0,"unit":"fortnights"}]}`, "", "results[1]: measurement time: unknown unit"},
	} {
		run, err := Read("x.json", strings.NewReader(fmt.Sprintf(c.file, c.entry)))
		if err != nil {
			t.Errorf("%s: %v", c.entry, err)
			continue
		}
		got := ""
		for _, trial := range run.Trials {
			switch text := fmt.Sprint(trial.Config, trial.Validity, " ", trial.TimeUS); text {
			case "[1] correct 500", "[3] correct 1500":
			default:
				got += text
			}
		}
		want, count := 3, 0
		if c.odd != "" {
			want, count = 2, 1
		}
		if got = strings.ReplaceAll(got, "]correct", "] correct"); len(run.Trials) != want || got != c.want || run.Odd.Count != count || !strings.HasPrefix(run.Odd.First, c.odd) {
			t.Errorf("%s: %q of %d trials, odd %+v; want %q, %q", c.entry, got, len(run.Trials), run.Odd, c.want, c.odd)
		}
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "unexpected end"},
		{"vm-1\n", "neither a T4 results file (\"results\") nor a cache file of Kernel Tuner (\"cache\") nor KTT's results (\"KttVersion\"): it is no JSON: invalid character 'v'"},
		{"[]", "(\"KttVersion\"): it is a JSON array"},
		{"{}", "neither a T4 results file"},
		{`{"results":[]}`, "no configurations"},
		{`{"cache":{},"tune_params_keys":["a"]}`, "no configurations"},
		{`{"results":[{"configuration":{"a":1},"invalidity":"fine"}]}`, `results[0]: invalidity: read validity: "fine"`},
		{`{"results":[{"configuration":{"a":1},"invalidity":"correct"}]}`, "results[0]: no positive time"},
		{`{"results":[{"configuration":{"a":[1]},"invalidity":"compile"}]}`, "parameter a: [1] is not"},
		{`{"metadata":{"timeunit":"fortnights"},"results":[{"configuration":{"a":1},"invalidity":"compile"}]}`, "fortnights"},
		{`{"tune_params_keys":["a"],"cache":{"1":{"a":1,"time":-1}}}`, `cache entry "1": no positive time`},
		{`{"tune_params_keys":["a"],"cache":{"1":{"time":1}}}`, `cache entry "1": the parameter a is missing`},
		{"\x1f\x8b rest", "gzip"},
	} {
		_, err := Read("file.json", strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "file.json: ") {
			t.Errorf("%s: %v; want %q", c.text, err, c.want)
		}
	}
}

// Keys and numbers are what Python writes: str of each value, repr of a float.
func TestPythonTexts(t *testing.T) {
	config := []search.Value{search.OfInt(-3), search.OfFloat(1e6), search.OfFloat(1e16), search.OfFloat(1e-5), search.OfFloat(0.0001), search.OfFloat(0.1), search.OfBool(true), search.OfString("x y")}
	if got, want := cacheKey(config), "-3,1000000.0,1e+16,1e-05,0.0001,0.1,True,x y"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func FuzzRead(f *testing.F) {
	for _, write := range formats {
		var file bytes.Buffer
		if err := write(&file, random(rand.New(rand.NewPCG(1, 1)))); err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes())
	}
	f.Add([]byte(`{"results":[{"configuration":{"a":1},"invalidity":"correct","times":{"runtimes":[1]}}]}`))
	f.Add([]byte(`{"tune_params_keys":["n"],"cache":{"1":{"n":1,"time":NaN,"times":[-Infinity]},"2":{"n":2,"time":1,"x":"\\`))
	f.Add([]byte(`{"Metadata":{"KttVersion":"2.1.0","TimeUnit":"Nanoseconds"},"Results":[{"Configuration":[{"Name":"b","Value":32}],"Status":"Ok","TotalDuration":2.5}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		run, err := Read("x", bytes.NewReader(text))
		if err != nil {
			return
		}
		for format, write := range formats {
			var out bytes.Buffer
			if err := write(&out, run); err != nil && !strings.Contains(err.Error(), "has the name of a member") {
				t.Fatal(err)
			} else if err != nil {
				continue
			}
			if !json.Valid(out.Bytes()) {
				t.Fatalf("%s: written as %s", format, out.Bytes())
			}
		}
	})
}
