package exchange

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// The failures of a cache file; kernel_tuner/util.py read_cache knows them by
// these texts, wherever in an entry they stand.
const (
	invalidConfig     = "InvalidConfig"
	compilationFailed = "CompilationFailedConfig"
	runtimeFailed     = "RuntimeFailedConfig"
	errorConfig       = "ErrorConfig"
)

// costs are the members of an entry that say what it took to make; notMeasured
// are all that are neither parameters nor measurements.
var (
	costs       = []string{"compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"}
	notMeasured = append([]string{"time", "times", "timestamp", "__error__"}, costs...)
)

// WriteKernelTuner writes a run as a cache file of Kernel Tuner 1.4, closed,
// so that any JSON reader takes it; kernel_tuner's own opens it again to append
// (util.py correct_open_cache: the text must end in "}\n}"). An entry's key is
// the values as Python's str writes them.
// A parameter that has the name of one of an entry's own members is an error: of two members of
// a name readers keep one.
func WriteKernelTuner(w io.Writer, r *Run) error {
	for _, name := range r.Params {
		if slices.Contains(notMeasured, name) {
			return fmt.Errorf("the tuning parameter %q has the name of a member that every entry of a Kernel Tuner cache file has (%s): rename it in the definition, or write another format, such as t4", name, strings.Join(notMeasured, ", "))
		}
	}
	out := bufio.NewWriter(w)
	var head object
	head.add("device_name", r.Device)
	head.add("kernel_name", r.Kernel)
	head.add("problem_size", r.Problem)
	head.add("tune_params_keys", r.Params)
	head.add("tune_params", tuneParams(r))
	head.add("objective", "time")
	head.add("warptune", r.Provenance)
	out.Write(bytes.TrimSuffix(head.raw(), []byte("}")))
	out.WriteString(`,"cache":{`)
	for i := range r.Trials {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(encode(cacheKey(r.Trials[i].Config)))
		out.WriteByte(':')
		out.Write(cacheEntry(r, &r.Trials[i]))
	}
	out.WriteString("}\n}")
	return out.Flush()
}

// tuneParams are the values that occur of each parameter, numbers ascending.
func tuneParams(r *Run) json.RawMessage {
	var o object
	for i, name := range r.Params {
		var seen []search.Value
		known := map[search.Value]bool{}
		for k := range r.Trials {
			if v := r.Trials[k].Config[i]; !known[v] {
				known[v] = true
				seen = append(seen, v)
			}
		}
		slices.SortStableFunc(seen, func(a, b search.Value) int {
			if a.I < b.I || a.F < b.F {
				return -1
			} else if a.I > b.I || a.F > b.F {
				return 1
			}
			return strings.Compare(a.S, b.S)
		})
		o.add(name, values(seen))
	}
	return o.raw()
}

func cacheEntry(r *Run, t *Trial) json.RawMessage {
	var o object
	for i, name := range r.Params {
		o.add(name, value(t.Config[i]))
	}
	switch t.Validity {
	case tuner.Correct:
		ms := number(t.TimeUS / perMS)
		o.add("time", ms)
		o.add("times", json.RawMessage("["+string(ms)+"]"))
	case tuner.Constraints:
		o.add("time", invalidConfig)
	case tuner.Compile:
		o.add("time", compilationFailed)
	default:
		o.add("time", runtimeFailed)
	}
	for _, m := range t.Measurements {
		if !slices.Contains(r.Params, m.Name) && !slices.Contains(notMeasured, m.Name) {
			o.add(m.Name, number(m.Value))
		}
	}
	for _, name := range costs {
		o.add(name, 0)
	}
	return o.raw()
}

// cacheKey is ",".join(str(v) for v in config).
func cacheKey(config []search.Value) string {
	texts := make([]string, len(config))
	for i, v := range config {
		switch {
		case v.Kind == search.Float:
			texts[i] = python(v.F)
		case v.Kind == search.Bool && v.I != 0:
			texts[i] = "True"
		case v.Kind == search.Bool:
			texts[i] = "False"
		default:
			texts[i] = v.String()
		}
	}
	return strings.Join(texts, ",")
}

// cacheFile is what is read of a cache file.
type cacheFile struct {
	Device     string                     `json:"device_name"`
	Kernel     string                     `json:"kernel_name"`
	Problem    json.RawMessage            `json:"problem_size"`
	Params     []string                   `json:"tune_params_keys"`
	Provenance map[string]string          `json:"warptune"`
	Cache      map[string]json.RawMessage `json:"cache"`
}

// readKernelTuner reads a cache file. The trials come in the order of their
// keys' texts.
func (f *cacheFile) readKernelTuner() (*Run, error) {
	r := &Run{Kernel: f.Kernel, Device: f.Device, Problem: problemSize(f.Problem), Params: f.Params, Provenance: f.Provenance}
	for _, key := range slices.Sorted(maps.Keys(f.Cache)) {
		t, err := cacheTrial(r.Params, f.Cache[key])
		if err != nil {
			r.Odd.add(fmt.Sprintf("cache entry %q", key), err)
			continue
		}
		r.Trials = append(r.Trials, t)
	}
	return r, nil
}

func cacheTrial(params []string, text json.RawMessage) (Trial, error) {
	var entry map[string]json.RawMessage
	err := json.Unmarshal(text, &entry)
	if err != nil || entry == nil {
		return Trial{}, errors.New("it is no object")
	}
	out := Trial{Validity: cacheValidity(params, entry)}
	if out.Config, err = config(params, entry); err != nil {
		return out, err
	}
	for _, name := range sortedNames(entry) {
		v, ok := float(entry[name])
		switch {
		case !ok || slices.Contains(params, name) || slices.Contains(costs, name):
		case name != "time":
			out.Measurements = append(out.Measurements, Measurement{Name: name, Value: v})
		case out.Validity == tuner.Correct:
			out.TimeUS = v * perMS
		}
	}
	if out.Validity == tuner.Correct && !(out.TimeUS > 0) {
		var times []json.RawMessage
		if json.Unmarshal(entry["times"], &times) == nil {
			out.TimeUS = mean(times) * perMS
		}
	}
	return out, out.settle()
}

// cacheValidity is what an entry's texts say of it.
func cacheValidity(params []string, entry map[string]json.RawMessage) tuner.Validity {
	for name, raw := range entry {
		var text string
		if slices.Contains(params, name) || json.Unmarshal(raw, &text) != nil {
			continue
		}
		switch text {
		case invalidConfig:
			return tuner.Constraints
		case compilationFailed:
			return tuner.Compile
		case runtimeFailed, errorConfig:
			return tuner.Runtime
		}
	}
	return tuner.Correct
}
