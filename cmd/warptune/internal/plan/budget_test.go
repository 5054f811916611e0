package plan

import (
	"testing"
	"time"
)

func TestParseBudget(t *testing.T) {
	for _, c := range []struct {
		text        string
		evaluations int64
		time        time.Duration
		within      float64 // -1: no proof
	}{
		{"", 0, 0, -1},
		{"200", 200, 0, -1},
		{"10m", 0, 10 * time.Minute, -1},
		{"within=2%", 0, 0, 0.02},
		{"within=0.5", 0, 0, 0.5},
		{"within=0%", 0, 0, 0},
		{" 1h30m , 5, within=1.5 %", 5, 90 * time.Minute, 0.015},
	} {
		b, err := parseBudget(c.text)
		within := -1.0
		if b.within != nil {
			within = *b.within
		}
		if err != nil || b.evaluations != c.evaluations || b.time != c.time || within != c.within {
			t.Errorf("%q: %+v within %g (%v)", c.text, b, within, err)
		}
	}
	for _, bad := range []string{"x", "-1", "-5m", "1.5", "200,300", "within", "within=", "within=NaN", "within=1e9", "within=2", "within=1", "within=100000%", "99999999999999999999", "200,", "∞"} {
		if b, err := parseBudget(bad); err == nil {
			t.Errorf("%q is taken for %+v", bad, b)
		}
	}
}
