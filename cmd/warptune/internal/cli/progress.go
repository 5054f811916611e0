package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/warptune/warptune/tuner"
)

// Progress shows how far a batch is on stderr: a bar on a terminal, a line
// every few seconds otherwise.
type Progress struct {
	w        io.Writer
	what     string
	terminal bool
	AtMost   bool // fewer than the total may do: when it ends is not foretold
	Rated    bool // rate is given; else it is what was done since start
	Rate     float64
	Left     time.Duration // where the rate is given; 0: not known
	start    time.Time
	last     time.Time
	shown    bool
}

// LineEvery is how often a line says how far what takes long is.
const LineEvery = 5 * time.Second

const (
	barEvery = 100 * time.Millisecond
	barWidth = 30
	// mostLeft is the longest time left that is told: more says that next to nothing goes on.
	mostLeft = 1000 * time.Hour
)

// Progress begins to count so many of what.
func (a *App) Progress(what string) *Progress {
	p := &Progress{w: a.Stderr, what: what, start: time.Now(), last: time.Now()}
	if f, ok := a.Stderr.(*os.File); ok {
		p.terminal = term.IsTerminal(int(f.Fd()))
	}
	return p
}

// Update shows that done of total are finished.
func (p *Progress) Update(done, total int) { p.Show(done, total, "") }

// Show is Update with a note behind the numbers.
func (p *Progress) Show(done, total int, note string) {
	every := LineEvery
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

// Say writes a line that is not progress.
func (p *Progress) Say(text string) {
	p.Finish()
	fmt.Fprintln(p.w, "warptune: "+text)
}

func (p *Progress) text(done, total int, elapsed time.Duration, note string) string {
	rate := p.Rate // 0: not known, or nothing goes on
	if !p.Rated {
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
	left := p.Left
	if !p.Rated && rate > 0 && tuner.EnoughToTell(int64(done), int64(total)) {
		left = time.Duration(min(float64(total-done)/rate, mostLeft.Seconds()) * float64(time.Second))
	}
	if left > 0 && left < mostLeft && !p.AtMost {
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

// Finish clears the bar.
func (p *Progress) Finish() {
	if p.terminal && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
