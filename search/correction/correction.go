// Package correction corrects the predicted times of a space by what was measured of some
// of its configurations.
//
// What is learned is the residual, the logarithm of measured over predicted time: a scale
// for each bound, or a Gaussian process over the parameters (C. E. Rasmussen and
// C. K. I. Williams, Gaussian Processes for Machine Learning, 2006, 2.2). Each is judged by
// leaving out one measurement at a time (5.4.2 there), and none is taken that does not
// foretell what was left out clearly better than the mean residual does, which changes
// no order.
package correction

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/feature"
)

// Measured is a configuration that was predicted and measured, times in one unit.
type Measured struct {
	Index            int64 // in the space
	Bound            string
	Predicted, Timed float64
}

const (
	// least is how many measurements say something of a residual.
	least = 6
	// clearly is the share of the mean's squared error, of what is left out, that a model must stay below.
	clearly = 0.7
	// shrink is how many measurements the mean counts for beside those of a bound.
	shrink = 2
	// noise is the variance of what the parameters do not explain over that of the residual.
	noise = 0.05
)

// lengths are those of the process that are tried, in units of the diagonal of the space.
var lengths = []float64{0.15, 0.3, 0.6}

// Correction is what was learned. The zero value corrects nothing.
type Correction struct {
	// Name says what it is: "" (nothing), "a scale for each bound" or "a process over the residual".
	Name string
	// Error is the root mean square of the residuals that were left out, and Before that of the
	// mean's: shares of a time, about.
	Error, Before float64

	mean   float64
	bounds map[string]float64 // beside the mean
	space  *features
	at     [][]float64 // points of what was measured
	weight []float64   // of each
	length float64
}

// Fit learns from measurements.
func Fit(space *search.Space, known []Measured) *Correction {
	c := &Correction{}
	n := len(known)
	if n < least {
		return c
	}
	y := make([]float64, n)
	for i, k := range known {
		y[i] = math.Log(k.Timed / k.Predicted)
		c.mean += y[i] / float64(n)
	}
	before := 0.0
	for i := range y {
		e := (y[i] - c.mean) * float64(n) / float64(n-1)
		before += e * e
	}
	best := clearly * before
	if scales, e := byBound(known, y); e < best {
		best = e
		c.Name, c.bounds = "a scale for each bound", scales
	}
	f := &features{of: feature.New(space)}
	points := make([][]float64, n)
	for i, k := range known {
		points[i] = f.point(k.Index)
	}
	for _, length := range lengths {
		weight, e, ok := process(points, y, c.mean, length)
		if ok && e < best {
			best = e
			c.Name, c.bounds = "a process over the residual", nil
			c.space, c.at, c.weight, c.length = f, points, weight, length
		}
	}
	c.Before = math.Sqrt(before / float64(n))
	if c.Error = c.Before; c.Name != "" {
		c.Error = math.Sqrt(best / float64(n))
	}
	return c
}

// Factor is by what a configuration's predicted time is to be multiplied.
func (c *Correction) Factor(index int64, bound string) float64 {
	if c.Name == "" {
		return math.Exp(c.mean)
	}
	if c.bounds != nil {
		return math.Exp(c.mean + c.bounds[bound])
	}
	p, sum := c.space.point(index), c.mean
	for i, q := range c.at {
		sum += c.weight[i] * covariance(p, q, c.length)
	}
	return math.Exp(sum)
}

// byBound returns a scale for each bound, shrunk towards the mean's, and the squared error of what
// is left out.
func byBound(known []Measured, y []float64) (scales map[string]float64, squares float64) {
	fit := func(without int) (float64, map[string]float64) {
		mean, n := 0.0, 0.0
		for i := range y {
			if i != without {
				mean += y[i]
				n++
			}
		}
		mean /= n
		sums, counts := map[string]float64{}, map[string]float64{}
		for i, k := range known {
			if i != without {
				sums[k.Bound] += y[i] - mean
				counts[k.Bound]++
			}
		}
		for b := range sums {
			sums[b] /= counts[b] + shrink
		}
		return mean, sums
	}
	for i, k := range known {
		mean, scales := fit(i)
		e := y[i] - mean - scales[k.Bound]
		squares += e * e
	}
	_, scales = fit(-1)
	return scales, squares
}

// process conditions a process on residuals. It returns the weight of each point, and the squared
// error of what is left out.
func process(points [][]float64, y []float64, mean, length float64) (weight []float64, squares float64, ok bool) {
	n := len(y)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := covariance(points[i], points[j], length)
			if i == j {
				v += noise
			}
			k.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		return nil, 0, false
	}
	var inverse mat.SymDense
	if chol.InverseTo(&inverse) != nil {
		return nil, 0, false
	}
	weight = make([]float64, n)
	for i := range n {
		for j := range n {
			weight[i] += inverse.At(i, j) * (y[j] - mean)
		}
		e := weight[i] / inverse.At(i, i)
		squares += e * e
	}
	return weight, squares, true
}

// covariance is the Matérn covariance of smoothness 3/2.
func covariance(p, q []float64, length float64) float64 {
	d := 0.0
	for i := range p {
		d += (p[i] - q[i]) * (p[i] - q[i])
	}
	r := math.Sqrt(3*d) / length
	return (1 + r) * math.Exp(-r)
}

// features gives points of configurations, within a cube of diagonal 1.
type features struct {
	of   *feature.Map
	room []float32
}

func (f *features) point(i int64) []float64 {
	f.room = f.of.Append(f.room[:0], i)
	scale := math.Sqrt(float64(max(f.of.Dims(), 1)))
	out := make([]float64, len(f.room))
	for d, v := range f.room {
		out[d] = float64(v) / (float64(f.of.Range(d)) * scale)
	}
	return out
}
