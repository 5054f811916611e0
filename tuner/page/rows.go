package page

import (
	"math"
	"strconv"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// rows is the table of a sweep as it is read, column by column. Rows are added and never changed: what was taken of it
// stays what it was.
type rows struct {
	epoch      string
	names      []string
	parameters []coded
	columns    []filled
	trial      map[int64]int // row of a trial
	next       int64         // trials before this have all been read
	damaged    map[int64]bool
	// what documents are computed from, by row
	time, sampling []float64
	index          []int64 // of the configuration in the space
	valid          []bool  // correct
	level          []string
	flops          []bool  // kinds of flopCounts that any row has
	messages       []int32 // of messageText; -1: none
	messageText    coded
}

// coded is a column of values, each an index into those seen.
type coded struct {
	codes      []int32
	dictionary []search.Value
	index      map[search.Value]int32
}

func newCoded() coded {
	return coded{codes: []int32{}, dictionary: []search.Value{}, index: map[search.Value]int32{}}
}

func (c *coded) add(v search.Value) {
	n, ok := c.index[v]
	if !ok {
		n = int32(len(c.dictionary))
		c.index[v], c.dictionary = n, append(c.dictionary, v)
	}
	c.codes = append(c.codes, n)
}

// filled is a column of what came out.
type filled struct {
	valueColumn
	numbers Numbers
	coded   coded
}

func newRows(epoch string) *rows {
	t := &rows{epoch: epoch, trial: map[int64]int{}, damaged: map[int64]bool{}, messageText: newCoded(), flops: make([]bool, len(flopCounts))}
	for _, c := range valueColumns() {
		f := filled{valueColumn: c}
		if c.number != nil {
			f.numbers = Numbers{}
		} else {
			f.coded = newCoded()
		}
		t.columns = append(t.columns, f)
	}
	return t
}

// len is how many rows there are.
func (t *rows) len() int { return len(t.valid) }

// add takes a batch; results that are there already are passed over.
func (t *rows) add(b *Batch) {
	if t.names == nil && len(b.Names) > 0 {
		t.names = b.Names
		for range b.Names {
			t.parameters = append(t.parameters, newCoded())
		}
	}
	for _, seq := range b.Damaged {
		t.damaged[seq] = true
	}
	for i := range b.Results {
		r := &b.Results[i]
		if _, known := t.trial[r.Seq]; known || len(r.Values) != len(t.names) {
			continue
		}
		t.trial[r.Seq] = t.len()
		t.append(r)
	}
	for {
		if _, known := t.trial[t.next]; !known && !t.damaged[t.next] {
			return
		}
		t.next++
	}
}

func (t *rows) append(r *Result) {
	correct := !r.Abandoned && r.Outcome.Validity == tuner.Correct
	for i, v := range r.Values {
		t.parameters[i].add(v)
	}
	for i := range t.columns {
		c := &t.columns[i]
		known := correct || c.always
		switch {
		case c.number != nil && known:
			v := c.number(r)
			if c.Unit == "share" || c.ratio {
				v = rounded(v)
			}
			c.numbers = append(c.numbers, v)
		case c.number != nil:
			c.numbers = append(c.numbers, math.NaN())
		case known:
			c.coded.add(search.OfString(c.text(r)))
		default:
			c.coded.codes = append(c.coded.codes, -1)
		}
	}
	for i, c := range flopCounts {
		t.flops[i] = t.flops[i] || r.Outcome.Metrics[c.name] > 0
	}
	t.valid = append(t.valid, correct)
	t.time = append(t.time, r.Outcome.TimeUS)
	t.index = append(t.index, r.Index)
	t.sampling = append(t.sampling, r.Outcome.Metrics[countSampling])
	t.level = append(t.level, r.Level)
	if correct {
		t.messages = append(t.messages, -1)
		return
	}
	t.messageText.codes = t.messageText.codes[:0]
	t.messageText.add(search.OfString(r.Outcome.Message))
	t.messages = append(t.messages, t.messageText.codes[0])
}

// config is the configuration of a row.
func (t *rows) config(row int) search.Config {
	c := search.Config{Names: t.names, Values: make([]search.Value, len(t.names))}
	for i := range t.parameters {
		p := &t.parameters[i]
		c.Values[i] = p.dictionary[p.codes[row]]
	}
	return c
}

// trialOf is the trial of a row.
func (t *rows) trialOf(row int) int64 { return int64(t.columns[0].numbers[row]) }

// table is the rows from one on. It shares memory with t, which only grows.
func (t *rows) table(sweep string, from int) *Table {
	if from < 0 || from > t.len() {
		from = 0
	}
	d := &Table{Schema: TableSchema, Sweep: sweep, Epoch: t.epoch, From: from, Rows: t.len(), DamagedRows: int64(len(t.damaged))}
	for i, name := range t.names {
		p := &t.parameters[i]
		kind := "text"
		if len(p.dictionary) > 0 {
			kind = kindOf(p.dictionary[0].Kind)
		}
		d.Parameters = append(d.Parameters, Column{Name: name, Title: name, Kind: kind, Shown: true, Codes: p.codes[from:], Dictionary: p.dictionary})
	}
	for i := range t.columns {
		c := &t.columns[i]
		col := c.Column
		if c.number != nil {
			col.Numbers = c.numbers[from:]
		} else {
			col.Codes, col.Dictionary = c.coded.codes[from:], c.coded.dictionary
		}
		d.Columns = append(d.Columns, col)
	}
	return d
}

// failures are the rows that are not valid, by trial.
func (t *rows) failures(sweep string) *Failures {
	f := &Failures{Schema: FailuresSchema, Sweep: sweep, Trials: []int64{}}
	validity := newCoded()
	codes := []int32{}
	for _, row := range t.byTrial() {
		if t.valid[row] {
			continue
		}
		f.Trials = append(f.Trials, t.trialOf(row))
		v := &t.columns[1].coded
		validity.add(v.dictionary[v.codes[row]])
		codes = append(codes, t.messages[row])
	}
	f.Validity = Column{Name: "validity", Title: "Validity", Kind: "text", Codes: validity.codes, Dictionary: validity.dictionary}
	f.Message = Column{Name: "message", Title: "Message", Kind: "text", Codes: codes, Dictionary: t.messageText.dictionary}
	return f
}

// tag names a state of the table.
func (t *rows) tag() string { return t.epoch + "-" + strconv.Itoa(t.len()) }
