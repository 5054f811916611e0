package fidelity

import (
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/tuner/score"
)

// Registers is the agreement of the assembler model with the assembler, configuration by configuration.
type Registers struct {
	Kernel    string `json:"kernel"`
	Arch      string `json:"arch"`
	Engine    string `json:"engine"`
	Assembler string `json:"assembler"`
	// Configs are those compared, of Of in the space.
	Configs  int         `json:"configs"`
	Of       int64       `json:"of"`
	Exact    score.Share `json:"registers_exact"`
	Within10 score.Share `json:"registers_within_10_percent"`
	Spill    score.Share `json:"spill"`
	Shared   score.Share `json:"static_shared"`
	// CTAs is how often as many fit on an SM.
	CTAs score.Share `json:"ctas_per_sm"`
	// Farthest are the configurations whose registers are farthest off.
	Farthest []BuiltConfig `json:"farthest,omitempty"`
	Refused  []Refused     `json:"refused,omitempty"` // an example of each message
}

// BuiltConfig is one configuration by both.
type BuiltConfig struct {
	Config     string `json:"config"`
	Model      int    `json:"model_registers"`
	Real       int    `json:"registers"`
	ModelSpill int    `json:"model_spill_bytes"`
	RealSpill  int    `json:"spill_bytes"`
}

// Refused is a message that configurations did not come to code for.
type Refused struct {
	Message string `json:"message"`
	Count   int    `json:"count"`
	Config  string `json:"config"` // the first
}

// mostFarthest bounds Registers.Farthest.
const mostFarthest = 10

// Built is one configuration and what it came to.
type Built struct {
	Config search.Config
	evaluate.Built
	ModelCTAs, RealCTAs int
}

// CompareRegisters summarises.
func CompareRegisters(builds []Built) Registers {
	r := Registers{Engine: simengine.Version(), Configs: len(builds)}
	index := map[string]int{}
	for i := range builds {
		b := &builds[i]
		if b.Refused != nil {
			key := alike(b.Refused.Error())
			at, ok := index[key]
			if !ok {
				at = len(r.Refused)
				index[key] = at
				r.Refused = append(r.Refused, Refused{Message: b.Refused.Error(), Config: b.Config.String()})
			}
			r.Refused[at].Count++
			continue
		}
		r.Assembler = b.By
		diff := math.Abs(float64(b.Model.Registers - b.Real.Registers))
		r.Exact.Add(diff == 0)
		r.Within10.Add(diff <= 0.1*float64(b.Real.Registers))
		r.Spill.Add(b.SpillAgrees())
		r.Shared.Add(b.Model.Shared == b.Real.Shared)
		r.CTAs.Add(b.ModelCTAs == b.RealCTAs)
		if diff > 0 || !b.SpillAgrees() {
			r.Farthest = append(r.Farthest, BuiltConfig{b.Config.String(), b.Model.Registers, b.Real.Registers, b.Model.SpillBytes, b.Real.SpillBytes})
		}
	}
	off := func(b *BuiltConfig) float64 { return math.Abs(float64(b.Model-b.Real)) / float64(max(b.Real, 1)) }
	sort.SliceStable(r.Farthest, func(i, j int) bool { return off(&r.Farthest[i]) > off(&r.Farthest[j]) })
	r.Farthest = r.Farthest[:min(len(r.Farthest), mostFarthest)]
	sort.SliceStable(r.Refused, func(i, j int) bool { return r.Refused[i].Count > r.Refused[j].Count })
	return r
}

// PrintRegisters writes the summary for people.
func PrintRegisters(w io.Writer, r *Registers) error {
	fmt.Fprintf(w, "%s on %s, simulator %s: %d of %d configurations\n", r.Kernel, r.Arch, r.Engine, r.Configs, r.Of)
	if r.Exact.Of > 0 {
		fmt.Fprintf(w, "against %s: registers %.1f %% exact, %.1f %% within 10 %%; spill or no spill agrees %.1f %%; static shared memory %.1f %%; CTAs of an SM %.1f %%; of %d\n",
			r.Assembler, 100*r.Exact.Value(), 100*r.Within10.Value(), 100*r.Spill.Value(), 100*r.Shared.Value(), 100*r.CTAs.Value(), r.Exact.Of)
	}
	if len(r.Farthest) > 0 {
		fmt.Fprintln(w)
		t := markdown{{"configuration", "registers", "by the model", "spill", "by the model"}}
		for _, b := range r.Farthest {
			t = append(t, []string{b.Config, fmt.Sprint(b.Real), fmt.Sprint(b.Model), fmt.Sprint(b.RealSpill), fmt.Sprint(b.ModelSpill)})
		}
		t.print(w)
	}
	for _, f := range r.Refused {
		fmt.Fprintf(w, "%d not compared, such as %s: %s\n", f.Count, f.Config, f.Message)
	}
	_, err := fmt.Fprint(w)
	return err
}
