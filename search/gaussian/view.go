package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// view is what a process has to say of one point, kept so that a further point
// conditioned on costs it a step and not everything again.
type view struct {
	z       []float64 // the point, times the process's rates
	with    []float64 // covariances with the points conditioned on
	white   []float64 // the same, as multiples of independent unit variables; may lag behind
	nearest float64   // the greatest of with
	epoch   int       // of the process
	used    int       // question that looked at it last
	cuts    int       // of its cuts that the view has seen
}

// view returns the view of a point.
func (p *process) view(x []float64) *view {
	return &view{z: p.scaled(make([]float64, 0, len(x)), x), epoch: p.epoch, cuts: len(p.cuts)}
}

// follow brings the view up to date but for white.
func (v *view) follow(p *process) {
	for _, n := range p.cuts[v.cuts:] {
		if n < len(v.with) {
			v.with = v.with[:n]
			v.white = v.white[:min(n, len(v.white))]
			v.nearest = 0
			for _, c := range v.with {
				v.nearest = max(v.nearest, c)
			}
		}
	}
	v.cuts = len(p.cuts)
	v.with = slices.Grow(v.with, p.len()-len(v.with))
	for _, o := range p.x[len(v.with):] {
		c := matern(apart(v.z, o))
		v.nearest = max(v.nearest, c)
		v.with = append(v.with, c)
	}
}

// glance returns the mean at the point, and a bound of the variance: what
// knowing the nearest point alone leaves.
func (v *view) glance(p *process) (mean, most float64) {
	v.follow(p)
	return p.mean + floats.Dot(v.with[:len(p.alpha)], p.alpha), p.scale * (1 - v.nearest*v.nearest/(1+p.nugget()))
}

// variance returns the variance without noise, after a glance.
func (v *view) variance(p *process) float64 {
	v.whiten(p)
	return p.scale * max(1e-9, 1-floats.Dot(v.white, v.white))
}

// whiten brings white up to date, after a glance.
func (v *view) whiten(p *process) {
	v.white = slices.Grow(v.white, len(v.with)-len(v.white))
	for k := len(v.white); k < len(v.with); k++ {
		row := p.f.rows[k]
		v.white = append(v.white, (v.with[k]-floats.Dot(row[:k], v.white))/row[k])
	}
}

// matern is the Matérn covariance of smoothness 5/2 at a squared distance
// (Rasmussen and Williams, equation 4.17).
func matern(r2 float64) float64 {
	r := math.Sqrt(5 * r2)
	return (1 + r + r*r/3) * decay(r)
}

// maternAndSlope returns it and its derivative by the squared distance.
func maternAndSlope(r2 float64) (value, slope float64) {
	r := math.Sqrt(5 * r2)
	e := decay(r)
	return (1 + r + r*r/3) * e, -5.0 / 6 * (1 + r) * e
}

// apart returns the squared distance of two points of as many coordinates.
func apart(a, b []float64) float64 {
	var s, t, u, v float64 // sums that need not wait for one another
	k := 0
	for b = b[:len(a)]; k+4 <= len(a); k += 4 {
		x, y := a[k:k+4:k+4], b[k:k+4:k+4]
		d, e, f, g := x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
		s, t, u, v = s+d*d, t+e*e, u+f*f, v+g*g
	}
	for ; k < len(a); k++ {
		d := a[k] - b[k]
		s += d * d
	}
	return (s + t) + (u + v)
}
