package browsertest_test

import (
	"testing"

	"github.com/warptune/warptune/tuner/page/browsertest"
)

// TestNothingYet opens every view of a sweep of which nothing is evaluated, and of configurations that are not there.
func TestNothingYet(t *testing.T) {
	s := serve(t, 1000)
	p := browsertest.Open(t, s.URL+"/", browsertest.Options{})
	for _, view := range views {
		p.Go(live, view)
		p.Wait(`document.querySelector("main")?.dataset.view === "` + view + `"`)
		if text := p.Text("main"); len(text) < 20 {
			t.Errorf("%s of an empty sweep says only %q", view, text)
		}
		p.Go(small, view+"?trial=123456")
		p.Wait(`document.querySelector("main")?.dataset.view === "` + view + `"`)
		for _, said := range p.Texts("main .note.error") {
			t.Errorf("%s: %q", view, said)
		}
	}
	p.Go("0123456789abcdef", "summary")
	p.Wait(`document.querySelector("main [role=alert]")?.textContent.includes("There is no sweep")`)
}
