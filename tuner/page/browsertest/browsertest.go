// Package browsertest opens the page in a real Chromium, for tests. What a page must never do fails the test: a script
// that throws, a message of the console, a rule of the Content-Security-Policy broken, a request to another server.
package browsertest

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// names of the browser, as distributions have it.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// patience is how long a page may take until it shows what is waited for; the machine may have other work.
const patience = 60 * time.Second

// Page is a page in a browser of its own.
type Page struct {
	t    *testing.T
	ctx  context.Context
	base *url.URL

	mu    sync.Mutex
	wrong []string
}

// Options of a page.
type Options struct {
	Width, Height int64 // of the window, pixels; 0: 1280 by 900
	Dark          bool
}

// Open opens an address in a new browser. Where there is none it skips the test.
func Open(t *testing.T, address string, o Options) *Page {
	t.Helper()
	path := installed()
	if path == "" {
		t.Skip("no Chromium is installed (apt-get install chromium): the page is not opened")
	}
	base, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
	all, stop := chromedp.NewExecAllocator(context.Background(), flags...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(all)
	t.Cleanup(end)
	p := &Page{t: t, ctx: ctx, base: base}
	if err := chromedp.Listen(ctx, p.watch); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	if o.Width == 0 {
		o.Width, o.Height = 1280, 900
	}
	scheme := "light"
	if o.Dark {
		scheme = "dark"
	}
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	p.Do(chromedp.EmulateViewport(o.Width, o.Height), chromedp.Navigate(address))
	t.Cleanup(p.verdict)
	return p
}

// call runs a command of the browser's protocol.
func call[P, R any](p *Page, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	r, err := chromedp.Call(ctx, command, params)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// installed is the path of a Chromium, "" for none.
func installed() string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// watch notes what a page must not do.
func (p *Page) watch(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text, _ := json.Marshal(e.ExceptionDetails)
		p.note("a script throws: " + string(text))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			text, _ := json.Marshal(e.Args)
			p.note("console: " + string(text))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity {
			p.note("log: " + e.Entry.Text + " " + e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "data" && (u.Scheme != p.base.Scheme || u.Host != p.base.Host || u.Scheme == "file" && u.Path != p.base.Path) {
			p.note("a request to another place: " + e.Request.URL)
		}
	}
}

func (p *Page) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = append(p.wrong, what)
}

// Forgive forgets what was noted so far, and returns it: a test that provokes an error looks at it.
func (p *Page) Forgive() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.wrong
	p.wrong = nil
	return was
}

func (p *Page) verdict() {
	for _, w := range p.Forgive() {
		p.t.Errorf("%s", w)
	}
}

// Do runs actions of chromedp.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("%v; the page says: %.300s", err, p.said())
	}
}

// said is what the page shows, for messages.
func (p *Page) said() string {
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.getElementById("main")?.innerText ?? ""`))
	return text
}

// Eval is the value of an expression of the page.
func Eval[T any](p *Page, script string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	if err != nil {
		p.t.Fatalf("%s: %v", script, err)
	}
	return value
}

// Wait waits until an expression is true.
func (p *Page) Wait(script string) {
	p.t.Helper()
	p.Until(script, func() bool { return Eval[bool](p, "!!("+script+")") })
}

// Until waits until something is so, and fails saying what is not.
func (p *Page) Until(what string, so func() bool) {
	p.t.Helper()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if so() {
			return
		}
	}
	p.t.Fatalf("never so: %s; the page says: %.200s", what, p.said())
}

// Texts are the texts of all elements that a selector matches.
func (p *Page) Texts(selector string) []string {
	p.t.Helper()
	return Eval[[]string](p, `[...document.querySelectorAll(`+quote(selector)+`)].map(e => e.innerText || e.textContent)`)
}

// Text is the text of the first element that a selector matches.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	p.Wait(`document.querySelector(` + quote(selector) + `) !== null`)
	return p.Texts(selector)[0]
}

// Click clicks the first element that a selector matches.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.clickFound(`document.querySelector(` + quote(selector) + `)`)
}

// ClickText clicks the first element of a selector that has a text.
func (p *Page) ClickText(selector, text string) {
	p.t.Helper()
	p.clickFound(`([...document.querySelectorAll(` + quote(selector) + `)].find(e => e.textContent.trim() === ` + quote(text) + `) ?? null)`)
}

// clickFound clicks the middle of what an expression finds, as the pointer does: what lies above it is clicked instead.
func (p *Page) clickFound(find string) {
	p.t.Helper()
	p.Wait(find + ` !== null`)
	at := Eval[[]float64](p, `(() => { const e = `+find+`; e.scrollIntoView({block: "center", inline: "center"}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
	p.Do(chromedp.MouseClickXY(at[0], at[1]))
}

// Keys presses keys, one after the other: those of chromedp's kb, or characters.
func (p *Page) Keys(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		p.Do(chromedp.KeyEvent(k))
	}
}

// Go goes to a view of a sweep as its link does.
func (p *Page) Go(sweep, view string) {
	p.t.Helper()
	Eval[any](p, `location.hash = `+quote("#/"+sweep+"/"+view))
}

// View goes to a view of a sweep and waits until what it reads is there.
func (p *Page) View(sweep, view string) {
	p.t.Helper()
	p.Go(sweep, view)
	name, _, _ := strings.Cut(view, "?")
	p.Wait(`document.querySelector("main")?.dataset.view === ` + quote(name) + ` && document.querySelector("main .card, main .note") !== null`)
	p.Settle()
}

// Settle waits until nothing is said to be awaited.
func (p *Page) Settle() {
	p.t.Helper()
	p.Wait(`document.querySelector("main .waiting") === null`)
}

// Table opens the numbers below a picture and returns their rows.
func (p *Page) Table(name string) [][]string {
	p.t.Helper()
	selector := `details.numbers[data-name="` + name + `"]`
	p.Wait(`document.querySelector(` + quote(selector) + `) !== null`)
	if !Eval[bool](p, `document.querySelector(`+quote(selector)+`).open`) {
		p.Click(selector + " summary")
	}
	p.Wait(`document.querySelector(` + quote(selector+" table") + `) !== null`)
	return Eval[[][]string](p, `[...document.querySelectorAll(`+quote(selector+" tbody tr")+`)].map(r => [...r.children].map(c => c.textContent))`)
}

// Shot writes a picture of the whole page to the folder that WARPTUNE_SHOTS names, if it is set.
func (p *Page) Shot(name string) {
	p.t.Helper()
	dir := os.Getenv("WARPTUNE_SHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
	}
	if err != nil {
		p.t.Error(err)
	}
}

func quote(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}
