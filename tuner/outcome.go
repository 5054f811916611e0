package tuner

import (
	"maps"
	"math"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/warptune/warptune/search"
)

// Outcome is what evaluating one configuration gave.
type Outcome struct {
	Validity Validity `json:"validity"`
	TimeUS   float64  `json:"time_us,omitempty"` // predicted or (Device) measured time, microseconds; 0 unless Correct
	// FloorUS is a time that the configuration is not below at any level,
	// microseconds; 0: not known.
	FloorUS  float64 `json:"floor_us,omitempty"`
	Message  string  `json:"message,omitempty"`  // why it is not Correct, one line or a compiler's output
	Compiler string  `json:"compiler,omitempty"` // which compiler made the PTX, e.g. "nvrtc 13.0 (prebuilt)"
	Digest   string  `json:"digest,omitempty"`   // of (PTX, launch, arguments, descriptor, engine, level): the reuse key

	Registers  int     `json:"registers,omitempty"`   // per thread
	SpillBytes int     `json:"spill_bytes,omitempty"` // per thread
	Shared     int     `json:"shared,omitempty"`      // bytes per CTA, static and dynamic
	CarveOut   int     `json:"carve_out,omitempty"`   // bytes
	Occupancy  float64 `json:"occupancy,omitempty"`   // theoretical, 0 to 1
	Limiter    string  `json:"limiter,omitempty"`     // what limits occupancy: registers, shared, warps, ctas
	Bound      string  `json:"bound,omitempty"`       // what bounds the time, e.g. "dram"
	// Metrics are simulated counters under Nsight Compute's names.
	Metrics map[string]float64 `json:"metrics,omitempty"`

	// Checked is what was executed and looked for.
	Checked Checked `json:"checked,omitzero"`
	// Device is the GPU on which the time was measured, its driver and what made its code; "":
	// the time is predicted.
	Device string `json:"device,omitempty"`

	// Found says that the worker did not evaluate: it found what is stored under
	// Digest.
	Found bool `json:"-"`
}

// Checked is what was executed of a configuration's launch, and looked for in it. The zero value:
// it was not recorded.
type Checked struct {
	CTAs    int64  `json:"ctas"`               // that were executed
	Full    int64  `json:"full,omitempty"`     // of those, in full: of the others what addresses and branches depend on
	Of      int64  `json:"of"`                 // CTAs of the grid
	For     string `json:"for,omitempty"`      // what was looked for in all of them
	ForFull string `json:"for_full,omitempty"` // and in those executed in full as well
	// Compared is how many elements of outputs were compared, and Outputs says with what, or why not.
	Compared int64  `json:"compared,omitempty"`
	Outputs  string `json:"outputs,omitempty"`
	Warnings string `json:"warnings,omitempty"`
}

// Recorded reports whether it is known what was checked.
func (c *Checked) Recorded() bool { return c.Of > 0 }

// Same reports whether two workers came to the same: all but messages, which may
// name what differs from machine to machine, and a floor that one does not know.
func (o *Outcome) Same(p *Outcome) bool {
	a, b := *o, *p
	a.Message, b.Message, a.Found, b.Found = "", "", false, false
	if a.FloorUS == 0 || b.FloorUS == 0 {
		a.FloorUS, b.FloorUS = 0, 0
	}
	if a.Checked.Of == 0 || b.Checked.Of == 0 { // one is of a version that did not record it
		a.Checked, b.Checked = Checked{}, Checked{}
	}
	am, bm := a.Metrics, b.Metrics
	a.Metrics, b.Metrics = nil, nil
	return reflect.DeepEqual(&a, &b) && maps.Equal(am, bm)
}

// mustEqual reports whether two outcomes of a configuration must be the same:
// they are not by different compilers, neither ended because it took long, and neither was measured.
func (o *Outcome) mustEqual(p *Outcome) bool {
	if o.Validity == Timeout || p.Validity == Timeout || o.Device != "" || p.Device != "" {
		return false
	}
	return o.Compiler == p.Compiler || o.Compiler == "" || p.Compiler == ""
}

// Limits on an outcome; longer texts are cut, more metrics are refused.
const (
	MaxMessage = 4096
	MaxMetrics = 256
	// leastFloor, microseconds: any time is a finite multiple of it (Proof.Gap).
	leastFloor = 1e-18
)

// Clip returns a text of at most n bytes, cut between letters if it is longer,
// with U+FFFD for what is no UTF-8: only that can be sent and stored.
func Clip(s string, n int) string {
	const cut = "…"
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	end := n - len(cut)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + cut
}

// Check says why an outcome makes no sense, nil if it does. Whoever produced
// one that does not is at fault, not the configuration.
func (o *Outcome) Check() error {
	const op = "check outcome"
	finite := func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
	switch {
	case !o.Validity.Valid():
		return Errorf(Invalid, op, "%s is no kind of outcome", o.Validity)
	case o.Validity == Correct && !(o.TimeUS > 0 && o.TimeUS < 1e18):
		return Errorf(Invalid, op, "the time %g µs is not positive and finite", o.TimeUS)
	case o.Validity != Correct && o.TimeUS != 0:
		return Errorf(Invalid, op, "an outcome %q has a time, %g µs", o.Validity, o.TimeUS)
	case !(o.FloorUS == 0 || o.FloorUS >= leastFloor && o.FloorUS <= o.TimeUS):
		return Errorf(Invalid, op, "the floor %g µs is not between 0 and the time, %g µs", o.FloorUS, o.TimeUS)
	case !(o.Occupancy >= 0 && o.Occupancy <= 1):
		return Errorf(Invalid, op, "the occupancy %g is not between 0 and 1", o.Occupancy)
	case o.Registers < 0 || o.SpillBytes < 0 || o.Shared < 0 || o.CarveOut < -1:
		return Errorf(Invalid, op, "negative resources")
	case o.Checked.CTAs < 0 || o.Checked.Full < 0 || o.Checked.Compared < 0 || o.Checked.CTAs > o.Checked.Of || o.Checked.Full > o.Checked.CTAs:
		return Errorf(Invalid, op, "%d CTAs of %d are checked, %d of them in full", o.Checked.CTAs, o.Checked.Of, o.Checked.Full)
	case len(o.Metrics) > MaxMetrics:
		return Errorf(Invalid, op, "%d metrics, more than %d", len(o.Metrics), MaxMetrics)
	case max(len(o.Message), len(o.Compiler), len(o.Digest), len(o.Limiter), len(o.Bound), len(o.Device),
		len(o.Checked.For), len(o.Checked.ForFull), len(o.Checked.Outputs), len(o.Checked.Warnings)) > MaxMessage:
		return Errorf(Invalid, op, "a text is longer than %d bytes", MaxMessage)
	}
	for _, text := range []string{o.Compiler, o.Digest, o.Limiter, o.Bound, o.Device, o.Checked.For, o.Checked.ForFull, o.Checked.Outputs, o.Checked.Warnings} {
		if strings.ContainsFunc(text, unicode.IsControl) {
			return Errorf(Invalid, op, "%.80q has control characters", text)
		}
	}
	for name, v := range o.Metrics {
		if !finite(v) || name == "" || len(name) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
			return Errorf(Invalid, op, "metric %.80q has the value %g", name, v)
		}
	}
	return nil
}

// Clone returns a deep copy.
func (o *Outcome) Clone() Outcome {
	c := *o
	c.Metrics = maps.Clone(o.Metrics)
	return c
}

// Question is what a worker is asked to evaluate: one configuration of a sweep.
type Question struct {
	Sweep  string // its identity, for messages
	Spec   Spec
	Seq    int64 // the trial's number in its sweep
	Index  int64 // the configuration's index in the space
	Config search.Config
	// Descriptor is the text of the spec's architecture descriptor, nil where it
	// names none.
	Descriptor []byte
	// Again says that the outcome is known and is to be found out once more, to
	// confirm it: no stored outcome answers.
	Again bool
	// Ahead are configurations of the sweep, at the same level, that the worker
	// is likely to be asked next. It is told of each once.
	Ahead []search.Config
}

// Result is one trial's end as it is stored: an outcome, or that it was given
// up.
type Result struct {
	Seq      int64 `json:"seq"`
	Index    int64 `json:"index"`
	Attempts int   `json:"attempts"` // how many times it was granted; 0: nobody had to be asked
	// Reused says that an outcome stored for another sweep answered it: of the same
	// configuration, and nobody was asked, or of the same question (Outcome.Digest),
	// which the worker that was granted it found.
	Reused bool `json:"reused,omitempty"`
	// Abandoned says that every worker that took it was lost or failed, and
	// Outcome.Message says how. The outcome has no validity then.
	Abandoned bool `json:"abandoned,omitempty"`
	// Worker is who evaluated it; "": it is not known.
	Worker  string  `json:"worker,omitempty"`
	Outcome Outcome `json:"outcome"`
}

// Clone returns a deep copy.
func (r *Result) Clone() Result {
	c := *r
	c.Outcome = r.Outcome.Clone()
	return c
}

// Less orders results of one sweep from best to worst: those with a time by
// time, then by index; then the others by index.
func (r *Result) Less(s *Result) bool {
	rc, sc := r.Outcome.Validity == Correct, s.Outcome.Validity == Correct
	switch {
	case rc != sc:
		return rc
	case rc && r.Outcome.TimeUS != s.Outcome.TimeUS:
		return r.Outcome.TimeUS < s.Outcome.TimeUS
	}
	return r.Index < s.Index
}
