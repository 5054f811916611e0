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
	var grid, labels strings.Builder
	for _, e := range []float64{0.001, 0.01, 0.05, 0.1, 0.5, 1} {
		fmt.Fprintf(&grid, "M%.0f,%.0fH%.0f", plotLeft, y(1+e), plotWidth-plotRight)
		fmt.Fprintf(&labels, `<text x="%.0f" y="%.0f" text-anchor="end">%g %%</text>`+"\n", plotLeft-5, y(1+e)+4, 100*e)
	}
	for _, n := range append([]int{1, 5, 10}, Marks...) {
		if n <= budget {
			fmt.Fprintf(&grid, "M%.0f,%.0fV%.0f", x(n), plotTop, plotHeight-plotBottom)
			fmt.Fprintf(&labels, `<text x="%.0f" y="%.0f" text-anchor="middle">%d</text>`+"\n", x(n), plotHeight-plotBottom+16, n)
		}
	}
	fmt.Fprintf(&b, `<path stroke="#ddd" d="%s"/>`+"\n%s", grid.String(), labels.String())
	for k, s := range scores {
		colour, width := colours[k%len(colours)], 1.3
		if k == len(scores)-1 {
			colour, width = "#000000", 2.5
		}
		at := plotTop + 18*float64(k)
		fmt.Fprintf(&b, `<path fill="none" stroke="%s" stroke-width="%.1f" d="%sM%.0f,%.0fh18"/><text x="%.0f" y="%.0f">%s</text>`+"\n",
			colour, width, path(drawn(s.Curve, x, y)), plotWidth-plotRight+10, at+2, plotWidth-plotRight+34, at+7, html.EscapeString(s.Strategy))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// point is a place in pixels.
type point struct{ x, y float64 }

// drawn are the points of a curve that show.
func drawn(curve []float64, x func(n int) float64, y func(ratio float64) float64) []point {
	points := make([]point, len(curve))
	for i, r := range curve {
		points[i] = point{x(i + 1), y(r)}
	}
	return thin(points)
}

// thin leaves out the points that lie within half a pixel of a line between others (Douglas and Peucker, "Algorithms
// for the reduction of the number of points required to represent a digitized line", 1973). The points' x ascend.
func thin(points []point) []point {
	if len(points) < 3 {
		return points
	}
	first, last := points[0], points[len(points)-1]
	slope := (last.y - first.y) / (last.x - first.x)
	at, most := 0, 0.5
	for i, p := range points[1 : len(points)-1] {
		if off := math.Abs(p.y - first.y - slope*(p.x-first.x)); off > most {
			at, most = i+1, off
		}
	}
	if at == 0 {
		return []point{first, last}
	}
	return append(thin(points[:at+1:at+1]), thin(points[at:])[1:]...)
}

// path is a line through points as SVG writes it: the first, and from each the way to the next, in whole pixels.
func path(points []point) string {
	var b strings.Builder
	x, y := 0, 0
	for i, p := range points {
		toX, toY := int(math.Round(p.x)), int(math.Round(p.y))
		switch {
		case i == 0:
			fmt.Fprintf(&b, "m%d,%d", toX, toY)
		case toX != x || toY != y:
			fmt.Fprintf(&b, " %d,%d", toX-x, toY-y)
		}
		x, y = toX, toY
	}
	return b.String()
}
