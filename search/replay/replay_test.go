package replay

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"io"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/search/exhaustive"
	"github.com/warptune/warptune/search/random"
	"github.com/warptune/warptune/search/strategies"
)

const small = `b,a,mode,status,time_ms,extra
16,1,x,ok,4,9
2,1,x,ok,2,9
8,1,y,compile,,
2,0,y,ok,1,9
16,0,x,runtime,7,9
8,0,x,ok,3,9
`

func read(t *testing.T, text string) *Record {
	t.Helper()
	r, _, err := ReadCSV("dir/small.csv.gz", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReadCSV(t *testing.T) {
	r := read(t, small)
	if r.Name != "small" || r.Space.Size() != 6 || r.Valid() != 4 || r.Optimum() != 1 {
		t.Fatalf("%s: %d configurations, %d valid, best %v", r.Name, r.Space.Size(), r.Valid(), r.Optimum())
	}
	want := map[string]float64{
		"b=16,a=1,mode=x": 4, "b=2,a=1,mode=x": 2, "b=8,a=1,mode=y": math.Inf(1),
		"b=2,a=0,mode=y": 1, "b=16,a=0,mode=x": math.Inf(1), "b=8,a=0,mode=x": 3,
	}
	for i, c := range r.Space.All() {
		if time, ok := want[c.String()]; !ok || r.Time[i] != time {
			t.Errorf("%s takes %v", c, r.Time[i])
		}
	}
	if first := r.Space.At(0).String(); first != "b=2,a=0,mode=y" {
		t.Errorf("values do not ascend: first is %s", first)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	io.WriteString(w, small)
	w.Close()
	if z, _, err := ReadCSV("x", &zipped); err != nil || z.Space.Size() != 6 {
		t.Errorf("gzipped: %v", err)
	}
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "the file is empty",
		"a,status,time_ms\n":                 "a header and no configurations",
		"a,time_ms\n1,2\n":                   "want parameters",
		"status,time_ms\nok,2\n":             "want parameters",
		"a,status,time_ms\n1,ok,fast\n":      "none of 1",
		"a,status,time_ms\n1,bad,1\n":        "none of 1",
		"a,status,time_ms\n1,ok,1\n1,ok,2\n": "a=1 is listed twice",
		"a,status,time_ms\n1,ok\n":           "wrong number of fields",
	} {
		if _, _, err := ReadCSV("x", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// A time that is none costs no other configuration.
func TestOddTimes(t *testing.T) {
	for _, time := range []string{"fast", "-1", "NaN", "inf", "0", "", "1e20"} {
		r, odd, err := ReadCSV("x", strings.NewReader("a,status,time_ms\n1,ok,2\n2,ok,"+time+"\n"))
		if err != nil || r.Space.Size() != 2 || !math.IsInf(r.Time[1], 1) || !strings.Contains(odd, `1 configurations have no positive time and count as failed, the first on line 3, whose time_ms is "`+time) {
			t.Errorf("%s: %v, %q", time, err, odd)
		}
	}
}

// TestRandom: the closed form is the mean over all subsets.
func TestRandom(t *testing.T) {
	r := read(t, small)
	for n := 1; n <= 6; n++ {
		sum, count := 0.0, 0.0
		for set := range uint(1 << 6) {
			if bits.OnesCount(set) != n {
				continue
			}
			best := 4.0 // the worst time, where none is valid
			for i, time := range r.Time {
				if set>>i&1 == 1 {
					best = min(best, time)
				}
			}
			sum, count = sum+best, count+1
		}
		if got := r.Random(n); math.Abs(got-sum/count) > 1e-12 {
			t.Errorf("%d draws: %v, not %v", n, got, sum/count)
		}
	}
}

func TestRunAndScore(t *testing.T) {
	r := read(t, small)
	for _, delay := range []int{0, 1, 4, 100} {
		c := Run(r, exhaustive.New(r.Space), 10, delay)
		best := math.Inf(1)
		for i := range r.Time {
			if best = min(best, r.Time[i]); c[i] != best {
				t.Errorf("delay %d: best after %d is %v, not %v", delay, i+1, c[i], best)
			}
		}
		if len(c) != 6 {
			t.Errorf("delay %d: %d evaluations", delay, len(c))
		}
	}
	if n := len(Run(r, random.New(r.Space, 1), 4, 2)); n != 4 {
		t.Errorf("%d evaluations of 4", n)
	}
	perfect := NewScore(r, "p", 3, 0, []Curve{{1, 1, 1}})
	if perfect.Area != 1 || perfect.Within1 != (Reach{1, 1}) {
		t.Errorf("perfect: %+v", perfect)
	}
	var mean Curve
	for n := 1; n <= 5; n++ {
		mean = append(mean, r.Random(n))
	}
	if s := NewScore(r, "r", 5, 0, []Curve{mean}); math.Abs(s.Area) > 1e-12 {
		t.Errorf("random search has area %v", s.Area)
	}
	late := NewScore(r, "l", 4, 0, []Curve{{math.Inf(1), 2, 1.04, 1.04}, {4, 4, 4, 4}})
	if late.Curve[0] != 4 || late.Within5 != (Reach{1, 3.5}) || late.Within1 != (Reach{0, 4}) {
		t.Errorf("late: %+v", late)
	}
}

func TestReadRecords(t *testing.T) {
	var b strings.Builder
	for i := range 10 {
		for k := range 10 {
			time := `, "time_us": {"median": ` + string(rune('1'+k%9)) + `}`
			if i == 3 {
				time = ""
			}
			b.WriteString(`{"kernel": "k", "group": "g", "params": {"Y": ` + string(rune('0'+i)) + `, "X": ` + string(rune('0'+k)) + "}" + time + "}\n")
		}
	}
	all, err := ReadRecords("x", strings.NewReader(b.String()+`{"kernel": "other", "params": {"Z": 1}, "time_us": {"median": 1}}`), Searchable)
	if err != nil || len(all) != 1 || all[0].Valid() != 90 || all[0].Space.At(0).String() != "X=0,Y=0" {
		t.Fatalf("%v %v", all, err)
	}
	for _, bad := range []string{"", "{", `{"params": {"Z": 1}}`} {
		if _, err := ReadRecords("x", strings.NewReader(bad), Searchable); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestWriters(t *testing.T) {
	r := read(t, small)
	scores := []Score{
		NewScore(r, "<a>", 50, 0, []Curve{Run(r, random.New(r.Space, 1), 50, 0)}),
		NewScore(r, "b", 50, 0, []Curve{Run(r, random.New(r.Space, 2), 50, 0)}),
	}
	var svg bytes.Buffer
	if err := Plot(&svg, scores); err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for d := xml.NewDecoder(&svg); ; {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		if s, ok := tok.(xml.StartElement); ok && s.Name.Local == "path" {
			drawn++
		}
	}
	if drawn != 3 {
		t.Errorf("%d paths drawn, want the grid and two curves", drawn)
	}
	var md bytes.Buffer
	if err := Markdown(&md, scores, "", nil); err != nil || strings.Count(md.String(), "**1.000**") != 4 {
		t.Errorf("%v\n%s", err, md.String())
	}
}

// TestLeads: who is ahead, and whether by more than chance, seed by seed.
func TestLeads(t *testing.T) {
	r := read(t, small)
	at := func(name string, ratios ...float64) Score {
		var curves []Curve
		for _, v := range ratios {
			c := make(Curve, 60)
			for k := range c {
				c[k] = v * r.Optimum()
			}
			curves = append(curves, c)
		}
		return NewScore(r, name, 60, 0, curves)
	}
	own := at("own", 1.1, 1.3, 1.2)
	if header, _ := Table([]Score{own}, true); slices.Contains(header, "STOPS") || own.Used != 60 {
		t.Errorf("%v: it took all of its %v evaluations", header, own.Used)
	}
	if p := own.Points[1]; math.Abs(p.Ratio-1.2) > 1e-9 || math.Abs(p.Error-0.1/math.Sqrt(3)) > 1e-9 {
		t.Fatalf("%+v", p)
	}
	for _, c := range []struct {
		rivals []Score
		want   Standing
		rival  string
	}{
		{[]Score{at("far", 2, 2, 2), at("near", 1.15, 1.35, 1.25)}, Ahead, "near"},
		{[]Score{at("same", 1.1, 1.3, 1.2), at("twin", 1.1, 1.3, 1.2)}, Ahead, "same"},
		{[]Score{at("luck", 1.3, 1.1, 1.15)}, Level, "luck"},
		{[]Score{at("sure", 1.09, 1.29, 1.19)}, Behind, "sure"}, // by little, but each time
	} {
		leads := Leads(append(c.rivals, own), "own")
		if len(leads) != 2 || leads[1].Standing() != c.want || leads[1].Rival != c.rival {
			t.Errorf("%+v: want %v against %s", leads, c.want, c.rival)
		}
		var md bytes.Buffer
		if err := Markdown(&md, append(c.rivals, own), "own", nil); err != nil || !strings.Contains(md.String(), "1 places "+c.want.String()) && !strings.Contains(md.String(), " 1 "+c.want.String()) {
			t.Errorf("%v: %v\n%s", c.want, err, md.String())
		}
	}
	if Leads([]Score{own}, "own") != nil || Leads([]Score{own, own}, "other") != nil {
		t.Error("a lead over nobody")
	}
}

// TestRecorded: recorded spaces are what their README says, and the recommended
// strategy is far better on them than random search.
func TestRecorded(t *testing.T) {
	for name, want := range map[string]struct {
		rows, valid int
		best        float64
	}{
		"convolution-RTX_2080_Ti": {6768, 5256, 0.9003}, "gemm-RTX_Titan": {17956, 17956, 11.466}, "pnpoly-RTX_3090": {4092, 3774, 8.7142},
	} {
		f, err := os.Open(filepath.Join("..", "..", "..", "shared", "replay", name+".csv.gz"))
		if err != nil {
			t.Skipf("no recorded spaces beside the repository: %v", err)
		}
		r, _, err := ReadCSV(name, f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Time) != want.rows || r.Valid() != want.valid || math.Abs(r.Optimum()/want.best-1) > 1e-4 {
			t.Errorf("%s: %d rows, %d valid, best %v", name, len(r.Time), r.Valid(), r.Optimum())
		}
		const seeds, budget = 4, 100
		var curves []Curve
		for seed := range uint64(seeds) {
			s, err := strategies.New(strategies.Recommended, r.Space, seed)
			if err != nil {
				t.Fatal(err)
			}
			curves = append(curves, Run(r, s, budget, 3))
		}
		s := NewScore(r, strategies.Recommended, budget, 3, curves)
		if got, baseline := s.Points[2].Ratio, r.Random(budget)/r.Optimum(); got-1 > 0.9*(baseline-1) {
			t.Errorf("%s: %.3f after %d evaluations, random search %.3f", name, got, budget, baseline)
		}
	}
}
