package browsertest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/page/browsertest"
	"github.com/warptune/warptune/tuner/page/pagetest"
)

// TestLive follows a sweep that is under way, to its end and over again.
func TestLive(t *testing.T) {
	s := serve(t, 1000)
	s.now.Store(20 * 200) // a configuration each 20 ms
	p := browsertest.Open(t, s.URL+"/", browsertest.Options{})
	progress := func(done string) string {
		return fmt.Sprintf(`document.querySelector("[data-field=done]")?.textContent === %q`, done)
	}
	p.Wait(progress("200"))
	p.View(live, "configurations")
	p.Wait(`document.querySelector("section[aria-label=Filter]") !== null`)
	before := len(table(s, live).Order)
	p.Wait(fmt.Sprintf(`document.querySelector("section[aria-label=Filter] strong").textContent === "%d"`, before))
	s.now.Store(20 * 900)
	after := len(table(s, live).Order)
	p.Wait(fmt.Sprintf(`document.querySelector("section[aria-label=Filter] strong").textContent === "%d"`, after))
	if before == after {
		t.Fatal("nothing came")
	}
	d := table(s, live)
	checkRows(t, p, d, d.Order)
	p.View(live, "progress")
	p.Wait(progress("900"))
	text := p.Text(`section[aria-label=Progress]`)
	for _, want := range []string{"running", "50 a second", "left", "2 workers"} {
		if !strings.Contains(text, want) {
			t.Errorf("the progress does not say %q: %s", want, text)
		}
	}
	if workers := p.Text(`section[aria-label=Workers]`); !strings.Contains(workers, "node3/17") || !strings.Contains(workers, "its simulator is 1-older") {
		t.Errorf("the workers are %q", workers)
	}
	s.now.Store(20 * 3300) // all 3000 have ended
	p.Wait(`document.querySelector("section[aria-label=Progress]").innerText.startsWith("completed")`)
	s.now.Store(20 * 3600) // over again: 100, in another epoch
	p.View(live, "configurations")
	again := len(table(s, live).Order)
	p.Wait(fmt.Sprintf(`document.querySelector("section[aria-label=Filter] strong").textContent === "%d"`, again))
}

// TestServerEnds says that the server is gone, and goes on when it is back.
func TestServerEnds(t *testing.T) {
	var down atomic.Bool
	handler := page.Handler(pagetest.New(1000, func() time.Time { return start }), page.Options{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler) // closes the connection
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	p := browsertest.Open(t, s.URL+"/#/"+small, browsertest.Options{})
	p.Wait(`document.querySelector(".answer") !== null`)
	down.Store(true)
	p.Wait(`document.querySelector("main [role=alert]")?.textContent.includes("does not answer")`)
	if browsertest.Eval[bool](p, `document.querySelector(".answer") === null`) {
		t.Error("what was read is no longer shown")
	}
	down.Store(false)
	p.Wait(`document.querySelector("main [role=alert]") === null`)
	for _, w := range p.Forgive() {
		if !strings.Contains(w, "Failed to load resource") {
			t.Error(w)
		}
	}
}

// TestReport opens a report as a file: it asks for nothing else.
func TestReport(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report.html")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	source := pagetest.New(1000, func() time.Time { return start })
	if err := page.Report(t.Context(), source, []string{small, other}, 2, out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	p := browsertest.Open(t, "file://"+name, browsertest.Options{})
	p.Wait(`document.querySelector("main")?.dataset.view === "summary"`) // of the first sweep, without a choice
	for _, view := range views {
		p.View(small, view)
		checkView(t, p, browsertest.Options{}, view)
	}
	s := serve(t, 1000)
	p.View(small, "compare")
	compareNumbers(t, s, p, table(s, small))
	p.View(small, "why?trial="+fmt.Sprint(table(s, small).trial(table(s, small).Order[5])))
	p.Wait(`document.querySelector("main .note")?.textContent.includes("A report explains a few configurations")`)
}
