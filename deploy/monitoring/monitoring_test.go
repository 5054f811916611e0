// Package monitoring has an alert file for Prometheus and a dashboard for
// Grafana; its test holds them to the metrics that a coordinator really has.
package monitoring

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/metrics"
	"github.com/warptune/warptune/tuner/standby"
)

// served returns the names of all samples of a coordinator's metrics.
func served(t *testing.T) map[string]bool {
	t.Helper()
	s := coordinator.Stats{
		Results: map[string]int64{"correct": 3}, Sweeps: map[string]int64{"running": 1}, Workers: map[string]int64{"1-a": 2},
		Histogram: coordinator.Histogram{Bounds: []float64{1}, Counts: []int64{1, 0}, Sum: 0.5},
		Aside:     []tuner.Aside{{Worker: "w"}},
	}
	var text strings.Builder
	metrics.Write(&text, &s)
	standby.Standing{}.WriteMetrics(&text)
	names := map[string]bool{}
	for _, line := range strings.Split(text.String(), "\n") {
		if name := metric.FindString(line); name != "" && !strings.HasPrefix(line, "#") {
			names[name] = true
		}
	}
	return names
}

var metric = regexp.MustCompile(`\bwarptune_[a-z_]+`)

func TestMetricsExist(t *testing.T) {
	have := served(t)
	used := map[string]bool{}
	for _, file := range []string{"alerts.yaml", "dashboard.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := metric.FindAllString(string(text), -1)
		for _, name := range names {
			used[name] = true
			if !have[name] {
				t.Errorf("%s uses %s, which no coordinator has", file, name)
			}
		}
		if len(names) < 8 {
			t.Errorf("%s uses only %v", file, names)
		}
	}
	for name := range have { // of a histogram, the buckets are enough
		if !used[name] && !strings.HasSuffix(name, "_sum") {
			t.Errorf("neither an alert nor a panel shows %s", name)
		}
	}
}

func TestDashboardParses(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			ID      int    `json:"id"`
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, p := range board.Panels {
		if p.Title == "" || len(p.Targets) == 0 || seen[p.ID] {
			t.Errorf("panel %d has no title, no query, or the number of another", p.ID)
		}
		seen[p.ID] = true
	}
}

// The rules do what alerts.test.yaml says, where promtool (of Debian's package
// prometheus) is installed.
func TestAlertsFire(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool: apt-get install prometheus")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts.test.yaml"}} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// Every alert is tried, both ways.
func TestAlertsAreTried(t *testing.T) {
	rules, err := os.ReadFile("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tries, err := os.ReadFile("alerts.test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		if n := len(regexp.MustCompile(`alertname: `+a[1]+`\b`).FindAll(tries, -1)); n < 2 {
			t.Errorf("%s is tried %d times in alerts.test.yaml, want when it fires and when not", a[1], n)
		}
	}
}

// Every alert is explained to who is woken by it.
func TestAlertsAreExplained(t *testing.T) {
	text, err := os.ReadFile("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../docs/OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	alerts := regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(text), -1)
	for _, a := range alerts {
		if !strings.Contains(string(guide), "`"+a[1]+"`") {
			t.Errorf("docs/OPERATIONS.md does not explain %s", a[1])
		}
	}
	if len(alerts) < 5 {
		t.Errorf("only %d alerts", len(alerts))
	}
}
