package replay

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// Measures of a plot in pixels, and its range: best over optimum minus one, on
// a logarithmic axis.
const (
	plotWidth, plotHeight = 720.0, 400.0
	plotLeft, plotRight   = 60.0, 150.0
	plotTop, plotBottom   = 30.0, 40.0
	plotLow, plotHigh     = 0.001, 2.0
)

// colours tell strategies apart (Okabe and Ito, "Color Universal Design", 2008,
// and darker ones of the same hues).
var colours = []string{
	"#999999", "#56b4e9", "#e69f00", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7",
	"#444444", "#00608a", "#8a5f00", "#005c43", "#000000",
}

// Plot draws the curves of one space's scores as SVG: mean best over optimum
// against evaluations.
func Plot(w io.Writer, scores []Score) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	budget := 1
	for _, s := range scores {
		budget = max(budget, len(s.Curve))
	}
	x := func(n int) float64 {
		return plotLeft + (plotWidth-plotLeft-plotRight)*math.Log(float64(n))/math.Log(float64(max(budget, 2)))
	}
	y := func(ratio float64) float64 {
		v := min(max(ratio-1, plotLow), plotHigh)
		return plotTop + (plotHeight-plotTop-plotBottom)*math.Log(plotHigh/v)/math.Log(plotHigh/plotLow)
	}
	if len(scores) > 0 {
		fmt.Fprintf(&b, `<text x="%.0f" y="18">%s: mean excess over the optimum, by evaluations</text>`+"\n", plotLeft, html.EscapeString(scores[0].Space))
	}
	for _, e := range []float64{0.001, 0.01, 0.05, 0.1, 0.5, 1} {
		line(&b, plotLeft, y(1+e), plotWidth-plotRight, y(1+e))
		fmt.Fprintf(&b, `<text x="%.0f" y="%.1f" text-anchor="end">%g %%</text>`+"\n", plotLeft-5, y(1+e)+4, 100*e)
	}
	for _, n := range append([]int{1, 5, 10}, Marks...) {
		if n <= budget {
			line(&b, x(n), plotTop, x(n), plotHeight-plotBottom)
			fmt.Fprintf(&b, `<text x="%.1f" y="%.0f" text-anchor="middle">%d</text>`+"\n", x(n), plotHeight-plotBottom+16, n)
		}
	}
	for k, s := range scores {
		colour, width := colours[k%len(colours)], 1.3
		if k == len(scores)-1 {
			colour, width = "#000000", 2.5
		}
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="%.1f" points="`, colour, width)
		writePoints(&b, s.Curve, x, y)
		b.WriteString("\"/>\n")
		at := plotTop + 18*float64(k)
		fmt.Fprintf(&b, `<rect x="%.0f" y="%.0f" width="18" height="4" fill="%s"/><text x="%.0f" y="%.0f">%s</text>`+"\n",
			plotWidth-plotRight+10, at, colour, plotWidth-plotRight+34, at+7, html.EscapeString(s.Strategy))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writePoints writes the points of a curve that show: those a pixel apart, and of a level run its two ends.
func writePoints(b *strings.Builder, curve []float64, x func(n int) float64, y func(ratio float64) float64) {
	var level, held string // the height of the run so far, and its last point where that is not its first
	last := 0.0
	for n, r := range curve {
		at := x(n + 1)
		if at < last+1 && n < len(curve)-1 {
			continue
		}
		last = at
		height := fmt.Sprintf("%.1f", y(r))
		point := fmt.Sprintf("%.1f,%s ", at, height)
		if height == level {
			held = point
			continue
		}
		b.WriteString(held + point)
		level, held = height, ""
	}
	b.WriteString(held)
}

func line(b *strings.Builder, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#dddddd"/>`+"\n", x1, y1, x2, y2)
}
