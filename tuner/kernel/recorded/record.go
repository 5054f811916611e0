// Package recorded reads launch records: lines of JSON that say how a kernel was launched.
package recorded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/pythonjson"
)

// Record is what one line of launch records says of its launch. What was measured
// of it is no part of it: the same launches timed on two GPUs are the same kernel.
type Record struct {
	Kernel  string  `json:"kernel"`
	Group   string  `json:"group,omitempty"`
	Problem []int64 `json:"problem_size,omitempty"`
	Params  Params  `json:"params"`

	PTX           string  `json:"ptx,omitempty"` // file stem
	Entry         string  `json:"entry,omitempty"`
	Block         []int64 `json:"block,omitempty"`
	Grid          []int64 `json:"grid,omitempty"`
	Cluster       []int64 `json:"cluster,omitempty"`
	DynamicShared int64   `json:"dynamic_smem,omitempty"`
	Cooperative   bool    `json:"cooperative,omitempty"` // launched so that all CTAs may meet
	Args          []Arg   `json:"args,omitempty"`
	// Trailing are pointers behind the arguments, each to Scratch bytes a CTA.
	Trailing []string `json:"trailing_params,omitempty"`
	Scratch  []int64  `json:"scratch,omitempty"`
	// Assembled is what was known of its machine code when it was recorded, nothing that was measured.
	Assembled *call.Assembled `json:"assembled,omitempty"`
	// Error says that it could not be assembled. There is no launch then.
	Error string `json:"error,omitempty"`
	// Triton is the version of the Triton that launched it, if one did.
	Triton string `json:"triton,omitempty"`

	Line  int   `json:"-"` // 1-based
	Wrong error `json:"-"` // what of the fields after Params could not be read
}

// Arg is one of a launch record's arguments.
type Arg struct {
	Name string `json:"name"`
	Type string `json:"type"`

	Vector bool         `json:"vector,omitempty"`
	Count  int64        `json:"count,omitempty"`  // elements
	Offset int64        `json:"offset,omitempty"` // elements before the first
	Min    *json.Number `json:"min,omitempty"`    // of the values that were there
	Max    *json.Number `json:"max,omitempty"`

	Value json.RawMessage `json:"value,omitempty"` // of a scalar

	TensorMap      bool    `json:"tensormap,omitempty"`
	Base           *Arg    `json:"base,omitempty"` // the buffer that a tensor map describes
	Element        string  `json:"element,omitempty"`
	Shape          []int64 `json:"shape,omitempty"`
	Strides        []int64 `json:"strides,omitempty"`
	Box            []int64 `json:"box,omitempty"`
	ElementStrides []int64 `json:"element_strides,omitempty"`
	Swizzle        string  `json:"swizzle,omitempty"`
	Interleave     string  `json:"interleave,omitempty"`
	L2Promotion    string  `json:"l2promotion,omitempty"`
	OutOfBounds    string  `json:"oobfill,omitempty"`
}

// Params are a record's parameters in its order. None (null) is the text "none".
type Params search.Config

// Absent is the value of a parameter that a record does not have.
var Absent = search.OfString("none")

// UnmarshalJSON reads an object of numbers, truth values, texts and nulls.
func (p *Params) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("params: an object of NAME: value is expected, not %.40s", data)
	}
	*p = Params{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name := t.(string) // the decoder accepts nothing else here
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		v := Absent
		if string(raw) != "null" {
			if err := v.UnmarshalJSON(raw); err != nil {
				return fmt.Errorf("params.%s: %w", name, err)
			}
		}
		if i := slices.Index(p.Names, name); i >= 0 { // of two the last stands, as in Python
			p.Values[i] = v
			continue
		}
		p.Names, p.Values = append(p.Names, name), append(p.Values, v)
	}
	return nil
}

// MarshalJSON writes them in order.
func (p Params) MarshalJSON() ([]byte, error) { return search.Config(p).MarshalJSON() }

// Read reads one line. The error is of what says whose configuration it is; what is wrong
// besides is in the record.
func Read(text []byte, line int) (*Record, error) {
	text = pythonjson.Plain(text)
	var head struct {
		Kernel  string
		Group   string
		Problem []int64 `json:"problem_size"`
		Params  *Params
	}
	err := json.Unmarshal(text, &head)
	switch {
	case err != nil:
		return nil, fmt.Errorf("not a launch record: %w", err)
	case head.Params == nil:
		return nil, fmt.Errorf(`not a launch record: it has no "params"`)
	case head.Kernel == "":
		return nil, fmt.Errorf(`not a launch record: it has no "kernel"`)
	}
	if i := slices.IndexFunc(head.Problem, func(n int64) bool { return n < 0 || n > call.MaxProblem }); i >= 0 {
		return nil, fmt.Errorf("problem_size: %d is outside 0 to %d", head.Problem[i], int64(call.MaxProblem))
	}
	r := &Record{Line: line}
	if err := json.Unmarshal(text, r); err != nil {
		r.Wrong = fmt.Errorf("not a launch: %w", err)
	} else if r.Failed() {
		return r, nil
	} else if err := r.assembled(); err != nil {
		r.Wrong = fmt.Errorf("assembled: %w", err)
	} else if r.PTX == "" || !fs.ValidPath(r.PTX) || strings.ContainsAny(r.PTX, `/\`) || r.PTX == "." {
		r.Wrong = fmt.Errorf("ptx: %.80q is not the name of a file without .ptx", r.PTX)
	}
	return r, nil
}

// Limits of what an assembler can have made of a kernel: CUDA's of registers a thread and of local memory, bytes a thread.
const (
	maxRegisters = 255
	maxLocal     = 512 << 10
)

var targetForm = regexp.MustCompile(`^sm_[0-9]+[af]?$`)

// assembled checks what the record says of its machine code.
func (r *Record) assembled() error {
	a := r.Assembled
	switch {
	case a == nil:
		return nil
	case a.By == "" || len(a.By) > 100 || strings.ContainsFunc(a.By, unicode.IsControl):
		return fmt.Errorf("by: 1 to 100 printable characters name the assembler, not %.120q", a.By)
	case !targetForm.MatchString(a.Target):
		return fmt.Errorf("target: %.40q is not of the form sm_90a", a.Target)
	case a.Registers < 1 || a.Registers > maxRegisters:
		return fmt.Errorf("registers: %d is outside 1 to %d", a.Registers, maxRegisters)
	case a.SpillBytes < 0 || a.SpillBytes > maxLocal:
		return fmt.Errorf("spill_bytes: %d is outside 0 to %d", a.SpillBytes, maxLocal)
	}
	return nil
}

// Failed reports whether it could not be assembled when it was recorded.
func (r *Record) Failed() bool { return r.Error != "" && r.PTX == "" }

// GroupKey names the records that compete with it.
func (r *Record) GroupKey() string {
	if r.Group != "" {
		return r.Group
	}
	return fmt.Sprintf("%s %v", r.Kernel, r.Problem)
}

// Text is the launch, its parameters aside: of the same launches it is the same.
func (r *Record) Text() string {
	o := *r
	o.Params = Params{}
	return JSON(o)
}

// PTXFile is the name of its PTX in a folder of launch records.
func (r *Record) PTXFile() string { return PTXFolder + "/" + r.PTX + ".ptx" }

// Launch says how the record's kernel is launched, its PTX aside.
func (r *Record) Launch() (*call.Launch, error) {
	if r.Wrong != nil {
		return nil, r.Wrong
	}
	l := &call.Launch{KernelName: r.Entry, CarveOut: -1, Recorded: true, Cooperative: r.Cooperative, Assembled: r.Assembled, Replicas: r.Triton != ""}
	if err := r.extents(l); err != nil {
		return nil, err
	}
	if r.DynamicShared < 0 || r.DynamicShared > call.MaxShared {
		return nil, fmt.Errorf("dynamic_smem: %d is outside 0 to %d", r.DynamicShared, call.MaxShared)
	}
	l.DynamicShared = int(r.DynamicShared)
	if r.Triton != "" && l.DynamicShared > tritonPrefersShared {
		l.CarveOut = 100
	}
	for i := range r.Args {
		a, err := r.argument(i)
		if err != nil {
			return nil, fmt.Errorf("args[%d] (%s): %w", i, r.Args[i].Name, err)
		}
		a.Position = i
		l.Args = append(l.Args, a)
	}
	return l, r.trailing(l)
}

func (r *Record) extents(l *call.Launch) error {
	l.Block, l.Grid = [3]int64{1, 1, 1}, [3]int64{1, 1, 1}
	for _, x := range []struct {
		name string
		from []int64
		to   *[3]int64
	}{{"block", r.Block, &l.Block}, {"grid", r.Grid, &l.Grid}, {"cluster", r.Cluster, &l.Cluster}} {
		if len(x.from) > 3 || len(x.from) == 0 && x.name != "cluster" {
			return fmt.Errorf("%s: one to three numbers are needed, not %d", x.name, len(x.from))
		}
		for i, n := range x.from {
			if n < 1 || n > call.MaxExtent {
				return fmt.Errorf("%s: %d is outside 1 to %d", x.name, n, call.MaxExtent)
			}
			x.to[i] = n
		}
	}
	return l.SetCluster()
}

// tritonPrefersShared is the bytes of shared memory above which Triton asks the driver for the largest carve-out
// (cuFuncSetCacheConfig in backends/nvidia/driver.c of Triton 3.6.0).
const tritonPrefersShared = 48 << 10

// PTXFolder is where their PTX is, beside it.
const PTXFolder = "ptx"
