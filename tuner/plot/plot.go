// Package plot draws the course of a sweep: the best time found so far against
// the number of trials, as text for a terminal and as SVG for a page. A drawing
// is a function of its curve only.
//
// It fetches nothing and opens no file. The curves of recorded searches are
// search/replay's.
package plot

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
)

// Curve is the course of a sweep.
type Curve struct {
	Title  string
	Trials int64   // trials so far: at the last of several levels
	Steps  []Point // the trials that improved on the best, in order
}

// Point is a trial with a time.
type Point struct {
	Trial  int64 // from 1
	TimeUS float64
}

// NewCurve returns the curve of points, in any order: those that improved on
// all before them.
func NewCurve(title string, trials int64, points []Point) Curve {
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b Point) int { return int(a.Trial - b.Trial) })
	c := Curve{Title: title, Trials: trials}
	for _, p := range points {
		if n := len(c.Steps); n == 0 || p.TimeUS < c.Steps[n-1].TimeUS {
			c.Steps = append(c.Steps, p)
		}
	}
	return c
}

// best is the best time there is.
func (c *Curve) best() float64 { return c.Steps[len(c.Steps)-1].TimeUS }

// at is the best time after a number of trials; false: none yet.
func (c *Curve) at(trial int64) (float64, bool) {
	i, found := slices.BinarySearchFunc(c.Steps, trial, func(p Point, t int64) int { return int(p.Trial - t) })
	if !found {
		i--
	}
	if i < 0 {
		return 0, false
	}
	return c.Steps[i].TimeUS, true
}

// Text writes the curve as lines of text, width by height characters without
// the axes. The trials' axis is logarithmic, that of the time linear.
func (c *Curve) Text(w io.Writer, width, height int) error {
	if len(c.Steps) == 0 {
		_, err := fmt.Fprintf(w, "%s: no trial has a time yet\n", c.Title)
		return err
	}
	low, high := c.best(), c.Steps[0].TimeUS
	grid := make([][]byte, height)
	for y := range grid {
		grid[y] = []byte(strings.Repeat(" ", width))
	}
	last := -1
	for x := range width {
		t, ok := c.at(trialAt(x, width, c.Trials))
		if !ok {
			continue
		}
		y := height - 1
		if high > low {
			y = int(math.Round((high - t) / (high - low) * float64(height-1)))
		}
		for v := last + 1; last >= 0 && v < y; v++ {
			grid[v][x] = '|'
		}
		grid[y][x], last = '*', y
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: best so far, by trials\n", c.Title)
	for y, row := range grid {
		label := ""
		if y == height-1 || high > low && (y == 0 || y == height/2) {
			label = Microseconds(high - (high-low)*float64(y)/float64(height-1))
		}
		fmt.Fprintf(&b, "%14s |%s\n", label, strings.TrimRight(string(row), " "))
	}
	right := fmt.Sprint(c.Trials)
	fmt.Fprintf(&b, "%14s +%s\n%16s%-*s%s\n", "", strings.Repeat("-", width), "", width-len(right), "1", right)
	_, err := io.WriteString(w, b.String())
	return err
}

// trialAt is the trial at column x of width on a logarithmic axis of trials.
func trialAt(x, width int, trials int64) int64 {
	return int64(math.Round(math.Exp(math.Log(float64(max(trials, 1))) * float64(x) / float64(max(width-1, 1)))))
}

// Microseconds formats a time for people.
func Microseconds(us float64) string {
	switch {
	case us >= 1e6:
		return fmt.Sprintf("%.3f s", us/1e6)
	case us >= 1e4:
		return fmt.Sprintf("%.2f ms", us/1e3)
	}
	return fmt.Sprintf("%.2f us", us)
}

// Measures of the SVG drawing in pixels.
const (
	svgWidth, svgHeight = 720.0, 400.0
	svgLeft, svgRight   = 90.0, 20.0
	svgTop, svgBottom   = 30.0, 45.0
)

// SVG writes the curve as an SVG image; the axes are as in Text.
func (c *Curve) SVG(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" font-family="sans-serif" font-size="12">`+"\n", svgWidth, svgHeight)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	fmt.Fprintf(&b, `<text x="%.0f" y="18">%s: best so far, by trials</text>`+"\n", svgLeft, html.EscapeString(c.Title))
	if len(c.Steps) > 0 {
		c.draw(&b)
	} else {
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f">no trial has a time yet</text>`+"\n", svgLeft, svgHeight/2)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Curve) draw(b *strings.Builder) {
	low, high := c.best(), max(c.Steps[0].TimeUS, c.best()*1.001)
	x := func(trial int64) float64 {
		return svgLeft + (svgWidth-svgLeft-svgRight)*math.Log(float64(trial))/math.Log(float64(max(c.Trials, 2)))
	}
	y := func(t float64) float64 { return svgTop + (svgHeight-svgTop-svgBottom)*(high-t)/(high-low) }
	for k := range 5 {
		t := low + (high-low)*float64(k)/4
		line(b, svgLeft, y(t), svgWidth-svgRight, y(t))
		fmt.Fprintf(b, `<text x="%.0f" y="%.1f" text-anchor="end">%s</text>`+"\n", svgLeft-6, y(t)+4, Microseconds(t))
	}
	for n := int64(1); n <= c.Trials; n *= 10 {
		line(b, x(n), svgTop, x(n), svgHeight-svgBottom)
		fmt.Fprintf(b, `<text x="%.1f" y="%.0f" text-anchor="middle">%d</text>`+"\n", x(n), svgHeight-svgBottom+16, n)
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.0f" text-anchor="end">%d trials</text>`+"\n", svgWidth-svgRight, svgHeight-svgBottom+32, c.Trials)
	b.WriteString(`<polyline fill="none" stroke="#0072b2" stroke-width="2" points="`)
	for k, p := range c.Steps {
		if k > 0 {
			fmt.Fprintf(b, "%.1f,%.1f ", x(p.Trial), y(c.Steps[k-1].TimeUS))
		}
		fmt.Fprintf(b, "%.1f,%.1f ", x(p.Trial), y(p.TimeUS))
	}
	fmt.Fprintf(b, "%.1f,%.1f\"/>\n", x(max(c.Trials, 1)), y(low))
}

func line(b *strings.Builder, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#dddddd"/>`+"\n", x1, y1, x2, y2)
}
