package tune

import (
	"strings"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
	"github.com/warptune/warptune/simengine/arch"
)

// Wrong results are not called correctness.
func TestWrongResultsAreCalledThat(t *testing.T) {
	s := &warptunev1.Sweep{
		Spec:   &warptunev1.Spec{Level: "cycle"},
		Counts: &warptunev1.Counts{Space: 5, Total: 5, Done: 5, ByValidity: []int64{0, 3, 0, 0, 0, 0, 2}},
	}
	if text := accounted(s); !strings.Contains(text, "2 gave wrong results") || strings.Contains(text, "correctness") {
		t.Errorf("it says %s", text)
	}
}

// The margin of a two-level sweep is that of the level that decides.
func TestMarginIsOfTheLastLevel(t *testing.T) {
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	p := &plan.Plan{Specs: []*warptunev1.Spec{{Level: plan.BothLevels}}, Of: []plan.Subject{{Arch: cluster.Arch{Descriptor: d}}}}
	if r := newRanking(p, 0, nil, nil); r.margin.Share != fidelity.Expected(d, "cycle").Share {
		t.Errorf("the margin is %+v", r.margin)
	}
}
