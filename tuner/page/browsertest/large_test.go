package browsertest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/page/browsertest"
)

// Limits of a sweep of 100,000 configurations: processor time of the page's main thread, which other work on the
// machine does not lengthen.
const (
	longestOpening   = 2 * time.Second        // all together until rows are shown
	longestFiltering = 200 * time.Millisecond // a task, while a filter is changed
)

func TestLarge(t *testing.T) {
	s := serve(t, 100_000)
	get[struct{}](s, "data/sweeps/"+large+"/ranking") // so that what the synthetic source takes is not counted
	p := browsertest.Open(t, s.URL+"/", browsertest.Options{})
	p.Wait(`document.querySelector("main h2 a") !== null`)

	began := time.Now()
	tasks := p.Tasks(func() {
		p.View(large, "configurations")
		p.Wait(`document.querySelector(".vrow[data-trial]") !== null`)
	})
	total, longest := sum(tasks)
	t.Logf("rows are shown after %v: %v of the main thread, %v the longest task", time.Since(began).Round(time.Millisecond), total, longest)
	if total > longestOpening {
		t.Errorf("the main thread works %v until rows are shown, more than %v", total, longestOpening)
	}
	d := table(s, large)
	for _, end := range []struct {
		scroll string
		row    int
	}{{`0`, d.Order[0]}, {`document.querySelector(".vtable").scrollHeight`, d.Order[len(d.Order)-1]}} {
		browsertest.Eval[any](p, `document.querySelector(".vtable").scrollTop = `+end.scroll)
		p.Wait(fmt.Sprintf(`document.querySelector(".vrow[data-trial='%d']") !== null`, d.trial(end.row)))
		if n := browsertest.Eval[int](p, `document.querySelectorAll(".vrow").length`); n > 100 {
			t.Errorf("%d rows are in the document: those out of sight should not be", n)
		}
	}

	for _, view := range []string{"configurations", "heatmap", "parallel", "roofline"} {
		p.View(large, view)
		p.Click("#filter-summary")
		for _, field := range []string{"1", "2", "3"} {
			before := p.Text("section[aria-label=Filter] strong")
			tasks := p.Tasks(func() {
				p.Click("fieldset:nth-of-type(" + field + ") button:nth-of-type(2)")
				p.Wait(`document.querySelector("section[aria-label=Filter] strong").textContent !== "` + before + `"`)
			})
			total, longest := sum(tasks)
			t.Logf("%s, filter %s: %v of the main thread, %v the longest task", view, field, total, longest)
			if longest > longestFiltering {
				t.Errorf("%s: a task takes %v while filtering, more than %v", view, longest, longestFiltering)
			}
		}
		tasks := p.Tasks(func() {
			p.ClickText("section[aria-label=Filter] button", "Clear filter")
			p.Wait(`document.querySelector(".chip.on") === null`)
		})
		if _, longest := sum(tasks); longest > longestFiltering {
			t.Errorf("%s: a task takes %v while the filter is cleared, more than %v", view, longest, longestFiltering)
		}
	}
}

// opening is the most processor time of the main thread that a view of 100,000 configurations takes to open.
const opening = time.Second

func TestLargeViews(t *testing.T) {
	s := serve(t, 100_000)
	p := browsertest.Open(t, s.URL+"/#/"+large+"/summary", browsertest.Options{})
	p.Wait(`document.querySelector(".answer") !== null`)
	for _, view := range views {
		total, longest := sum(p.Tasks(func() { p.View(large, view) }))
		t.Logf("%s: %v of the main thread, %v the longest task", view, total, longest)
		if total > opening {
			t.Errorf("%s takes %v of the main thread to open, more than %v", view, total, opening)
		}
	}
}

func sum(tasks []time.Duration) (total, longest time.Duration) {
	for _, d := range tasks {
		total += d
		longest = max(longest, d)
	}
	return total.Round(time.Millisecond), longest.Round(time.Millisecond)
}
