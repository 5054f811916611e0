package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/warptune/warptune/tuner"
)

// progress shows how far a batch is on stderr: a bar on a terminal, a line
// every few seconds otherwise.
type progress struct {
	w        io.Writer
	what     string
	terminal bool
	atMost   bool // fewer than the total may do: when it ends is not foretold
	rated    bool // rate is given; else it is what was done since start
	rate     float64
	left     time.Duration // where the rate is given; 0: not known
	start    time.Time
	last     time.Time
	shown    bool
}

const (
	barEvery  = 100 * time.Millisecond
	lineEvery = 5 * time.Second
	barWidth  = 30
	// mostLeft is the longest time left that is told: more says that next to nothing goes on.
	mostLeft = 1000 * time.Hour
)

func (a *app) progress(what string) *progress {
	p := &progress{w: a.stderr, what: what, start: time.Now(), last: time.Now()}
	if f, ok := a.stderr.(*os.File); ok {
		p.terminal = term.IsTerminal(int(f.Fd()))
	}
	return p
}

// update shows that done of total are finished.
func (p *progress) update(done, total int) { p.show(done, total, "") }

// show is update with a note behind the numbers.
func (p *progress) show(done, total int, note string) {
	every := lineEvery
	if p.terminal {
		every = barEvery
	}
	now := time.Now()
	if now.Sub(p.last) < every {
		return
	}
	p.last, p.shown = now, true
	text := p.text(done, total, now.Sub(p.start), note)
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
		return
	}
	fmt.Fprintln(p.w, text)
}

// say writes a line that is not progress.
func (p *progress) say(text string) {
	p.finish()
	fmt.Fprintln(p.w, "warptune: "+text)
}

func (p *progress) text(done, total int, elapsed time.Duration, note string) string {
	rate := p.rate // 0: not known, or nothing goes on
	if !p.rated {
		rate = float64(done) / max(elapsed.Seconds(), 1e-9)
	}
	text := fmt.Sprintf("%d of %d %s", done, total, p.what)
	if rate > 0 {
		text += ", " + perSecond(rate)
	}
	if total > 0 && p.terminal {
		full := barWidth * done / total
		text = "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "] " + text
	}
	left := p.left
	if !p.rated && rate > 0 && tuner.EnoughToTell(int64(done), int64(total)) {
		left = time.Duration(min(float64(total-done)/rate, mostLeft.Seconds()) * float64(time.Second))
	}
	if left > 0 && left < mostLeft && !p.atMost {
		text += ", about " + left.Round(time.Second).String() + " left"
	}
	if note != "" {
		text += ", " + note
	}
	return text
}

// perSecond is a rate; of less than ten a second it has two digits.
func perSecond(rate float64) string {
	if rate < 10 {
		return fmt.Sprintf("%.2g/s", rate)
	}
	return fmt.Sprintf("%.0f/s", rate)
}

// finish clears the bar.
func (p *progress) finish() {
	if p.terminal && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
