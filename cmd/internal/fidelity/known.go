package fidelity

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/score"
)

// known.json is the one place of figures that say how far to trust a prediction.
//
//go:embed known.json
var knownText []byte

// Experience is how predictions came out on one set of measurements.
type Experience struct {
	Arch  string `json:"arch"`
	Level string `json:"level"`
	// Set says what was measured, Source where the figures stand.
	Set    string `json:"set"`
	Source string `json:"source"`
	// Configs is how many configurations were measured.
	Configs int `json:"configurations"`
	// Regret1, of all groups the geometric mean, is the measured time of the
	// configuration predicted fastest over the best there was, and MAPE the mean error
	// of the times, as in score.Summary.
	Regret1 float64 `json:"regret_1"`
	MAPE    float64 `json:"mape"`
	// Others says that the kernels were written by somebody who saw nothing of the
	// simulator, as those are that users bring. The simulator has learnt of them since,
	// so a new kernel's errors are hardly smaller.
	Others bool `json:"others,omitempty"`
	// Contest is score.Summary.Contest; 0: not computed.
	Contest float64 `json:"contest,omitempty"`
}

var known = sync.OnceValues(func() (all []Experience, err error) {
	err = json.Unmarshal(knownText, &all)
	return all, err
})

// Known returns what is known of predictions for an architecture at a level: of the
// architecture itself or, where nothing was measured, of others of its compute
// capability. It is empty where nothing is known.
func Known(d *arch.Descriptor, level string) []Experience {
	all, err := known()
	if err != nil {
		return nil
	}
	of := func(is func(name string) bool) []Experience {
		return slices.DeleteFunc(slices.Clone(all), func(e Experience) bool { return e.Level != level || !is(e.Arch) })
	}
	if own := of(func(name string) bool { return name == d.Name }); len(own) > 0 {
		return own
	}
	return of(func(name string) bool {
		o, err := arch.Load(name)
		return err == nil && o.CC == d.CC
	})
}

// Margin is by what share two predicted times must differ for their order to mean
// something.
type Margin struct {
	// Share is the expected error of the ratio of two times at the top of a ranked
	// table: score.Summary.Contest over the sets of others measured, each weighted by its
	// configurations.
	Share float64 `json:"share"`
	// Configs is of how many configurations it is.
	Configs int `json:"configurations"`
	// Of names the architectures that it was measured on.
	Of []string `json:"measured_on"`
	// Borrowed says that the architecture asked for is not among them, nor one of its
	// compute capability: its predictions are hardly better.
	Borrowed bool `json:"borrowed"`
}

// Expected returns the margin for an architecture and a level. Where nothing was
// measured of it, it is that of all that was measured.
func Expected(d *arch.Descriptor, level string) Margin {
	m := marginOf(Known(d, level))
	if m.Configs > 0 {
		return m
	}
	all, _ := known()
	m = marginOf(slices.DeleteFunc(slices.Clone(all), func(e Experience) bool { return e.Level != level }))
	m.Borrowed = true
	return m
}

func marginOf(from []Experience) Margin {
	var m Margin
	for _, e := range from {
		if e.Contest <= 0 || !e.Others {
			continue
		}
		m.Share += e.Contest * float64(e.Configs)
		m.Configs += e.Configs
		if !slices.Contains(m.Of, e.Arch) {
			m.Of = append(m.Of, e.Arch)
		}
	}
	if m.Configs > 0 {
		m.Share /= float64(m.Configs)
	}
	return m
}

// Ties reports whether a configuration may as well be as fast as the one predicted
// fastest: over is its time over that one's; sampling are the errors that both
// predictions say they have (Report.ErrorShare).
func (m *Margin) Ties(over float64, sampling ...float64) bool {
	share := m.Share
	for _, s := range sampling {
		share = math.Hypot(share, s)
	}
	return over <= 1+share
}

// Text says what the margin is.
func (m *Margin) Text() string {
	text := fmt.Sprintf("%.1f %%, the median error of the ratio of two predicted times near the best (%d configurations of others' kernels, measured on %s", 100*m.Share, m.Configs, strings.Join(m.Of, " and "))
	if m.Borrowed {
		text += "; nothing like it is known of this architecture"
	}
	return text + ")"
}

// TiesText says what configurations have in common that tie, the slowest of which takes so many times as long as the
// fastest: the margin, and where sampling makes more of them tie, that.
func (m *Margin) TiesText(widest float64) string {
	return score.TiesText(m.Text(), m.Ties(widest), widest)
}

// Sentence says what the margin means for two configurations.
func (m *Margin) Sentence() string {
	text := fmt.Sprintf("Two configurations whose predicted times differ by less than about %.0f %% may be in either order: this is the median error of the ratio of two predicted times, of %d configurations of others' kernels, measured on %s.",
		100*m.Share, m.Configs, strings.Join(m.Of, " and "))
	if m.Borrowed {
		text += " Nothing was measured on this GPU or its like, where it may be more."
	}
	return text
}

// Unverified counts the figures of a descriptor that nobody measured or read again.
func Unverified(d *arch.Descriptor) (unverified, of int) {
	for _, n := range d.Numbers {
		if !n.Verified {
			unverified++
		}
	}
	return unverified, len(d.Numbers)
}

// Caveat says that the figures of an architecture are mostly not verified, with what
// came of such predictions where there is data; "" where most are.
func Caveat(d *arch.Descriptor, level string) string {
	unverified, of := Unverified(d)
	if 2*unverified <= of {
		return ""
	}
	text := fmt.Sprintf("%d of the %d figures of %s are not verified (warptune archs %s)", unverified, of, d.Name, d.Name)
	from := Known(d, level)
	if len(from) == 0 {
		return text + fmt.Sprintf("; no prediction for compute capability %d.%d was measured yet", d.CC[0], d.CC[1])
	}
	regret, mape := span{}, span{}
	var on, sources []string
	configs := 0
	for _, e := range from {
		regret.add(e.Regret1)
		mape.add(100 * e.MAPE)
		configs += e.Configs
		on, sources = appendNew(on, e.Arch), appendNew(sources, e.Source)
	}
	return text + fmt.Sprintf("; of %d configurations measured on %s the one predicted fastest took %s times the best one's time, and times were off by %s %% (%s)",
		configs, strings.Join(on, " and "), regret.text("%.2f"), mape.text("%.0f"), strings.Join(sources, "; "))
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// span is the least and the greatest of some numbers.
type span struct {
	lo, hi float64
	some   bool
}

func (s *span) add(v float64) {
	if !s.some {
		s.lo, s.hi, s.some = v, v, true
	}
	s.lo, s.hi = min(s.lo, v), max(s.hi, v)
}

func (s *span) text(format string) string {
	lo, hi := fmt.Sprintf(format, s.lo), fmt.Sprintf(format, s.hi)
	if lo == hi {
		return lo
	}
	return lo + " to " + hi
}
