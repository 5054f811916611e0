package exchange

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// t4Version is the version of the T4 schema that is written.
const t4Version = "1.0.0"

// WriteT4 writes a run as a T4 results file (kernel_tuner/schema/T4/1.0.0/
// results-schema.json), in the dialect that Kernel Tuner 1.4 itself writes:
// times in milliseconds, the objective "time" among the measurements. Nothing
// of a simulation is measured but the time, so the costs of compiling and
// benchmarking are 0.
func WriteT4(w io.Writer, r *Run) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `{"schema_version":%q,"metadata":%s,"results":[`, t4Version, t4Metadata(r))
	for i := range r.Trials {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(t4Trial(r, &r.Trials[i]))
	}
	out.WriteString("\n]}\n")
	return out.Flush()
}

func t4Metadata(r *Run) json.RawMessage {
	var o object
	o.add("timeunit", "milliseconds")
	o.add("kernel_name", r.Kernel)
	o.add("device_name", r.Device)
	o.add("problem_size", r.Problem)
	o.add("tune_params_keys", r.Params)
	o.add("warptune", r.Provenance)
	return o.raw()
}

func t4Trial(r *Run, t *Trial) json.RawMessage {
	var config, times, o object
	for i, name := range r.Params {
		config.add(name, value(t.Config[i]))
	}
	runtimes := json.RawMessage("[]")
	measurements := []json.RawMessage{}
	if t.Validity == tuner.Correct {
		ms := number(t.TimeUS / perMS)
		runtimes = json.RawMessage("[" + string(ms) + "]")
		measurements = append(measurements, measurement("time", ms, "ms"))
	}
	for _, m := range t.Measurements {
		measurements = append(measurements, measurement(m.Name, number(m.Value), m.Unit))
	}
	for _, name := range []string{"compilation", "benchmark", "framework", "search_algorithm", "validation"} {
		times.add(name, 0)
	}
	times.add("runtimes", runtimes)
	o.add("configuration", config.raw())
	o.add("times", times.raw())
	o.add("invalidity", t.Validity.String())
	o.add("correctness", 1)
	o.add("measurements", measurements)
	o.add("objectives", []string{"time"})
	return o.raw()
}

func measurement(name string, value json.RawMessage, unit string) json.RawMessage {
	var o object
	o.add("name", name)
	o.add("value", value)
	o.add("unit", unit)
	return o.raw()
}

// t4File is what is read of a T4 file.
type t4File struct {
	Schema   string `json:"schema_version"`
	Metadata struct {
		Unit       string            `json:"timeunit"`
		Kernel     string            `json:"kernel_name"`
		Device     string            `json:"device_name"`
		Problem    json.RawMessage   `json:"problem_size"`
		Params     []string          `json:"tune_params_keys"`
		Provenance map[string]string `json:"warptune"`
	} `json:"metadata"`
	Results []json.RawMessage `json:"results"`
}

type t4Result struct {
	Configuration map[string]json.RawMessage `json:"configuration"`
	Invalidity    string                     `json:"invalidity"`
	Times         struct {
		Runtimes json.RawMessage `json:"runtimes"`
	} `json:"times"`
	Measurements []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
		Unit  string          `json:"unit"`
	} `json:"measurements"`
}

// readT4 reads a T4 file. The parameters come in the order of the
// metadata's tune_params_keys, which only our files have, else by name.
func (f *t4File) readT4() (*Run, error) {
	m := &f.Metadata
	r := &Run{Kernel: m.Kernel, Device: m.Device, Problem: problemSize(m.Problem), Params: m.Params, Provenance: m.Provenance}
	scale, err := unitUS(m.Unit)
	if err != nil {
		return nil, fmt.Errorf("metadata.timeunit: %w", err)
	}
	if len(r.Params) == 0 {
		r.Params = f.names()
	}
	for i := range f.Results {
		var result t4Result
		err := json.Unmarshal(f.Results[i], &result)
		t := Trial{}
		if err == nil {
			t, err = result.trial(r.Params, scale)
		}
		if err != nil {
			r.Odd.add(fmt.Sprintf("results[%d]", i), err)
			continue
		}
		r.Trials = append(r.Trials, t)
	}
	return r, nil
}

// names are the parameters of the first result that has any, by name.
func (f *t4File) names() []string {
	for i := range f.Results {
		var result t4Result
		_ = json.Unmarshal(f.Results[i], &result) // what is wrong is said when it is read
		if len(result.Configuration) > 0 {
			return sortedNames(result.Configuration)
		}
	}
	return nil
}

// trial reads one result; scale is how many microseconds a time is.
func (t *t4Result) trial(params []string, scale float64) (Trial, error) {
	var out Trial
	var err error
	if out.Validity, err = tuner.ParseValidity(t.Invalidity); err != nil {
		return out, fmt.Errorf("invalidity: %w", err)
	}
	if out.Config, err = config(params, t.Configuration); err != nil {
		return out, fmt.Errorf("configuration: %w", err)
	}
	for _, m := range t.Measurements {
		v, ok := float(m.Value)
		switch {
		case !ok: // texts and lists are not kept
		case m.Name != "time":
			out.Measurements = append(out.Measurements, Measurement{m.Name, v, m.Unit})
		case out.Validity == tuner.Correct:
			if m.Unit != "" {
				if scale, err = unitUS(m.Unit); err != nil {
					return out, fmt.Errorf("measurement time: %w", err)
				}
			}
			out.TimeUS = v * scale
		}
	}
	if out.Validity == tuner.Correct && !(out.TimeUS > 0) {
		var times []json.RawMessage
		if json.Unmarshal(t.Times.Runtimes, &times) == nil {
			out.TimeUS = mean(times) * scale
		}
	}
	return out, out.settle()
}

// unitUS is how many microseconds a unit of time has, by the spellings that
// occur: the public data sets also write "miliseconds". None is a millisecond.
func unitUS(unit string) (float64, error) {
	switch unit {
	case "", "ms", "milliseconds", "miliseconds", "Milliseconds":
		return perMS, nil
	case "us", "microseconds", "Microseconds":
		return 1, nil
	case "ns", "nanoseconds", "Nanoseconds":
		return 1e-3, nil
	case "s", "seconds", "Seconds":
		return 1e6, nil
	}
	return 0, fmt.Errorf("unknown unit of time %q: want ns, us, ms or s", unit)
}

// config reads the parameters' values in order. Other members are left out.
func config(params []string, members map[string]json.RawMessage) ([]search.Value, error) {
	out := make([]search.Value, len(params))
	for i, name := range params {
		raw, ok := members[name]
		if !ok {
			return nil, fmt.Errorf("the parameter %s is missing", name)
		}
		var err error
		if out[i], err = readValue(raw); err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
	}
	return out, nil
}
