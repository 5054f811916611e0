package gaussian

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// training is what lengths and noise are fitted to: values at points, which
// all processes see alike.
type training struct {
	x [][]float64
	y []float64
	// square has the squared differences of the coordinates of each pair of
	// points, by the later of the two.
	square []float64
	slopes []float64 // scratch: the covariance's, by pair
	inv    inverter  // scratch
}

func newTraining(x [][]float64, y []float64) *training {
	t := &training{x: x, y: y}
	for i, a := range x {
		for _, b := range x[:i] {
			for d, v := range a {
				v -= b[d]
				t.square = append(t.square, v*v)
			}
		}
	}
	return t
}

// fit takes steps up the posterior density of the lengths and the noise given
// values at points, the process's mean and variance being those that fit best
// (Rasmussen and Williams, equation 5.9), or, with a walk, steps about it. It
// forgets the points of the process.
func (p *process) fit(t *training, steps int, walk *rand.Rand) {
	grad := make([]float64, len(p.lengths)+1)
	for range steps {
		if !p.learn(t) { // a point as good as twice: not without noise
			p.noise = min(p.noise+1, 0)
			continue
		}
		p.gradient(t, grad)
		if walk != nil {
			p.wander(grad, walk)
		} else {
			p.ascend(grad)
		}
	}
	p.reset()
}

// learn has the covariances be those of what is to be fitted to, and gives the
// values. Views are of no use until the next reset. False: points are too near
// one another for the noise that there is.
func (p *process) learn(t *training) bool {
	p.reset()
	for d, v := range p.rate {
		p.rate[d] = v * v
	}
	t.slopes = t.slopes[:0]
	dims := len(p.rate)
	for i := range t.x {
		p.near = p.near[:0]
		for range i {
			k := len(t.slopes)
			value, slope := maternAndSlope(floats.Dot(p.rate, t.square[k*dims:(k+1)*dims]))
			p.near, t.slopes = append(p.near, value), append(t.slopes, slope)
		}
		if !p.f.extend(p.near, 1+p.nugget()) {
			return false
		}
	}
	p.set(t.y)
	return true
}

// ascend takes a step to where the density is higher.
func (p *process) ascend(grad []float64) {
	last := len(p.lengths)
	p.climb.next()
	for d := range p.lengths {
		p.lengths[d] += p.climb.step(d, grad[d])
	}
	p.noise = min(p.noise+p.climb.step(last, grad[last]), 0)
}

// wander takes a step of Langevin's diffusion, whose drift is cut off where the density is steep. The positions
// that it passes are about as frequent as they are probable (Roberts and Tweedie, "Exponential convergence of
// Langevin distributions and their discrete approximations", Bernoulli 2(4), 1996).
func (p *process) wander(grad []float64, r *rand.Rand) {
	const (
		time = 0.05 // of a step
		most = 1    // drift
	)
	move := func(v *float64, grad float64) {
		*v += min(max(time/2*grad, -most), most) + math.Sqrt(time)*r.NormFloat64()
	}
	last := len(p.lengths)
	for d := range p.lengths {
		move(&p.lengths[d], grad[d])
	}
	move(&p.noise, grad[last])
	p.noise = min(p.noise, 0)
}

// gradient is the derivative of the logarithm of the posterior density by the
// lengths and the noise, after learn.
func (p *process) gradient(t *training, grad []float64) {
	clear(grad)
	last := len(p.lengths)
	inverse := t.inv.of(&p.f)
	k := 0
	for i := range t.x {
		for j := range i {
			f := 2 * (p.alpha[i]*p.alpha[j]/p.scale - inverse[i][j]) * t.slopes[k]
			floats.AddScaled(grad[:last], -f, t.square[k*last:(k+1)*last])
			k++
		}
		grad[last] += (p.alpha[i]*p.alpha[i]/p.scale - inverse[i][i]) / 2
	}
	grad[last] *= math.Exp(p.noise)
	for d, v := range p.lengths {
		grad[d] = grad[d]*p.rate[d] - (v-lengthMean(last))/(lengthDeviation*lengthDeviation)
	}
	grad[last] -= (p.noise - noiseMean) / (noiseDeviation * noiseDeviation)
}

// adam is gradient ascent with momentum and a step for each coordinate (Kingma
// and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015).
type adam struct {
	first, second []float64 // moments
	keep          [2]float64
}

const (
	firstDecay  = 0.8
	secondDecay = 0.95
	stride      = 0.15
)

func newAdam(n int) adam {
	return adam{first: make([]float64, n), second: make([]float64, n), keep: [2]float64{1, 1}}
}

// next begins a step of all coordinates.
func (a *adam) next() {
	a.keep[0] *= firstDecay
	a.keep[1] *= secondDecay
}

// step returns the step of a coordinate with a derivative.
func (a *adam) step(d int, grad float64) float64 {
	a.first[d] += (1 - firstDecay) * (grad - a.first[d])
	a.second[d] += (1 - secondDecay) * (grad*grad - a.second[d])
	return stride * a.first[d] / (1 - a.keep[0]) / (math.Sqrt(a.second[d]/(1-a.keep[1])) + 0.01)
}
