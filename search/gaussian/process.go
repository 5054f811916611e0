package gaussian

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Priors of the hyperparameters: normal distributions of logarithms.
const (
	// The mean length is the root of the number of coordinates, each of which has range one. That is a wide prior,
	// which keeps to smooth functions in many dimensions (Hvarfner, Hellsten and Nardi, "Vanilla Bayesian
	// Optimization Performs Great in High Dimensions", ICML 2024).
	lengthDeviation = 1.0
	noiseMean       = -7 // of the noise's variance over the process's
	noiseDeviation  = 1.5
	noiseLeast      = 1e-5 // added, for the sake of arithmetic
)

// process is a Gaussian process of constant mean, which is estimated, with
// Matérn covariance of a length for each coordinate, and noise (Rasmussen and
// Williams, "Gaussian Processes for Machine Learning", 2006, chapters 2 and 4).
type process struct {
	lengths []float64 // logarithms, by coordinate
	noise   float64   // logarithm of the noise's variance over the process's
	climb   adam

	rate  []float64   // one over the lengths, as of the last reset (while they are fitted, squared)
	x     [][]float64 // points conditioned on, times rate
	f     factor      // of their covariances over the variance
	alpha []float64   // inverse of the covariances times the values less the mean
	mean  float64     // of the values
	scale float64     // the process's variance

	epoch int   // counts resets
	cuts  []int // lengths cut to since the last reset

	near  []float64 // scratch
	solve []float64 // scratch
}

func newProcess(dims int) *process {
	p := &process{noise: noiseMean, climb: newAdam(dims + 1)}
	for range dims {
		p.lengths = append(p.lengths, lengthMean(dims))
	}
	p.reset()
	return p
}

// lengthMean is the mean of the prior of the logarithm of a length.
func lengthMean(dims int) float64 { return math.Log(float64(dims)) / 2 }

// nugget is the part of a variance that is a point's own.
func (p *process) nugget() float64 { return math.Exp(p.noise) + noiseLeast }

// len returns the number of points conditioned on.
func (p *process) len() int { return len(p.x) }

// reset forgets the points, and goes by the lengths as they are now. Views made
// before are of no use.
func (p *process) reset() {
	p.rate = p.rate[:0]
	for _, v := range p.lengths {
		p.rate = append(p.rate, math.Exp(-v))
	}
	p.cut(0)
	p.epoch++
	p.cuts = p.cuts[:0]
}

// cut forgets all but the first n points.
func (p *process) cut(n int) {
	if n < len(p.x) {
		p.cuts = append(p.cuts, n)
	}
	p.x = p.x[:n]
	p.f.cut(n)
}

// scaled appends a point times the rates.
func (p *process) scaled(dst, x []float64) []float64 {
	for k, v := range x {
		dst = append(dst, v*p.rate[k])
	}
	return dst
}

// add conditions on a point, whose value set gives. False: it is too near
// another for the noise that there is, and is left out.
func (p *process) add(x []float64) bool {
	var z []float64
	if n := len(p.x); n < cap(p.x) {
		z = p.x[:n+1][n][:0]
	}
	z = p.scaled(z, x)
	p.near = p.near[:0]
	for _, o := range p.x {
		p.near = append(p.near, matern(apart(z, o)))
	}
	if !p.f.extend(p.near, 1+p.nugget()) {
		return false
	}
	p.x = append(p.x, z)
	return true
}

// set gives the values of the first points, and estimates mean and variance (the
// former by generalised least squares, the latter with a weak prior of one).
// Further points are taken to have the values that are expected of them, which
// leaves means as they are and makes variances smaller.
func (p *process) set(y []float64) {
	ones := grown(p.solve, len(y))
	for k := range ones {
		ones[k] = 1
	}
	p.solve = ones
	p.f.solve(ones)
	p.mean = floats.Dot(ones, y) / floats.Sum(ones)
	p.alpha = append(p.alpha[:0], y...)
	floats.AddConst(-p.mean, p.alpha)
	p.f.solve(p.alpha)
	misfit := 0.0
	for k, v := range y {
		misfit += p.alpha[k] * (v - p.mean)
	}
	p.scale = (max(misfit, 0) + 1) / float64(len(y)+1)
}

// grown returns a slice of n numbers, in s if that has room.
func grown(s []float64, n int) []float64 {
	if cap(s) < n {
		s = make([]float64, n, 2*n)
	}
	return s[:n]
}
