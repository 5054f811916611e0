package browsertest

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// Move moves the pointer to a place of the window, pixels.
func (p *Page) Move(x, y float64) {
	p.t.Helper()
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
}

// Drag presses at a place and releases at another.
func (p *Page) Drag(x0, y0, x1, y1 float64) {
	p.t.Helper()
	p.Move(x0, y0)
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x0, y0, chromedp.ButtonLeft))
	const steps = 5
	for i := 1.0; i <= steps; i++ {
		p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x0+(x1-x0)*i/steps, y0+(y1-y0)*i/steps, chromedp.ButtonLeft))
	}
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x1, y1, chromedp.ButtonLeft))
}

// SaveTo lets the page save files to a folder.
func (p *Page) SaveTo(dir string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if _, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir}); err != nil {
		p.t.Fatal(err)
	}
}

// Tasks does something and returns the processor time of each task of the page's main thread meanwhile, of those of a
// millisecond and more.
func (p *Page) Tasks(do func()) (all []time.Duration) {
	p.t.Helper()
	var mu sync.Mutex
	var events []event
	done := make(chan struct{})
	once := sync.Once{}
	listen := func(ev any) {
		switch ev := ev.(type) {
		case *tracing.EventDataCollected:
			mu.Lock()
			defer mu.Unlock()
			for _, v := range ev.Value {
				var e event
				if json.Unmarshal(v, &e) == nil {
					events = append(events, e)
				}
			}
		case *tracing.EventTracingComplete:
			once.Do(func() { close(done) })
		}
	}
	if err := chromedp.Listen(p.ctx, listen); err != nil {
		p.t.Fatal(err)
	}
	call(p, tracing.Start, tracing.StartParams{TransferMode: tracing.StartTransferModeReportEvents, TraceConfig: &tracing.TraceConfig{IncludedCategories: []string{"toplevel", "__metadata"}}})
	do()
	Eval[any](p, `0`)
	call(p, tracing.End, cdp.Empty{})
	select {
	case <-done:
	case <-time.After(patience):
		p.t.Fatal("the browser's trace does not end")
	}
	mu.Lock()
	defer mu.Unlock()
	main := mainThreads(events)
	for _, e := range events {
		if d := time.Duration(e.CPU * float64(time.Microsecond)); main[[2]int64{e.PID, e.TID}] && e.Phase == "X" && e.Name == "ThreadControllerImpl::RunTask" && d >= time.Millisecond {
			all = append(all, d)
		}
	}
	return all
}

// event is an event of a trace.
type event struct {
	Name  string  `json:"name"`
	Phase string  `json:"ph"`
	PID   int64   `json:"pid"`
	TID   int64   `json:"tid"`
	CPU   float64 `json:"tdur"` // microseconds of the thread
	Args  struct {
		Name string `json:"name"`
	} `json:"args"`
}

// mainThreads are the main threads of pages.
func mainThreads(events []event) map[[2]int64]bool {
	main := make(map[[2]int64]bool)
	for _, e := range events {
		if e.Name == "thread_name" && e.Args.Name == "CrRendererMain" {
			main[[2]int64{e.PID, e.TID}] = true
		}
	}
	return main
}
