package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/page/browsertest"
)

// views of a sweep, by the names in addresses.
var views = []string{
	"summary", "configurations", "parameters", "heatmap", "parallel", "roofline", "why", "memory", "slots", "source", "occupancy", "compare", "architectures", "progress",
}

// A browser shows what the commands print, live and as a file: of a real kernel every view, without a message of the
// browser's console, a broken rule of the page's policy, or a request to anybody else.
func TestPageInABrowser(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	kernel := []string{"transpose_tiled", "--arch", "h200", "--problem", "2048", "--db", db}
	tuned := parsed(t, warptune(t, append([]string{"tune", "--json", "--set", "PAD=0", "--set", "max_registers=0", "--set", "smem_carveout=-1"}, kernel...)...))
	explained := parsed(t, warptune(t, append([]string{"explain", "--json"}, kernel...)...))
	id, _ := at(tuned, "sweep", "id").(string)
	file := filepath.Join(t.TempDir(), "report.html")
	warptune(t, append([]string{"report", "-o", file}, kernel...)...)
	page := start(t, "warptune", "page", "--db", db, "--listen", "localhost:0")

	for name, address := range map[string]string{"live": page.says(t, `the page is at (http://\S+)`), "report": "file://" + file} {
		t.Run(name, func(t *testing.T) {
			p := browsertest.Open(t, address, browsertest.Options{})
			p.Wait(`document.querySelector("main .card") !== null`)
			for _, view := range views {
				p.View(id, view)
				p.Shot(name + "-" + view)
				if said := p.Texts("main .note.error"); len(said) > 0 {
					t.Errorf("%s says %q", view, said)
				}
			}
			p.View(id, "summary")
			best, _ := at(tuned, "sweep", "best", "outcome", "time_us").(float64)
			if got := p.Text(`[data-field=time]`); got != fmt.Sprintf("%.4g µs", best) {
				t.Errorf("the best takes %q, tune says %v us", got, best)
			}
			if got := p.Text(`[data-field=ties]`); got != fmt.Sprint(at(tuned, "ties")) {
				t.Errorf("%s tie, tune says %v", got, at(tuned, "ties"))
			}
			p.View(id, "why")
			headline, _ := at(explained, "configurations", 0, "explanation", "headline").(string)
			if got := p.Text("main .mid"); headline == "" || !strings.HasPrefix(got, headline) {
				t.Errorf("the headline is %q, explain says %q", got, headline)
			}
			p.View(id, "source")
			line, _ := at(explained, "configurations", 0, "explanation", "findings", 0, "line").(string)
			_, number, _ := strings.Cut(line, ":")
			text, _ := at(explained, "configurations", 0, "explanation", "findings", 0, "text").(string)
			if got := p.Texts(".code .selected"); len(got) < 2 || !strings.HasPrefix(got[0], number) || !strings.Contains(got[0], text) {
				t.Errorf("chosen at first are the lines %q, the finding is at %s", got, line)
			}
		})
	}
}
