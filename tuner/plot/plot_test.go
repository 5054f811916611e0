package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// A curve does not depend on the order of its points, falls strictly, and ends
// at the least time.
func TestCurve(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	var points []Point
	least := 1e9
	for i := range int64(200) {
		p := Point{Trial: i + 1, TimeUS: 1 + rng.Float64()*50}
		points, least = append(points, p), min(least, p.TimeUS)
	}
	want := NewCurve("x", 200, points)
	rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	if got := NewCurve("x", 200, points); !reflect.DeepEqual(got, want) {
		t.Errorf("seed %d: the order matters", seed)
	}
	if want.best() != least || want.Steps[0].Trial != 1 {
		t.Errorf("seed %d: %v", seed, want)
	}
	for i := 1; i < len(want.Steps); i++ {
		if want.Steps[i].TimeUS >= want.Steps[i-1].TimeUS || want.Steps[i].Trial <= want.Steps[i-1].Trial {
			t.Errorf("seed %d: step %d does not improve: %v", seed, i, want.Steps)
		}
	}
}

func TestText(t *testing.T) {
	c := NewCurve("k on h200", 100, []Point{{2, 30}, {10, 20}, {100, 10}})
	var b bytes.Buffer
	if err := c.Text(&b, 21, 5); err != nil {
		t.Fatal(err)
	}
	want := `k on h200: best so far, by trials
      30.00 us |  ********
               |          |
      20.00 us |          **********
               |                    |
      10.00 us |                    *
               +---------------------
                1                 100
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// Curves with nothing, one point and no fall are drawn; every SVG is well
// formed.
func TestDegenerate(t *testing.T) {
	for _, c := range []Curve{
		NewCurve("<none> & nothing", 0, nil), NewCurve("one", 1, []Point{{1, 5}}), NewCurve("flat", 7, []Point{{3, 5}, {4, 5}, {7, 6}}),
	} {
		var b bytes.Buffer
		if err := c.Text(&b, 10, 3); err != nil || !strings.HasPrefix(b.String(), c.Title+": ") {
			t.Errorf("%v: %s", err, b.String())
		}
		b.Reset()
		if err := c.SVG(&b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			t.Errorf("%s: %s", c.Title, b.String())
		}
		for d := xml.NewDecoder(&b); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", c.Title, err)
			}
		}
	}
}
