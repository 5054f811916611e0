package browsertest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/page/browsertest"
)

// document is what the page shows of "warptune explain --json".
type document struct {
	Configurations []struct {
		Explanation struct {
			Headline string
			Findings []struct {
				Remedy      string
				Line        string
				TimeUS      float64 `json:"time_us"`
				TimesFaster float64 `json:"times_faster"`
				With        *struct {
					TimesFaster float64 `json:"times_faster"`
				}
			}
		}
		WhatIfs []struct {
			Without string
			TimeUS  float64 `json:"time_us"`
		} `json:"what_ifs"`
		Report struct {
			Slots []page.NamedNumber
			Lines []struct {
				Line       string
				StallShare float64 `json:"stall_share"`
			}
		}
	}
}

func explained(s *server, d *rows) (doc document) {
	x := get[page.Explained](s, fmt.Sprintf("data/sweeps/%s/explain?trials=%d", small, d.trial(d.Order[0])))
	if err := json.Unmarshal(x.Document, &doc); err != nil {
		s.t.Fatal(err)
	}
	return doc
}

func whyNumbers(t *testing.T, s *server, p *browsertest.Page, d *rows) {
	one := explained(s, d).Configurations[0]
	if got := p.Text(".mid"); !strings.HasPrefix(got, one.Explanation.Headline) {
		t.Errorf("the headline is %q", got)
	}
	gains, remedies := p.Texts(".finding .gain"), p.Texts(".finding strong")
	if len(gains) != len(one.Explanation.Findings) {
		t.Fatalf("%d findings are shown of %d", len(gains), len(one.Explanation.Findings))
	}
	for i, f := range one.Explanation.Findings {
		near(t, f.Remedy, gains[i], f.TimesFaster)
		if !strings.HasPrefix(remedies[i], f.Remedy) {
			t.Errorf("finding %d says %q", i, remedies[i])
		}
	}
	var with []float64
	for _, f := range one.Explanation.Findings {
		if f.With != nil {
			with = append(with, f.With.TimesFaster)
		}
	}
	if got := p.Texts("[data-field=with]"); len(with) == 0 || len(got) != len(with) {
		t.Errorf("of two changes at a time %d are shown of %d", len(got), len(with))
	} else {
		near(t, "with a second change", got[0], with[0])
	}
	shown := map[string]string{}
	for _, r := range p.Table("What-ifs") {
		shown[r[0]] = r[1]
	}
	for _, w := range one.WhatIfs {
		near(t, w.Without, shown[w.Without], w.TimeUS)
	}
}

func slotNumbers(t *testing.T, s *server, p *browsertest.Page, d *rows) {
	slots := explained(s, d).Configurations[0].Report.Slots
	words := map[string]string{"issued": "An instruction was issued", "idle": "The scheduler had no warp"}
	for i, r := range p.Table("Issue slots") {
		if name := slots[i].Name; r[0] != words[name] && !strings.HasSuffix(r[0], " ("+name+")") {
			t.Errorf("slot %d is %s, not %s", i, r[0], slots[i].Name)
		}
		near(t, r[0], r[1], slots[i].Value)
	}
}

func sourceNumbers(t *testing.T, s *server, p *browsertest.Page, d *rows) {
	lines := explained(s, d).Configurations[0].Report.Lines
	sum := 0.0
	for _, l := range lines {
		sum += l.StallShare
	}
	for i, r := range p.Table("Lines") {
		if r[0] != lines[i].Line {
			t.Errorf("line %d is %s, not %s", i, r[0], lines[i].Line)
		}
		near(t, r[0], r[1], lines[i].StallShare)
		_, number, _ := strings.Cut(r[0], ":")
		if text := p.Texts(`.code [data-line="` + number + `"] .heat b`); len(text) > 0 {
			near(t, r[0]+" in the source", text[0], lines[i].StallShare/sum)
		}
	}
	_, hottest, _ := strings.Cut(explained(s, d).Configurations[0].Explanation.Findings[0].Line, ":")
	if got := p.Text(".code .selected .ln"); got != hottest {
		t.Errorf("line %s is chosen at first, not the finding's %s", got, hottest)
	}
	p.Click(`.code [data-line="8"]`)
	p.Wait(`[...document.querySelectorAll("main h2")].some(h => h.textContent.endsWith(":8"))`)
}

func compareNumbers(t *testing.T, _ *server, p *browsertest.Page, d *rows) {
	a, b := d.Order[0], d.Order[d.Groups[1]]
	words := strings.Fields(p.Text(`[data-field=ratio]`))
	if words[1] != "first" {
		t.Errorf("of a faster and a slower it says %q", words)
	}
	near(t, "ratio", words[len(words)-2], d.number("time_us", b)/d.number("time_us", a))
	cells := browsertest.Eval[map[string][]string](p, `Object.fromEntries([...document.querySelectorAll('[aria-label="Results of both"] tbody tr')].map(r => [r.children[0].textContent, [r.children[1].textContent, r.children[2].textContent]]))`)
	for _, name := range []string{"time_us", "registers", "dram_bytes", "occupancy"} {
		title := d.column(name).Title
		near(t, title, cells[title][0], d.number(name, a))
		near(t, title, cells[title][1], d.number(name, b))
	}
	for _, diff := range []string{p.Texts(".answer section:nth-of-type(3) p")[0]} {
		name, _, _ := strings.Cut(diff, ":")
		if d.value(name, a) == d.value(name, b) {
			t.Errorf("%q is said to differ", diff)
		}
	}
}

func architectureNumbers(t *testing.T, s *server, p *browsertest.Page, _ *rows) {
	doc := get[page.Comparison](s, "data/compare?sweeps="+small+","+other)
	arch := map[string]string{}
	for _, c := range doc.Sweeps {
		arch[c.Sweep] = c.Arch
	}
	for _, pair := range doc.Pairs {
		if pair.BestOf != pair.On && pair.OverBest != nil {
			near(t, pair.BestOf+" on "+pair.On, p.Text(`[data-pair="`+arch[pair.BestOf]+" "+arch[pair.On]+`"]`), *pair.OverBest)
		}
	}
}
