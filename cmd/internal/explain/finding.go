package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/simengine/ideal"
	"github.com/warptune/warptune/tuner/plot"
)

// Finding is a cost, what it comes of and what would help.
type Finding struct {
	Topic string `json:"topic"`
	// Line is where, "" where it is nowhere in particular; Text the source there.
	Line string `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
	// Evidence is what is seen, Remedy what helps.
	Evidence string `json:"evidence"`
	Remedy   string `json:"remedy"`
	// TimeUS is the time without it, microseconds, and Gain how many times faster that is; 0: not known. Estimated says
	// that no machine without it was simulated.
	TimeUS    float64 `json:"time_us,omitempty"`
	Gain      float64 `json:"times_faster,omitempty"`
	Estimated bool    `json:"estimated,omitempty"`
	// Then is what bounds the machine without it, in words.
	Then string `json:"then_bound_by,omitempty"`
	// StillBound says that it bounds the launch as it is, too.
	StillBound bool `json:"still_bound,omitempty"`
	// With is a second change with which it gains more than both by themselves, nil: there is none.
	With *Both `json:"with,omitempty"`
	// WithFirst is, of the second finding, what it and the first gain together, where that is not more than both by
	// themselves; Overlaps says that it is hardly more than the first by itself.
	WithFirst *Both `json:"with_first,omitempty"`
	Overlaps  bool  `json:"overlaps,omitempty"`
	// Beyond is what a change of the kernel may gain besides, which the machine without the cost leaves out.
	Beyond string `json:"beyond,omitempty"`
	// Outside says that it is no matter of the kernel's code.
	Outside bool `json:"outside_kernel,omitempty"`

	// Relieves is what warps wait for much less without it.
	Relieves string `json:"relieves,omitempty"`

	advice []advice
}

// Both is what a mechanism and a second one cost together.
type Both struct {
	Topic  string  `json:"topic"` // of the second
	TimeUS float64 `json:"time_us"`
	Gain   float64 `json:"times_faster"`
}

// advice is a part of a remedy. What makes CTAs larger, or gives them more work, is against what makes them smaller.
type advice struct {
	text string
	size int // of CTAs: +1 larger, -1 smaller, 0 as they are
}

// advise adds parts to a remedy that do not change how large CTAs are.
func (f *Finding) advise(texts ...string) {
	for _, text := range texts {
		f.advice = append(f.advice, advice{text: text})
	}
}

// rank is by how much a finding is worth attention: its gain. What is hidden by another cost counts by what it adds to
// the gain without that.
func (f *Finding) rank(s *Subject) float64 {
	m, err := ideal.Parse(f.Topic)
	if f.With == nil || err != nil || !evaluate.Structural.Has(m) {
		return f.Gain
	}
	other, err := ideal.Parse(f.With.Topic)
	if err != nil || evaluate.Structural.Has(other) {
		return f.Gain
	}
	return max(f.Gain, f.With.Gain/gainOf(s, other))
}

// Sentence is a finding in words.
func (f *Finding) Sentence() string {
	var sb strings.Builder
	if f.Line != "" {
		sb.WriteString(lineName(f.Line))
		if f.Text != "" {
			fmt.Fprintf(&sb, " (%s)", f.Text)
		}
		sb.WriteString(": ")
	}
	sb.WriteString(f.Evidence)
	if f.Remedy != "" {
		sb.WriteString(". " + f.Remedy)
	}
	if f.Gain > 0 {
		sb.WriteString(". " + f.gainText())
	}
	return sb.String() + "."
}

// gainText is what is gained, what binds then, and what a second change adds.
func (f *Finding) gainText() string {
	text := cmp.Or(ifs[f.Topic], "Without it")
	switch {
	case f.Gain < leastGain:
		text += ", nothing would be gained"
	case f.Estimated:
		text += ": about " + gained(f.TimeUS, f.Gain)
	default:
		text += ": " + gained(f.TimeUS, f.Gain)
	}
	switch {
	case f.Then != "" && f.StillBound:
		text += "; " + f.Then + " would still bound it"
	case f.Then != "":
		text += "; then " + f.Then + " would bound it"
	}
	if f.Relieves != "" {
		text += ", and " + f.Relieves
	}
	if f.Beyond != "" {
		text += ". A change may gain more: " + f.Beyond
	}
	if f.With != nil {
		text += ". " + cmp.Or(ands[f.With.Topic], f.With.Topic+" too") + ": " + gained(f.With.TimeUS, f.With.Gain)
	}
	if f.WithFirst != nil {
		text += ". Together with finding 1: " + gained(f.WithFirst.TimeUS, f.WithFirst.Gain)
	}
	if f.Overlaps {
		text += ", hardly more than that by itself"
	}
	return text
}

func gained(us, times float64) string {
	return fmt.Sprintf("%s, %.2f times faster", plot.Microseconds(us), times)
}

// Topics that are no mechanisms.
const (
	topicTail    = "tail"
	topicCompute = "compute"
	topicGap     = "between launches"
)

// ifs are what-ifs in words, by topic.
var ifs = map[string]string{
	ideal.Banks.String(): "Without conflicts", ideal.Coalescing.String(): "If it were coalesced", ideal.Constants.String(): "If lanes were served all at a time",
	ideal.Atomics.String(): "If each CTA added to each word once", ideal.SharedAtomics.String(): "If lanes of one word were served all at a time", ideal.L2Atomics.String(): "If these atomics cost L2 nothing",
	ideal.L1.String(): "If L1 had all of it", ideal.DRAM.String(): "If L2 had all of it", ideal.Latency.String(): "If memory answered at once",
	ideal.Dependency.String(): "If arithmetic took a cycle", ideal.Occupancy.String(): "With as many warps as fit an SM", ideal.Spills.String(): "Without spills",
	ideal.LocalArrays.String(): "Without these accesses", ideal.Divergence.String(): "If lanes that go the same way shared warps", ideal.Barriers.String(): "If nobody waited",
	ideal.Launch.String(): "If CTAs were launched at once", topicTail: "If SMs shared it evenly", topicCompute: "If other pipes did this work in as many instructions",
	ideal.L1Bandwidth.String(): "If L1 and shared memory moved bytes at no cost", ideal.L2Bandwidth.String(): "If L2 moved bytes at no cost", topicGap: "Without it",
	ideal.CTAWork.String(): "If CTAs were so few that this cost nothing",
}

// ands are second what-ifs in words, by topic.
var ands = map[string]string{
	ideal.Banks.String(): "Without bank conflicts too", ideal.Coalescing.String(): "With coalesced accesses too", ideal.Constants.String(): "With one constant for all lanes too",
	ideal.Atomics.String(): "With each CTA adding to each word once too", ideal.SharedAtomics.String(): "Without lanes that wait for one word too",
	ideal.L2Atomics.String(): "With so few CTAs that these additions cost L2 nothing", ideal.Latency.String(): "With the latency of memory hidden too", ideal.L1.String(): "With all loads found in L1 too", ideal.DRAM.String(): "With all of it found in L2 too",
	ideal.L1Bandwidth.String(): "If L1 and shared memory moved bytes at no cost, too", ideal.L2Bandwidth.String(): "If L2 moved bytes at no cost, too", ideal.Pipes.String(): "With the arithmetic on pipes that are idle too", ideal.Dependency.String(): "With the latency of arithmetic hidden too",
	ideal.Occupancy.String(): "With as many warps as fit an SM too", ideal.Spills.String(): "Without spills too", ideal.LocalArrays.String(): "With variables in registers too",
	ideal.Divergence.String(): "Without divergence too", ideal.Barriers.String(): "Without waiting at barriers too", ideal.Launch.String(): "With more work a CTA, so that launching costs nothing, too",
	ideal.CTAWork.String(): "With so few CTAs that all that each does once costs nothing",
}
