// Package record reads and writes configuration records: one JSON object a
// line, optionally gzipped, as measured on hardware (timings) or to be
// predicted (configs), and the predictions written back beside them.
//
// It knows the format only; what a record's kernel is and how it is evaluated
// is the business of its callers.
package record

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/warptune/warptune/tuner/pythonjson"
)

// MaxLine is the longest record line accepted, bytes.
const MaxLine = 1 << 20

// Time is a measured time in microseconds over repeated batches of launches.
type Time struct {
	Median   float64 `json:"median"`
	Min      float64 `json:"min"`
	Max      float64 `json:"max"`
	Reps     int     `json:"reps"`
	Launches int     `json:"launches"`

	text string // what stands in the median's place where it is no number
}

// failedUS is a time from which on it marks a failure.
const failedUS = 1e20

func (t *Time) good() bool { return t.Median > 0 && t.Median < failedUS }

// UnmarshalJSON takes anything: what is no time has no Median.
func (t *Time) UnmarshalJSON(text []byte) error {
	type plain Time
	var p plain
	err := json.Unmarshal(text, &p)
	*t = Time(p)
	t.text = fmt.Sprint(t.Median)
	if err != nil {
		t.Median, t.text = 0, string(text[:min(len(text), 80)])
	}
	return nil
}

// Record is one configuration of one kernel. Only Kernel and Params are
// required to predict it; the rest is what a measurement adds.
type Record struct {
	Kernel      string                     `json:"kernel"`
	Group       string                     `json:"group,omitempty"`
	ProblemSize []int64                    `json:"problem_size,omitempty"`
	Params      map[string]json.RawMessage `json:"params"`
	PTX         string                     `json:"ptx,omitempty"` // file stem in a PTX directory

	Registers   int   `json:"registers,omitempty"` // per thread, measured
	LocalBytes  int   `json:"local_bytes,omitempty"`
	StaticSmem  int   `json:"static_smem,omitempty"`
	DynamicSmem int   `json:"dynamic_smem,omitempty"`
	Block       []int `json:"block,omitempty"`
	Grid        []int `json:"grid,omitempty"`
	Cluster     []int `json:"cluster,omitempty"`
	TimeUS      *Time `json:"time_us,omitempty"`
	// Counters are hardware counters by Nsight Compute name.
	Counters map[string]Counter `json:"counters,omitempty"`

	Args  json.RawMessage `json:"args,omitempty"`  // of a launch record
	Error string          `json:"error,omitempty"` // why it was not measured

	// Line is the record's 1-based line; Raw its bytes as read.
	Line int    `json:"-"`
	Raw  []byte `json:"-"`
}

// Counter is one hardware counter.
type Counter struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`

	none bool // it is no number
}

// UnmarshalJSON reads an object, or a number alone. Anything else is no counter: profilers also
// list texts.
func (c *Counter) UnmarshalJSON(text []byte) error {
	*c = Counter{}
	type plain Counter
	if json.Unmarshal(text, &c.Value) != nil && json.Unmarshal(text, (*plain)(c)) != nil {
		*c = Counter{none: true}
	}
	return nil
}

// Launch reports whether the record says everything that its launch needs.
func (r *Record) Launch() bool { return len(r.Args) > 0 && r.Args[0] == '[' }

// Failed reports whether it could not be assembled when it was recorded.
func (r *Record) Failed() bool { return r.Error != "" && r.PTX == "" && r.TimeUS == nil }

// GroupKey names the configurations the record competes with: its group, or
// kernel and problem size when it has none.
func (r *Record) GroupKey() string {
	if r.Group != "" {
		return r.Group
	}
	return fmt.Sprintf("%s %v", r.Kernel, r.ProblemSize)
}

// Odd says what of a file cannot be used as it stands.
type Odd struct {
	Lines int // that hold no record
	Times int // that are no positive number: their records have none
	First string
}

// String says it in a sentence, "" for nothing.
func (o *Odd) String() string {
	var parts []string
	for _, p := range []struct {
		n        int
		one, all string
	}{{o.Lines, "line holds no record", "lines hold no record"}, {o.Times, "time cannot be used", "times cannot be used"}} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.one)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.all))
		}
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, " and ") + "; the first: " + o.First
}

func (o *Odd) add(count *int, line int, why error) {
	if *count++; o.First == "" {
		o.First = fmt.Sprintf("line %d: %v", line, why)
	}
}

// Read reads every record of r, which may be gzipped. A line that holds none is an error; a
// time that is no positive number is left out, as Odd says. name is used in errors.
func Read(name string, r io.Reader) ([]Record, Odd, error) { return read(name, r, false) }

// ReadMeasured is Read for files of measurements, in which a line that holds no record costs no
// other: it is passed over, as Odd says.
func ReadMeasured(name string, r io.Reader) ([]Record, Odd, error) { return read(name, r, true) }

func read(name string, r io.Reader, passOver bool) ([]Record, Odd, error) {
	var odd Odd
	br := bufio.NewReader(r)
	if magic, _ := br.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		gz, err := gzip.NewReader(br)
		if err != nil {
			return nil, odd, fmt.Errorf("%s: not a valid gzip file: %w", name, err)
		}
		defer gz.Close()
		br = bufio.NewReader(gz)
	}
	var out []Record
	sc := bufio.NewScanner(br)
	sc.Buffer(nil, MaxLine)
	line := 0
	for sc.Scan() {
		line++
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		rec, err := parse(sc.Bytes())
		switch {
		case err != nil && passOver:
			odd.add(&odd.Lines, line, err)
			continue
		case err != nil:
			return nil, odd, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if t := rec.TimeUS; t != nil && !t.good() {
			odd.add(&odd.Times, line, fmt.Errorf("time_us.median is %s: want a positive time", t.text))
			rec.TimeUS = nil
		}
		rec.Line = line
		out = append(out, rec)
	}
	if err := sc.Err(); err != nil {
		return nil, odd, fmt.Errorf("%s:%d: %w (is the file cut off, or a line over %d bytes?)", name, line+1, err, MaxLine)
	}
	if len(out) == 0 && odd.Lines > 0 {
		return nil, odd, fmt.Errorf("%s holds no records: %s", name, odd.First)
	}
	return out, odd, nil
}

func parse(text []byte) (Record, error) {
	var rec Record
	text = pythonjson.Plain(text)
	if err := json.Unmarshal(text, &rec); err != nil {
		return rec, fmt.Errorf("not a record: %w", err)
	}
	if n := bytes.Count(text, []byte(`"params"`)); n > 1 { // of two the last stands, as when it is written again
		var last struct {
			Params json.RawMessage `json:"params"`
		}
		rec.Params = nil
		if err := errors.Join(json.Unmarshal(text, &last), json.Unmarshal(last.Params, &rec.Params)); err != nil {
			return rec, fmt.Errorf("not a record: %w", err)
		}
	}
	maps.DeleteFunc(rec.Counters, func(_ string, c Counter) bool { return c.none })
	if rec.Params == nil {
		return rec, fmt.Errorf("the record has no \"params\"")
	}
	rec.Raw = bytes.Clone(text)
	return rec, nil
}

// Prediction is what simulating a record adds to it.
type Prediction struct {
	Arch        string             `json:"arch"`
	PredictedUS *float64           `json:"predicted_us"` // null unless correct
	Validity    string             `json:"validity"`
	Message     string             `json:"message,omitempty"`
	Compiler    string             `json:"compiler,omitempty"`
	Registers   int                `json:"registers"`
	SpillBytes  int                `json:"spill_bytes"`
	Occupancy   float64            `json:"occupancy"`
	Limiter     string             `json:"limiter"`
	Bound       string             `json:"bound"`
	Level       string             `json:"level"`
	Engine      string             `json:"engine"`
	Digest      string             `json:"digest,omitempty"`
	Metrics     map[string]float64 `json:"metrics"`           // empty unless correct
	Checked     any                `json:"checked,omitempty"` // what was executed and looked for
	// Migration is what managed memory adds to the first launch, NotModelled what the launch has and the simulator leaves out.
	Migration   any      `json:"migration,omitempty"`
	NotModelled []string `json:"not_modelled,omitempty"`
}

// Append appends the record as read with the prediction's fields set, keys in
// alphabetical order, and a newline. A measured register count is kept as
// "measured_registers".
func (r *Record) Append(dst []byte, p Prediction) ([]byte, error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(r.Raw, &all); err != nil {
		return dst, err
	}
	if v, ok := all["registers"]; ok {
		all["measured_registers"] = v
	}
	if p.Metrics == nil {
		p.Metrics = map[string]float64{}
	}
	text, err := json.Marshal(p)
	if err != nil {
		return dst, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return dst, err
	}
	text, err = json.Marshal(all)
	if err != nil {
		return dst, err
	}
	return append(append(dst, text...), '\n'), nil
}
