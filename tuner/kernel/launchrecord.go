package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/pythonjson"
)

// launchRecord is what one line of launch records says of its launch. What was measured
// of it is no part of it: the same launches timed on two GPUs are the same kernel.
type launchRecord struct {
	Kernel  string       `json:"kernel"`
	Group   string       `json:"group,omitempty"`
	Problem []int64      `json:"problem_size,omitempty"`
	Params  launchParams `json:"params"`

	PTX           string      `json:"ptx,omitempty"` // file stem
	Entry         string      `json:"entry,omitempty"`
	Block         []int64     `json:"block,omitempty"`
	Grid          []int64     `json:"grid,omitempty"`
	Cluster       []int64     `json:"cluster,omitempty"`
	DynamicShared int64       `json:"dynamic_smem,omitempty"`
	Cooperative   bool        `json:"cooperative,omitempty"` // launched so that all CTAs may meet
	Args          []launchArg `json:"args,omitempty"`
	// Trailing are pointers behind the arguments, each to Scratch bytes a CTA.
	Trailing []string `json:"trailing_params,omitempty"`
	Scratch  []int64  `json:"scratch,omitempty"`
	// Error says that it could not be assembled. There is no launch then.
	Error string `json:"error,omitempty"`

	line  int   // 1-based
	wrong error // what of the fields after Params could not be read
}

// launchArg is one of a launch record's arguments.
type launchArg struct {
	Name string `json:"name"`
	Type string `json:"type"`

	Vector bool         `json:"vector,omitempty"`
	Count  int64        `json:"count,omitempty"`  // elements
	Offset int64        `json:"offset,omitempty"` // elements before the first
	Min    *json.Number `json:"min,omitempty"`    // of the values that were there
	Max    *json.Number `json:"max,omitempty"`

	Value json.RawMessage `json:"value,omitempty"` // of a scalar

	TensorMap      bool       `json:"tensormap,omitempty"`
	Base           *launchArg `json:"base,omitempty"` // the buffer that a tensor map describes
	Element        string     `json:"element,omitempty"`
	Shape          []int64    `json:"shape,omitempty"`
	Strides        []int64    `json:"strides,omitempty"`
	Box            []int64    `json:"box,omitempty"`
	ElementStrides []int64    `json:"element_strides,omitempty"`
	Swizzle        string     `json:"swizzle,omitempty"`
	Interleave     string     `json:"interleave,omitempty"`
	L2Promotion    string     `json:"l2promotion,omitempty"`
	OutOfBounds    string     `json:"oobfill,omitempty"`
}

// launchParams are a record's parameters in its order. None (null) is the text "none".
type launchParams search.Config

// absent is the value of a parameter that a record does not have.
var absent = search.OfString("none")

// UnmarshalJSON reads an object of numbers, truth values, texts and nulls.
func (p *launchParams) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("params: an object of NAME: value is expected, not %.40s", data)
	}
	*p = launchParams{}
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
		v := absent
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
func (p launchParams) MarshalJSON() ([]byte, error) { return search.Config(p).MarshalJSON() }

// readLaunch reads one line. The error is of what says whose configuration it is; what is wrong
// besides is in the record.
func readLaunch(text []byte, line int) (*launchRecord, error) {
	text = pythonjson.Plain(text)
	var head struct {
		Kernel  string
		Group   string
		Problem []int64 `json:"problem_size"`
		Params  *launchParams
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
	if i := slices.IndexFunc(head.Problem, func(n int64) bool { return n < 0 || n > maxProblem }); i >= 0 {
		return nil, fmt.Errorf("problem_size: %d is outside 0 to %d", head.Problem[i], int64(maxProblem))
	}
	r := &launchRecord{line: line}
	if err := json.Unmarshal(text, r); err != nil {
		r.wrong = fmt.Errorf("not a launch: %w", err)
	} else if r.failed() {
		return r, nil
	} else if r.PTX == "" || !fs.ValidPath(r.PTX) || strings.ContainsAny(r.PTX, `/\`) || r.PTX == "." {
		r.wrong = fmt.Errorf("ptx: %.80q is not the name of a file without .ptx", r.PTX)
	}
	return r, nil
}

// failed reports whether it could not be assembled when it was recorded.
func (r *launchRecord) failed() bool { return r.Error != "" && r.PTX == "" }

// groupKey names the records that compete with it.
func (r *launchRecord) groupKey() string {
	if r.Group != "" {
		return r.Group
	}
	return fmt.Sprintf("%s %v", r.Kernel, r.Problem)
}

// text is the launch, its parameters aside: of the same launches it is the same.
func (r *launchRecord) text() string {
	o := *r
	o.Params = launchParams{}
	return jsonText(o)
}

// file is the name of its PTX in a folder of launch records.
func (r *launchRecord) file() string { return ptxFolder + "/" + r.PTX + ".ptx" }

// launch says how the record's kernel is launched, its PTX aside.
func (r *launchRecord) launch() (*Launch, error) {
	if r.wrong != nil {
		return nil, r.wrong
	}
	l := &Launch{KernelName: r.Entry, CarveOut: -1, Recorded: true, Cooperative: r.Cooperative}
	if err := r.extents(l); err != nil {
		return nil, err
	}
	if r.DynamicShared < 0 || r.DynamicShared > maxShared {
		return nil, fmt.Errorf("dynamic_smem: %d is outside 0 to %d", r.DynamicShared, maxShared)
	}
	l.DynamicShared = int(r.DynamicShared)
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

func (r *launchRecord) extents(l *Launch) error {
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
			if n < 1 || n > maxExtent {
				return fmt.Errorf("%s: %d is outside 1 to %d", x.name, n, maxExtent)
			}
			x.to[i] = n
		}
	}
	return l.setCluster()
}

// setCluster completes the cluster's size. One CTA is no cluster.
func (l *Launch) setCluster() error {
	for i := range l.Cluster {
		l.Cluster[i] = max(l.Cluster[i], 1)
		if l.Grid[i]%l.Cluster[i] != 0 {
			return fmt.Errorf("cluster: a grid of %d CTAs in %s is not made of clusters of %d", l.Grid[i], axes[i], l.Cluster[i])
		}
	}
	if l.Cluster == [3]int64{1, 1, 1} {
		l.Cluster = [3]int64{}
	}
	return nil
}
