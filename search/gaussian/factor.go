package gaussian

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// factor is the Cholesky factor L of a symmetric positive definite matrix
// L Lᵀ, which grows by a row at a time.
type factor struct {
	rows [][]float64 // of L, row i of i+1 entries
}

func (f *factor) len() int { return len(f.rows) }

// cut forgets all but the first n rows and columns of the matrix.
func (f *factor) cut(n int) { f.rows = f.rows[:n] }

// extend appends a row and a column to the matrix: the entries beside those
// before, and the one on the diagonal. False: the matrix would not be positive
// definite, and stays as it is.
func (f *factor) extend(beside []float64, diagonal float64) bool {
	n := f.len()
	var row []float64
	if n < cap(f.rows) { // of a matrix that was cut
		row = f.rows[:n+1][n]
	}
	if cap(row) < n+1 {
		row = make([]float64, n+1)
	}
	row = row[:n+1]
	f.forward(row, beside[:n])
	rest := diagonal - floats.Dot(row[:n], row[:n])
	if !(rest > 1e-9*diagonal) {
		return false
	}
	row[n] = math.Sqrt(rest)
	f.rows = append(f.rows, row)
	return true
}

// forward solves L x = b, of as many unknowns as b has.
func (f *factor) forward(x, b []float64) {
	for i, v := range b {
		row := f.rows[i]
		x[i] = (v - floats.Dot(row[:i], x[:i])) / row[i]
	}
}

// solve solves L Lᵀ x = b; b becomes x.
func (f *factor) solve(b []float64) {
	f.forward(b, b)
	for i := len(b) - 1; i >= 0; i-- {
		row := f.rows[i]
		b[i] /= row[i]
		floats.AddScaled(b[:i], -b[i], row[:i])
	}
}

// inverter inverts matrices. The zero value is ready.
type inverter struct{ column, inverse [][]float64 }

// of returns the lower half of the inverse of a matrix, by rows, which is good
// until the next.
func (v *inverter) of(f *factor) [][]float64 {
	n := f.len()
	for k := len(v.inverse); k < n; k++ {
		v.inverse = append(v.inverse, make([]float64, k+1))
		v.column = append(v.column, nil)
	}
	for j := range n { // columns of the inverse of L, from the diagonal down
		c := grown(v.column[j], n-j)
		c[0] = 1 / f.rows[j][j]
		for i := j + 1; i < n; i++ {
			row := f.rows[i]
			c[i-j] = -floats.Dot(row[j:i], c[:i-j]) / row[i]
		}
		v.column[j] = c
	}
	for i := range n {
		for j := range i + 1 {
			v.inverse[i][j] = floats.Dot(v.column[i], v.column[j][i-j:])
		}
	}
	return v.inverse[:n]
}
