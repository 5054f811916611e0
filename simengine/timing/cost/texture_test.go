package cost

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/trace"
)

type textureRecord struct {
	Name   string
	Params struct {
		Op, Format, Shape string
		KiB               int
	}
	Value float64
}

// access is a fetch of a whole warp from texels that lie side by side.
func (r *textureRecord) access() *trace.Access {
	a := &trace.Access{Mask: math.MaxUint32, Passes: 8, Texels: 1, Width: map[string]uint8{"float": 4, "float2": 8, "float4": 16, "uchar4": 4}[r.Params.Format]}
	switch r.Params.Op {
	case "fetch_1d":
		a.OneDimension = true
	case "linear_2d":
		a.Texels = 4
	case "linear_3d":
		a.Texels = 8
	case "gather_2d":
		a.Gather = true
	}
	return a
}

// later is the cycles between a fetch's result and the next fetch in kernel latency: an addition for each channel, and
// with fetch_1d a conversion and a multiplication.
func (r *textureRecord) later() float64 {
	cycles := 4 * map[string]float64{"float": 1, "float2": 2, "float4": 4, "uchar4": 4}[r.Params.Format]
	switch r.Params.Op {
	case "gather_2d":
		cycles = 16
	case "fetch_1d":
		cycles += 17 + 4
	}
	return cycles
}

// The texture unit's figures give the measured rates and latencies of warps whose lanes fetch side by side.
func TestTextureFiguresAreMeasured(t *testing.T) {
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	f, err := FiguresOf(d)
	if err != nil {
		t.Fatal(err)
	}
	rates, latencies := 0, 0
	for _, r := range measured.Records[textureRecord](t, "../../../deploy/calibrate/results/h100-textures.jsonl.gz") {
		hold, latency := f.Texture(r.access())
		got, within := 0.0, 0.0
		switch {
		case r.Params.Op == "ldg":
			continue
		case r.Name == "texture.rate" && (r.Params.Shape == "32x1" || r.Params.Shape == "8x4" || r.Params.Shape == "16x2"):
			got, within = hold, 0.2
			rates++
		case r.Name == "texture.latency":
			got, within = latency+r.later(), 0.09
			latencies++
		default:
			continue
		}
		if math.Abs(got/r.Value-1) > within {
			t.Errorf("%s %+v: %.1f cycles, the H100 %.1f", r.Name, r.Params, got, r.Value)
		}
	}
	if rates != 17*3*2 || latencies != 17 {
		t.Errorf("%d rates and %d latencies were compared", rates, latencies)
	}
}

// One lane's fetches of a list in L1 and in L2, each of which needs the one before, take as long as measured. What L2
// serves is later by as much as for loads.
func TestTextureChases(t *testing.T) {
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	f, err := FiguresOf(d)
	if err != nil {
		t.Fatal(err)
	}
	chases := 0
	for _, r := range measured.Records[textureRecord](t, "../../../deploy/calibrate/results/h100-textures.jsonl.gz") {
		if r.Name != "texture.chase" {
			continue
		}
		chases++
		_, got := f.Texture(&trace.Access{Mask: 1, Passes: 1, NLines: 1, Texels: 1, Width: 4, OneDimension: true})
		if r.Params.KiB > 256 {
			got += float64(f.m.LatL2 - f.m.LatL1)
		}
		t.Logf("%d KiB: %.1f cycles, the H100 %.1f", r.Params.KiB, got, r.Value)
		if math.Abs(got/r.Value-1) > 0.07 {
			t.Errorf("a list of %d KiB: %.1f cycles a fetch, the H100 %.1f", r.Params.KiB, got, r.Value)
		}
	}
	if chases != 3 {
		t.Errorf("%d lists were compared", chases)
	}
}
