package fidelity

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
)

// What is said of the error of predictions is what the tables say that it cites. They
// are written anew with each version of the simulator, so small differences are none.
func TestKnownErrorsAreInTheTables(t *testing.T) {
	all, err := known()
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	summary := regexp.MustCompile(`(?s)^.*?: (\d+) configurations.*?regret@1: geometric mean ([0-9.]+).*?MAPE: ([0-9.]+) %`)
	contest := regexp.MustCompile(`at the top: ratios of times off by ([0-9.]+) %`)
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, e := range all {
		if _, err := arch.Load(e.Arch); err != nil {
			t.Error(err)
		}
		name, section, ok := strings.Cut(e.Source, ", ")
		page, err := os.ReadFile("../../../" + name)
		if !ok || err != nil {
			t.Errorf("%+v cites no page: %v", e, err)
			continue
		}
		level, ok := strings.CutPrefix(section, "level ")
		if !ok { // a table of prose
			if !strings.Contains(string(page), "\n### "+section+"\n") {
				t.Errorf("%s has no section %q", name, section)
			}
			continue
		}
		table := between(string(page), "\n## Level "+level+"\n", "\n## ")
		m := summary.FindStringSubmatch(table)
		if m == nil {
			t.Errorf("%s has no summary", e.Source)
			continue
		}
		if configs, regret, mape := number(m[1]), number(m[2]), number(m[3])/100; configs != float64(e.Configs) || math.Abs(regret-e.Regret1) > 0.015 || math.Abs(mape-e.MAPE) > 0.015 {
			t.Errorf("%s has %v configurations, regret@1 %v and MAPE %v: known.json says %+v", e.Source, configs, regret, mape, e)
		}
		if c := contest.FindStringSubmatch(table); c != nil && math.Abs(number(c[1])/100-e.Contest) > 0.01 {
			t.Errorf("%s has %s %% at the top: known.json says %+v", e.Source, c[1], e)
		}
	}
}

// An architecture whose figures are mostly verified needs no word; the others have one,
// with the errors that are known of the same compute capability or that none are.
func TestCaveats(t *testing.T) {
	for name, want := range map[string][]string{
		"h200": nil, "h100": nil,
		"a100": {"85 of the 129 figures of a100", "measured on a100-40gb", "1.04 to 1.47 times", "9 to 12 %"},
		"b200": {"107 of the 129 figures of b200", "compute capability 10.0"},
	} {
		d, err := arch.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		text := Caveat(d, "cycle")
		if (text == "") != (want == nil) {
			t.Errorf("%s: %q", name, text)
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q does not say %q", name, text, part)
			}
		}
	}
}

// The margin is that of the architecture if there is one, else the others', and says so.
func TestExpectedErrors(t *testing.T) {
	for _, level := range []string{"cycle", "model"} {
		for name, borrowed := range map[string]bool{"h200": false, "h100": false, "h100-pcie": false, "a100": true, "b200": true} {
			d, err := arch.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			m := Expected(d, level)
			if m.Borrowed != borrowed || m.Share < 0.005 || m.Share > 0.15 || m.Configs == 0 {
				t.Errorf("%s, level %s: %+v", name, level, m)
			}
			if !m.Ties(1+m.Share) || m.Ties(1+1.01*m.Share) || !m.Ties(1+1.3*m.Share, m.Share) {
				t.Errorf("%s, level %s: what ties with a margin of %v", name, level, m.Share)
			}
		}
	}
}

// Ties that are further apart than the margin are so because of sampling, and their note says so.
func TestTiesText(t *testing.T) {
	m := Margin{Share: 0.05, Configs: 10, Of: []string{"h200"}}
	if got := m.TiesText(1.049); got != m.Text() {
		t.Error(got)
	}
	if got := m.TiesText(1.27); !strings.HasPrefix(got, m.Text()) || !strings.Contains(got, "(up to 27 %)") {
		t.Error(got)
	}
}
