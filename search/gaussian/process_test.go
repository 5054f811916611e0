package gaussian

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// cloud draws n points with values that follow the first two coordinates.
func cloud(r *rand.Rand, n, dims int) (x [][]float64, y []float64) {
	for range n {
		p := make([]float64, dims)
		for d := range p {
			p[d] = float64(r.IntN(9)) / 8
		}
		x, y = append(x, p), append(y, math.Sin(4*p[0])+p[1]*p[1]+0.1*r.NormFloat64())
	}
	return x, y
}

// exactly is what the textbook's formulas give at a point: covariances by
// gonum's dense matrices.
func exactly(t *testing.T, p *process, x [][]float64, y []float64, at []float64) (mean, variance, density float64) {
	t.Helper()
	n := len(x)
	covariance := func(a, b []float64) float64 {
		r2 := 0.0
		for d := range a {
			r2 += math.Pow((a[d]-b[d])/math.Exp(p.lengths[d]), 2)
		}
		return (1 + math.Sqrt(5*r2) + 5*r2/3) * math.Exp(-math.Sqrt(5*r2))
	}
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, covariance(x[i], x[j]))
		}
		k.SetSym(i, i, 1+math.Exp(p.noise)+noiseLeast)
	}
	var c mat.Cholesky
	if !c.Factorize(k) {
		t.Fatal("not positive definite")
	}
	solve := func(b []float64) *mat.VecDense {
		var v mat.VecDense
		if err := c.SolveVecTo(&v, mat.NewVecDense(n, append([]float64(nil), b...))); err != nil {
			t.Fatal(err)
		}
		return &v
	}
	ones := make([]float64, n)
	near := make([]float64, n)
	for i := range n {
		ones[i], near[i] = 1, covariance(at, x[i])
	}
	sum := func(v *mat.VecDense, w []float64) float64 { return mat.Dot(v, mat.NewVecDense(n, w)) }
	mu := sum(solve(ones), y) / sum(solve(ones), ones)
	rest := make([]float64, n)
	for i := range n {
		rest[i] = y[i] - mu
	}
	misfit := sum(solve(rest), rest)
	scale := (misfit + 1) / float64(n+1)
	density = -c.LogDet()/2 - float64(n+1)/2*math.Log(misfit+1) - math.Pow((p.noise-noiseMean)/noiseDeviation, 2)/2
	for _, l := range p.lengths {
		density -= math.Pow((l-lengthMean(len(p.lengths)))/lengthDeviation, 2) / 2
	}
	return mu + sum(solve(near), rest), scale * (1 - sum(solve(near), near)), density
}

// know conditions a process.
func know(t *testing.T, p *process, x [][]float64, y []float64) {
	t.Helper()
	p.reset()
	for _, o := range x {
		if !p.add(o) {
			t.Fatal("points are too near one another")
		}
	}
	p.set(y)
}

// TestViews: however points were added and forgotten, a view says what the
// formulas do, and its bound of the variance holds.
func TestViews(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	x, y := cloud(r, 40, 3)
	p := newProcess(3)
	know(t, p, x[:5], y[:5])
	at := []float64{0.3, 0.6, 0.1}
	v := p.view(at)
	n := 5
	for range 60 {
		if r.IntN(3) == 0 {
			n = r.IntN(n) + 1
			p.cut(n)
		}
		for k := r.IntN(4); k > 0 && n < len(x); k-- {
			if !p.add(x[n]) {
				t.Fatalf("seed %d: point %d is not added", seed, n)
			}
			n++
		}
		p.set(y[:n])
		if r.IntN(2) == 0 {
			continue // the view misses what was
		}
		mean, most := v.glance(p)
		variance := v.variance(p)
		wantMean, want, _ := exactly(t, p, x[:n], y[:n], at)
		if math.Abs(mean-wantMean) > 1e-6 || math.Abs(variance-want) > 1e-6 {
			t.Fatalf("seed %d, %d points: %v and %v, want %v and %v", seed, n, mean, variance, wantMean, want)
		}
		if variance > most+1e-9 {
			t.Fatalf("seed %d: variance %v above its bound %v", seed, variance, most)
		}
	}
}

// TestExpected: points without a value count as having the one that is expected
// of them.
func TestExpected(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	x, y := cloud(r, 20, 2)
	at := []float64{0.4, 0.9}
	p := newProcess(2)
	know(t, p, x[:15], y[:15])
	for k, o := range x[15:] {
		y[15+k], _ = p.view(o).glance(p)
	}
	mean, variance := p.mean, p.scale
	know(t, p, x, y[:15])
	v := p.view(at)
	got, _ := v.glance(p)
	if p.mean != mean || p.scale != variance {
		t.Errorf("seed %d: mean %v, variance %v, were %v, %v", seed, p.mean, p.scale, mean, variance)
	}
	want, rest, _ := exactly(t, p, x, y, at)
	full := newProcess(2)
	know(t, full, x, y)
	if math.Abs(got-want) > 1e-6 || math.Abs(v.variance(p)/p.scale-rest/full.scale) > 1e-6 {
		t.Errorf("seed %d: %v, %v of the variance; want %v, %v", seed, got, v.variance(p)/p.scale, want, rest/full.scale)
	}
}

// TestGradient: the gradient is that of the density, by differences; steps go
// up, and what no value depends on gets the greater length.
func TestGradient(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	x, y := cloud(r, 30, 3)
	p := newProcess(3)
	for d := range p.lengths {
		p.lengths[d] += r.NormFloat64() / 2
	}
	p.noise = -3
	grad := make([]float64, 4)
	fitted := newTraining(x, y)
	if !p.learn(fitted) {
		t.Fatal("points are too near one another")
	}
	p.gradient(fitted, grad)
	density := func() float64 { _, _, d := exactly(t, p, x, y, x[0]); return d }
	for d := range grad {
		h := &p.noise
		if d < 3 {
			h = &p.lengths[d]
		}
		const step = 1e-4
		*h += step
		up := density()
		*h -= 2 * step
		want := (up - density()) / (2 * step)
		*h += step
		if math.Abs(grad[d]-want) > 1e-3*(1+math.Abs(want)) {
			t.Errorf("seed %d: derivative %d is %v, want %v", seed, d, grad[d], want)
		}
	}
	x, y = cloud(r, 90, 3) // of fewer, the last coordinate may seem to matter
	p = newProcess(3)
	before := density()
	p.fit(newTraining(x, y), begin, nil)
	if after := density(); after < before {
		t.Errorf("seed %d: the density falls from %v to %v", seed, before, after)
	}
	if p.lengths[2] < p.lengths[0] {
		t.Errorf("seed %d: lengths %v: nothing depends on the last coordinate", seed, p.lengths)
	}
}

// TestWander: where the density is normal, positions of the walk are distributed
// so.
func TestWander(t *testing.T) {
	const steps = 100_000
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	p := newProcess(1)
	var sum, square [2]float64
	for range steps {
		p.wander([]float64{-(p.lengths[0] - 2) / 0.25, -(p.noise + 9) / 1}, r)
		for k, v := range [2]float64{(p.lengths[0] - 2) / 0.5, p.noise + 9} {
			sum[k] += v / steps
			square[k] += v * v / steps
		}
	}
	for k := range sum {
		if math.Abs(sum[k]) > 0.15 || math.Abs(square[k]-1) > 0.2 {
			t.Errorf("seed %d: mean %.3f, mean square %.3f; want 0 and 1", seed, sum[k], square[k])
		}
	}
}

// TestTwice: a point twice is no harm where there is noise.
func TestTwice(t *testing.T) {
	p := newProcess(1)
	p.noise = -1
	know(t, p, [][]float64{{0.5}, {0.5}, {0.5}}, []float64{1, 2, 3})
	if mean, _ := p.view([]float64{0.5}).glance(p); math.Abs(mean-2) > 1e-6 {
		t.Errorf("mean %v of 1, 2 and 3", mean)
	}
}

// TestImprovement: the logarithm agrees with the sum over the normal density,
// also far below the best, and grows with the variance.
func TestImprovement(t *testing.T) {
	exact := func(best, mean, variance float64) float64 {
		const steps = 20000
		s, sum := math.Sqrt(variance), 0.0
		lo := best - 12*s // what lies lower weighs nothing
		if far := mean - 12*s; far < best {
			lo = far
		}
		h := (best - lo) / steps
		for k := range steps {
			y := lo + (float64(k)+0.5)*h
			sum += (best - y) * math.Exp(-(y-mean)*(y-mean)/(2*variance)) * h
		}
		return math.Log(sum / math.Sqrt(2*math.Pi*variance))
	}
	last := math.Inf(-1)
	for _, c := range []struct{ best, mean, variance float64 }{
		{0, 10, 1}, {0, 6.1, 1}, {0, 5.9, 1}, {0, 3, 1}, {0, 3, 4}, {0, 0, 4}, {0, -1, 4}, {0, -5, 4},
	} {
		got, want := improvement(c.best, c.mean, c.variance), exact(c.best, c.mean, c.variance)
		if math.Abs(got-want) > 0.01 || got <= last {
			t.Errorf("%+v: %v, want %v above %v", c, got, want, last)
		}
		last = got
	}
}
