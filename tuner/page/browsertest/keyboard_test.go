package browsertest_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/page/browsertest"
)

// tabTo presses Tab until an element of a selector has the focus.
func tabTo(t *testing.T, p *browsertest.Page, selector string) {
	t.Helper()
	for range 200 {
		p.Keys(kb.Tab)
		if browsertest.Eval[bool](p, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
	}
	t.Fatalf("Tab does not come to %s", selector)
}

// second is the second least value of a parameter.
func second(d *rows, name string) string {
	values := slices.Clone(d.column(name).Dictionary)
	slices.SortFunc(values, func(a, b search.Value) int { return cmp.Compare(a.I, b.I) })
	return values[1].String()
}

// TestKeyboard uses the page without a pointer.
func TestKeyboard(t *testing.T) {
	s := serve(t, 1000)
	d := table(s, small)
	p := browsertest.Open(t, s.URL+"/", browsertest.Options{})
	p.Wait(`document.querySelector("main h2 a") !== null`)
	tabTo(t, p, fmt.Sprintf("main h2 a[href^='#/%s']", small))
	p.Keys(kb.Enter)
	p.Wait(`document.querySelector("main")?.dataset.view === "summary"`)
	for i, view := range views[:10] {
		p.Keys(fmt.Sprint((i + 1) % 10))
		p.Wait(`document.querySelector("main")?.dataset.view === "` + view + `"`)
	}

	t.Run("table", func(t *testing.T) {
		p.Keys("2")
		p.Wait(`document.querySelector(".vrow[data-trial]") !== null`)
		tabTo(t, p, "[role=grid]")
		p.Keys(kb.ArrowDown, kb.ArrowDown, kb.ArrowDown, kb.Enter) // the line above the ties, then the first two rows
		p.Wait(fmt.Sprintf(`location.hash.endsWith("trial=%d")`, d.trial(d.Order[1])))
		p.Wait(fmt.Sprintf(`document.querySelector(".vrow.selected")?.dataset.trial === "%d"`, d.trial(d.Order[1])))
		p.Keys(kb.End)
		last := d.trial(d.Order[len(d.Order)-1])
		p.Wait(fmt.Sprintf(`document.querySelector(".vrow[data-trial='%d']") !== null`, last))
		p.Keys(kb.Home, " ") // closes the ties
		p.Wait(fmt.Sprintf(`document.querySelector(".vrow[data-trial]")?.dataset.trial === "%d"`, d.trial(d.Order[d.Groups[1]])))
	})
	t.Run("compare", func(t *testing.T) {
		p.Keys("c")
		p.Wait(`document.querySelector("main")?.dataset.view === "compare"`)
		p.Wait(fmt.Sprintf(`location.hash.includes("other=%d")`, d.trial(d.Order[1])))
		p.Keys("b")
		p.Wait(`!location.hash.includes("trial=")`)
	})
	t.Run("heat map", func(t *testing.T) {
		p.Keys("4")
		p.Wait(`document.querySelector("main")?.dataset.view === "heatmap"`)
		tabTo(t, p, ".chart")
		p.Keys(kb.ArrowRight, kb.ArrowRight, kb.ArrowDown)
		tip, read := strings.Fields(p.Text(".tip")), strings.Fields(p.Text("[aria-live]"))
		if !slices.Contains(tip, "µs,") || !slices.Equal(tip, read) {
			t.Errorf("the cell is described as %q, and read as %q", tip, read)
		}
		names := browsertest.Eval[[]string](p, `[...document.querySelectorAll(".card header select")].map(s => s.value)`)
		cell := fmt.Sprintf("%s=%s, %s=%s", names[0], second(d, names[0]), names[1], second(d, names[1]))
		if got := strings.Join(tip[:2], " "); got != cell {
			t.Errorf("right, right and down lead to %s, not to %s", got, cell)
		}
		p.Keys(kb.Enter)
		p.Wait(`document.querySelector("main")?.dataset.view === "why"`)
		p.Keys("b")
	})
	t.Run("parallel axes", func(t *testing.T) {
		p.Keys("5")
		p.Wait(`document.querySelector("main")?.dataset.view === "parallel"`)
		tabTo(t, p, ".chart")
		p.Keys(kb.ArrowRight, kb.ArrowRight, kb.ArrowDown, kb.Enter)
		param := d.Parameters[1]
		p.Wait(`document.querySelector(".chip.on button") !== null`)
		if chip := p.Text("section[aria-label=Filter] .chip.on"); !strings.HasPrefix(chip, param.Name+" = ") {
			t.Errorf("the filter is %q, not of %s", chip, param.Name)
		}
		p.Keys("f")
		p.Wait(`document.activeElement.id === "filter-summary"`)
	})
	t.Run("help and colours", func(t *testing.T) {
		p.Keys("t")
		p.Wait(`document.documentElement.dataset.theme === "dark"`)
		p.Keys("?")
		p.Wait(`document.getElementById("help").open`)
		p.Keys(kb.Escape)
		p.Wait(`!document.getElementById("help").open`)
	})
}

// TestPointer brushes an axis and chooses a point of the roofline with the pointer.
func TestPointer(t *testing.T) {
	s := serve(t, 1000)
	d := table(s, small)
	p := browsertest.Open(t, s.URL+"/#/"+small+"/parallel", browsertest.Options{})
	p.Wait(`document.querySelector(".chart canvas")?.width > 0 && document.querySelector("main")?.dataset.view === "parallel"`)
	box := browsertest.Eval[[]float64](p, `(() => { const r = document.querySelector(".chart").getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()`)
	x := box[0] + 34 // the first axis
	p.Drag(x, box[1]+40, x, box[1]+box[3]/2)
	p.Wait(`document.querySelector(".chip.on") !== null`)
	chip, param := p.Text("section[aria-label=Filter] .chip.on"), d.Parameters[0]
	if !strings.HasPrefix(chip, param.Name+" = ") || strings.Count(chip, ",") == 0 {
		t.Errorf("the brush filters by %q, not by values of %s", chip, param.Name)
	}
	kept := 0
	values := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(chip, param.Name+" = "), "×"))
	for _, row := range d.Order {
		for _, v := range strings.Split(values, ", ") {
			if d.value(param.Name, row) == v {
				kept++
			}
		}
	}
	near(t, "rows let through", p.Text("section[aria-label=Filter] strong"), float64(kept))

	p.View(small, "roofline")
	box = browsertest.Eval[[]float64](p, `(() => { const r = document.querySelector(".chart").getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()`)
	found := false
	for y := box[1] + 40; y < box[1]+box[3]-60 && !found; y += 12 {
		for dx := 80.0; dx < box[2]-40 && !found; dx += 40 {
			p.Move(box[0]+dx, y)
			found = browsertest.Eval[bool](p, `document.querySelector(".tip") !== null`)
		}
	}
	if !found {
		t.Fatal("no point of the roofline answers to the pointer")
	}
	if tip := strings.ToLower(p.Text(".tip")); !strings.Contains(tip, strings.ToLower(param.Name)+"=") {
		t.Errorf("a point is described as %q", tip)
	}
}
