package tune

import (
	"fmt"
	"slices"
	"strings"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/rpc"
)

// tieRows is how many rows of a table are looked at for ties, shown or not.
const tieRows = 1000

// ranking is a ranked table: the results best first, of which the first ties may as
// well be the fastest.
type ranking struct {
	def     *kernel.Definition
	arch    *arch.Descriptor
	spec    *warptunev1.Spec
	names   []string
	results []*warptunev1.Result
	margin  fidelity.Margin
	ties    int     // the first one included; 1: it stands alone
	widest  float64 // the time of the slowest of them over that of the fastest
}

// newRanking ranks results, which are correct and best first: those that tie with the
// first stand together before the others.
func newRanking(p *plan.Plan, i int, names []string, results []*warptunev1.Result) *ranking {
	r := &ranking{def: p.Of[i].Def, arch: p.Of[i].Arch.Descriptor, spec: p.Specs[i], names: names}
	r.margin = fidelity.Expected(r.arch, message.LastLevel(r.spec))
	var others []*warptunev1.Result
	for _, row := range results {
		if len(r.results) == 0 || r.tie(results[0], row) {
			r.results = append(r.results, row)
		} else {
			others = append(others, row)
		}
	}
	if r.ties = len(r.results); r.ties > 0 {
		r.widest = r.results[r.ties-1].GetOutcome().GetTimeUs() / r.results[0].GetOutcome().GetTimeUs()
	}
	r.results = append(r.results, others...)
	return r
}

// tie reports whether a result may as well be as fast as the best.
func (r *ranking) tie(best, row *warptunev1.Result) bool {
	b, o := best.GetOutcome(), row.GetOutcome()
	return r.margin.Ties(o.GetTimeUs()/b.GetTimeUs(), b.GetMetrics()[evaluate.SamplingError], o.GetMetrics()[evaluate.SamplingError])
}

// rank is a row's place: those that tie have the first one.
func (r *ranking) rank(i int) string {
	if r.ties > 1 && i < r.ties {
		return "1="
	}
	return fmt.Sprint(i + 1)
}

// show leaves the first n rows; how many tie stays known.
func (r *ranking) show(n int) { r.results = r.results[:min(n, len(r.results))] }

// notes are the lines below the table that say how far to trust it.
func (r *ranking) notes() []string {
	var notes []string
	if r.ties > 1 {
		number := fmt.Sprint(r.ties)
		if r.ties == tieRows {
			number += " or more"
		}
		notes = append(notes, fmt.Sprintf("ties: %s configurations are within %s. Any of them may be the fastest", number, r.margin.TiesText(r.widest)))
	}
	var raised []string
	for _, row := range r.results {
		if c := r.raised(row); c != "" && !slices.Contains(raised, c) {
			raised = append(raised, c)
		}
	}
	if len(raised) > 0 {
		notes = append(notes, "* "+strings.Join(raised, "; "))
	}
	if c := fidelity.Caveat(r.arch, message.LastLevel(r.spec)); c != "" {
		notes = append(notes, "caution: "+c)
	}
	return notes
}

// json are the rows as JSON, each with whether it ties with the best.
func (r *ranking) json() ([]any, error) {
	out := make([]any, len(r.results))
	for i, row := range r.results {
		fields, err := message.Fields(row)
		if err != nil {
			return nil, err
		}
		fields["parameters"] = search.Config{Names: r.names, Values: rpc.ToValues(row.GetConfig())}
		fields["tie"] = i < r.ties && r.ties > 1
		out[i] = fields
	}
	return out, nil
}

// registers is a row's registers a thread, marked where its cap is too small.
func (r *ranking) registers(row *warptunev1.Result) string {
	text := fmt.Sprint(row.GetOutcome().GetRegisters())
	if r.raised(row) != "" {
		text += "*"
	}
	return text
}

// raised says what was made of a row's register cap, if that is too small.
func (r *ranking) raised(row *warptunev1.Result) string {
	config := search.Config{Names: r.names, Values: rpc.ToValues(row.GetConfig())}
	return input.RaisedCap(r.def, r.arch, config, r.spec.GetProblem())
}
