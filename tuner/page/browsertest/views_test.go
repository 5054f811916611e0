package browsertest_test

import (
	"fmt"
	"testing"

	"github.com/warptune/warptune/tuner/page/browsertest"
)

// views are those of the list, by the names in addresses.
var views = []string{
	"summary", "configurations", "parameters", "heatmap", "parallel", "roofline", "measured", "why", "memory", "slots", "source", "occupancy", "compare", "architectures", "progress",
}

// nameless lists controls without an accessible name.
const nameless = `[...document.querySelectorAll("button, select, input, a[href], [role=grid], [role=group], [role=listbox], [role=region], [role=progressbar]")].filter(e =>
  !(e.getAttribute("aria-label") || !/^(SELECT|INPUT)$/.test(e.tagName) && e.textContent.trim() || [...e.labels ?? []].some(l => l.textContent.replace(e.textContent, "").trim()))).map(e => e.outerHTML.slice(0, 200))`

// small images, cards and pictures: something is drawn. A canvas that nothing was drawn on is all of one colour.
const blank = `[...document.querySelectorAll(".chart canvas:first-child, .uplot canvas")].filter(c => {
  const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  for (let i = 4; i < d.length; i += 4) if (d[i] !== d[0] || d[i + 3] !== d[3]) return false;
  return true;
}).map(c => c.parentElement.getAttribute("aria-label") ?? "plot")`

func TestEveryView(t *testing.T) {
	s := serve(t, 1000)
	for _, look := range []browsertest.Options{{}, {Width: 390, Height: 844}, {Dark: true}, {Width: 390, Height: 844, Dark: true}} {
		t.Run(fmt.Sprintf("%d px dark=%v", look.Width, look.Dark), func(t *testing.T) {
			p := browsertest.Open(t, s.URL+"/", look)
			p.Wait(`document.querySelectorAll("main section.card").length >= 4`)
			checkView(t, p, look, "sweeps")
			for _, view := range views {
				p.View(small, view)
				checkView(t, p, look, view)
			}
		})
	}
}

func checkView(t *testing.T, p *browsertest.Page, look browsertest.Options, view string) {
	t.Helper()
	width := look.Width
	if width == 0 {
		width = 1280
	}
	p.Shot(fmt.Sprintf("%s-%d-dark-%v", view, width, look.Dark))
	if over := browsertest.Eval[int64](p, `document.documentElement.scrollWidth`); over > width {
		t.Errorf("%s: the page is %d pixels wide in a window of %d", view, over, width)
	}
	if said := p.Texts("main .note.error"); len(said) > 0 {
		t.Errorf("%s says %q", view, said)
	}
	for _, e := range browsertest.Eval[[]string](p, nameless) {
		t.Errorf("%s: a control has no name: %s", view, e)
	}
	for _, e := range browsertest.Eval[[]string](p, blank) {
		t.Errorf("%s: nothing is drawn on %s", view, e)
	}
	dark := browsertest.Eval[string](p, `document.documentElement.dataset.theme`) == "dark"
	if dark != look.Dark {
		t.Errorf("%s is dark: %v, the system is: %v", view, dark, look.Dark)
	}
}

// TestLinks goes to every view by its link in the list.
func TestLinks(t *testing.T) {
	s := serve(t, 1000)
	p := browsertest.Open(t, s.URL+"/#/"+small, browsertest.Options{})
	p.Wait(`document.querySelector("main")?.dataset.view === "` + views[0] + `"`) // the links before are of the list of sweeps
	for i, view := range views {
		p.Click(fmt.Sprintf(`nav a:nth-of-type(%d)`, i+1))
		p.Wait(`document.querySelector("main")?.dataset.view === "` + view + `"`)
		p.Settle()
		if got := p.Texts(`nav a[aria-current="page"]`); len(got) != 1 {
			t.Errorf("%s: the list marks %q", view, got)
		}
	}
}
