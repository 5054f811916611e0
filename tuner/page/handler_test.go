package page_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/page/pagetest"
)

// clock is a time that tests set.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time { return c.now }

// visit asks a handler for an address.
func visit(h http.Handler, method, address string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost:7080/"+address, nil)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// read asks for a document.
func read[T any](t *testing.T, h http.Handler, address string) *T {
	t.Helper()
	w := visit(h, "GET", address, nil)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d: %s", address, w.Code, w.Body)
	}
	doc := new(T)
	if err := json.Unmarshal(w.Body.Bytes(), doc); err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return doc
}

// column is one of a table's.
func column(t *testing.T, d *page.Table, name string) *page.Column {
	t.Helper()
	for i := range d.Columns {
		if d.Columns[i].Name == name {
			return &d.Columns[i]
		}
	}
	t.Fatalf("there is no column %s", name)
	return nil
}

// A table is the results: every row's parameters, validity and numbers are those of its trial.
func TestTableIsTheResults(t *testing.T) {
	source := pagetest.New(3000, newClock().Now)
	h := page.Handler(source, page.Options{})
	const id = "large000000000bb"
	var d *page.Table
	for d == nil || !d.Complete {
		d = read[page.Table](t, h, "data/sweeps/"+id+"/table")
	}
	if d.Rows != 3000 || d.From != 0 {
		t.Fatalf("%d rows from %d", d.Rows, d.From)
	}
	row := 0
	trials, validity, times, regs, bound := column(t, d, "trial"), column(t, d, "validity"), column(t, d, "time_us"), column(t, d, "registers"), column(t, d, "bound")
	err := source.Results(t.Context(), id, 0, 0, nil, func(b *page.Batch) error {
		for i := range b.Results {
			r := &b.Results[i]
			for k, name := range b.Names {
				p := &d.Parameters[k]
				if got := p.Dictionary[p.Codes[row]]; p.Name != name || got != r.Values[k] {
					t.Fatalf("row %d: %s is %v, want %s = %v", row, p.Name, got, name, r.Values[k])
				}
			}
			want := r.Outcome.Validity.String()
			if r.Abandoned {
				want = "abandoned"
			}
			correct := r.Outcome.Validity == tuner.Correct
			known := times.Numbers[row] == r.Outcome.TimeUS && regs.Numbers[row] == float64(r.Outcome.Registers)
			unknown := math.IsNaN(times.Numbers[row]) && math.IsNaN(regs.Numbers[row]) && bound.Codes[row] == -1
			if trials.Numbers[row] != float64(r.Seq) || validity.Dictionary[validity.Codes[row]].S != want || correct && !known || !correct && !unknown {
				t.Fatalf("row %d is not trial %d, %s, %g us", row, r.Seq, want, r.Outcome.TimeUS)
			}
			row++
		}
		return nil
	})
	if err != nil || row != d.Rows {
		t.Errorf("%d results (%v)", row, err)
	}
	f := read[page.Failures](t, h, "data/sweeps/"+id+"/failures")
	for i, n := range f.Trials {
		at := int(n) // rows are in the order of trials here
		v, m := f.Validity.Dictionary[f.Validity.Codes[i]], f.Message.Dictionary[f.Message.Codes[i]]
		if v != validity.Dictionary[validity.Codes[at]] || m.S == "" {
			t.Fatalf("failure %d: trial %d is %v, %v", i, n, v, m)
		}
	}
	s := read[page.Overview](t, h, "data/sweeps").Sweeps[1]
	if int64(len(f.Trials)) != s.Counts.Done+s.Counts.Abandoned-s.Counts.ByValidity["correct"] || s.Best.Trial != int64(trials.Numbers[read[page.Ranking](t, h, "data/sweeps/"+id+"/ranking").Order[0]]) {
		t.Errorf("%d failures, best %+v, of %+v", len(f.Trials), s.Best, s.Counts)
	}
}

// A running sweep's table grows at its end: the parts that are asked for one after another are the whole. When the sweep
// has started over, the epoch is another, and all is answered again.
func TestTableGrows(t *testing.T) {
	at := newClock()
	source := pagetest.New(100, at.Now)
	h := page.Handler(source, page.Options{})
	address := "data/sweeps/" + source.Live + "/table"
	var got []float64
	epoch, from := "", "0"
	for range 5 {
		at.now = at.now.Add(7 * time.Second)
		d := read[page.Table](t, h, address+"?from="+from+"&epoch="+epoch)
		if epoch != "" && d.Epoch != epoch || d.From != len(got) {
			t.Fatalf("epoch %s after %s, from %d after %d rows", d.Epoch, epoch, d.From, len(got))
		}
		got = append(got, column(t, d, "trial").Numbers...)
		if len(got) != d.Rows || !d.Complete || d.Rows != int(at.now.Sub(source.Start).Milliseconds()/20) {
			t.Fatalf("%d rows of %d, complete %v", len(got), d.Rows, d.Complete)
		}
		epoch, from = d.Epoch, strings.TrimSpace(jsonOf(d.Rows))
	}
	whole := column(t, read[page.Table](t, h, address), "trial").Numbers
	if jsonOf(whole) != jsonOf(got) {
		t.Error("the parts are not the whole")
	}
	at.now = source.Start.Add(3500 * 20 * time.Millisecond).Add(time.Second) // it has begun anew
	if d := read[page.Table](t, h, address+"?from="+from+"&epoch="+epoch); d.Epoch == epoch || d.From != 0 || d.Rows != 50 {
		t.Errorf("after a new start epoch %s, from %d, %d rows", d.Epoch, d.From, d.Rows)
	}
}

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Documents are answered 304 while they are as they were, and compressed where that is understood.
func TestDocumentsAreKept(t *testing.T) {
	at := newClock()
	source := pagetest.New(500, at.Now)
	h := page.Handler(source, page.Options{Now: at.Now})
	for _, address := range []string{"", "assets/page.js", "data/sweeps", "data/sweeps/large000000000bb/ranking", "data/sweeps/" + source.Live + "/table", "data/sweeps/small000000000cc/explain?trials=1"} {
		first := visit(h, "GET", address, nil)
		tag := first.Header().Get("ETag")
		again := visit(h, "GET", address, func(r *http.Request) { r.Header.Set("If-None-Match", `W/"x", `+tag) })
		if first.Code != http.StatusOK || tag == "" || again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%q: status %d with tag %s, then %d with %d bytes", address, first.Code, tag, again.Code, again.Body.Len())
		}
		small := visit(h, "GET", address, func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") })
		if small.Header().Get("Content-Encoding") == "" {
			continue
		}
		z, err := gzip.NewReader(small.Body)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(z); err != nil || !bytes.Equal(text, first.Body.Bytes()) {
			t.Errorf("%q compressed is something else (%v)", address, err)
		}
	}
	before := visit(h, "GET", "data/sweeps", nil).Header().Get("ETag")
	at.now = at.now.Add(400 * time.Millisecond)
	if visit(h, "GET", "data/sweeps", nil).Header().Get("ETag") != before {
		t.Error("the overview is made more than twice a second")
	}
	at.now = at.now.Add(time.Second)
	if visit(h, "GET", "data/sweeps", nil).Header().Get("ETag") == before {
		t.Error("the overview has the tag that it had before 50 results")
	}
}

// What cannot be answered is said with a status and a kind, and breaks nothing.
func TestProblems(t *testing.T) {
	h := page.Handler(pagetest.New(100, newClock().Now), page.Options{})
	for address, want := range map[string]struct {
		status int
		kind   string
	}{
		"data/sweeps/none/table":                                {404, "not found"},
		"data/sweeps/small000000000cc/table?from=-1":            {400, "invalid"},
		"data/sweeps/small000000000cc/table?from=x":             {400, "invalid"},
		"data/sweeps/small000000000cc/trials/99999":             {404, "not found"},
		"data/sweeps/small000000000cc/trials/-1":                {400, "invalid"},
		"data/sweeps/small000000000cc/explain":                  {400, "invalid"},
		"data/sweeps/small000000000cc/explain?trials=1,2,3,4,5": {400, "invalid"},
		"data/sweeps/small000000000cc/explain?trials=1,2,3":     {422, "mismatch"},
		"data/compare": {404, "not found"},
		"data/compare?sweeps=small000000000cc,large000000000bb":          {400, "invalid"},
		"data/compare?sweeps=" + strings.Repeat("small000000000cc,", 17): {400, "invalid"},
		"data/other":                        {404, "not found"},
		"assets/none.js":                    {404, "not found"},
		"assets/..%2f..%2fhandler.go":       {404, "not found"},
		"data/sweeps/a%2fb/table":           {404, "not found"},
		"data/sweeps/small000000000cc/none": {404, "not found"},
	} {
		w := visit(h, "GET", address, nil)
		var p page.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != want.status || p.Kind != want.kind || p.Message == "" {
			t.Errorf("%s: status %d, %+v (%v), want %+v", address, w.Code, p, err, want)
		}
	}
}

// A sweep compared with itself has no losses.
func TestComparison(t *testing.T) {
	h := page.Handler(pagetest.New(100, newClock().Now), page.Options{})
	c := read[page.Comparison](t, h, "data/compare?sweeps=small000000000cc,small000000000cc")
	for _, p := range c.Pairs {
		if p.OverBest == nil || *p.OverBest != 1 || math.Abs(*p.RankCorrelation-1) > 1e-12 || *p.Trial != c.Sweeps[0].Best.Trial {
			t.Errorf("%s", jsonOf(p))
		}
	}
	if c.Best.WorstOverBest != 1 || c.Common != c.Pairs[0].Common || c.Common == 0 {
		t.Errorf("%s", jsonOf(c))
	}
	c = read[page.Comparison](t, h, "data/compare?sweeps=small000000000cc,other000000000dd")
	for _, p := range c.Pairs {
		if p.OverBest == nil || *p.OverBest < 1 {
			t.Errorf("%s", jsonOf(p))
		}
	}
	if c.Best.WorstOverBest < 1 || len(c.Best.OverBest) != 2 || len(c.Best.Parameters.Names) == 0 {
		t.Errorf("%s", jsonOf(c.Best))
	}
}

// Numbers are read back as they were written, and what is not known is null.
func TestNumbers(t *testing.T) {
	in := page.Numbers{0, 1, -3, 0.1, 1e-9, 123456789012, 1 << 60, 1.7976931348623157e308, math.NaN(), math.Inf(1), 134.07394945144165}
	text := jsonOf(in)
	var out page.Numbers
	if err := json.Unmarshal([]byte(text), &out); err != nil || len(out) != len(in) {
		t.Fatalf("%s: %v", text, err)
	}
	for i := range in {
		if known := !math.IsNaN(in[i]) && !math.IsInf(in[i], 0); known && out[i] != in[i] || !known && !math.IsNaN(out[i]) {
			t.Errorf("%g is read as %g", in[i], out[i])
		}
	}
	if strings.Count(text, "null") != 2 {
		t.Error(text)
	}
	if v := (page.Column{Dictionary: []search.Value{search.OfBool(true), search.OfInt(3), search.OfString("x")}}); !strings.Contains(jsonOf(v), `[true,3,"x"]`) {
		t.Error(jsonOf(v))
	}
}
