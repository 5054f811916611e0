package measure

import (
	"cmp"
	"slices"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/rpc"
)

// selection is what is to be measured of a sweep that was predicted.
type selection struct {
	configs   []string // as Config.String writes them, fastest first; nil: all that the search asks for
	predicted map[string]forecast
	unsure    int // of configs: those that are not among the fastest
}

// forecast is what was predicted of a configuration.
type forecast struct {
	rank   int // from 1
	timeUS float64
	bound  string
}

// unsureShare is how many more are measured than are asked for: one for four.
const unsureShare = 4

// unsureReach is how far down the ranking these are looked for, in multiples of what is asked for.
const unsureReach = 4

// selectFrom selects the k configurations that are predicted fastest, and those of the ones that follow whose
// prediction is the least sure. First come those of which sampling may have the time wrong, then those of which
// something else bounds the time than of those selected already.
func selectFrom(top *warptunev1.TopResponse, k int) selection {
	s := selection{predicted: map[string]forecast{}}
	var correct []*warptunev1.Result
	text := map[*warptunev1.Result]string{}
	for _, r := range top.GetResults() {
		if o := r.GetOutcome(); o.GetValidity() == warptunev1.Validity_VALIDITY_CORRECT {
			correct = append(correct, r)
			text[r] = search.Config{Names: top.GetNames(), Values: rpc.ToValues(r.GetConfig())}.String()
			s.predicted[text[r]] = forecast{len(correct), o.GetTimeUs(), o.GetBound()}
		}
	}
	k = min(k, len(correct))
	bounds := map[string]bool{}
	take := func(r *warptunev1.Result) {
		s.configs = append(s.configs, text[r])
		bounds[r.GetOutcome().GetBound()] = true
	}
	for _, r := range correct[:k] {
		take(r)
	}
	rest := slices.Clone(correct[k:min(unsureReach*k, len(correct))])
	slices.SortStableFunc(rest, func(a, b *warptunev1.Result) int { return cmp.Compare(sampled(b), sampled(a)) })
	more := (k + unsureShare - 1) / unsureShare
	for _, r := range rest {
		if s.unsure < more && (sampled(r) > 0 || !bounds[r.GetOutcome().GetBound()]) {
			take(r)
			s.unsure++
		}
	}
	return s
}

// byRank orders configurations as they were predicted.
func (s *selection) byRank(a, b string) int {
	return cmp.Compare(s.predicted[a].rank, s.predicted[b].rank)
}

// sampled is by what share sampling may have a prediction wrong.
func sampled(r *warptunev1.Result) float64 {
	return r.GetOutcome().GetMetrics()[evaluate.SamplingError]
}
