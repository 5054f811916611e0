package tuner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/warptune/warptune/search"
)

// Spec is what a user submits: one kernel, one architecture, one problem size.
type Spec struct {
	Kernel  string  `json:"kernel"` // kernel name, e.g. "transpose_tiled"
	Bundle  string  `json:"bundle"` // digest of the kernel bundle: definition, sources, prebuilt PTX
	Arch    string  `json:"arch"`   // descriptor name
	Problem []int64 `json:"problem,omitempty"`
	// Set restricts parameters to the values given, as text: NAME -> values.
	Set      map[string][]string `json:"set,omitempty"`
	Strategy string              `json:"strategy"`
	Budget   int64               `json:"budget,omitempty"` // evaluations at the last level, 0: until the strategy is done
	// TimeBudget bounds the time during which trials are under way; 0: no limit.
	TimeBudget time.Duration `json:"time_budget,omitempty"`
	// Within is the share of the fastest's time by which the best may be slower
	// when the sweep ends: it goes on until that is proven. It takes two levels.
	// nil: it ends when the strategy is done, or ranking says so.
	Within *float64 `json:"within,omitempty"`
	// Patience and Negligible end the search early: see stopping.Rule. With two
	// levels it is ranking that they end.
	Patience   int64   `json:"patience,omitempty"`
	Negligible float64 `json:"negligible,omitempty"`
	Seed       uint64  `json:"seed,omitempty"`
	// Level is "cycle" or "model", or both in a list: configurations are ranked
	// at the first, and the promising ones evaluated at the last (see Levels).
	Level    string `json:"level"`
	Compiler string `json:"compiler,omitempty"` // "", "prebuilt", "nvcc", "clang": see package kernel
	// Start are configurations to ask for first, as Config.String writes them.
	// Those that are not in the space are left out.
	Start []string `json:"start,omitempty"`
	// Transfer also asks first for what is stored as the best of the kernel at
	// other problem sizes and architectures (see Sweep.Transferred).
	Transfer bool `json:"transfer,omitempty"`
	// Check says how much of each launch is executed to check it: "" (a sample of its CTAs),
	// "none" or "all". Faults is "warn" where harmless ones do not fail a configuration, else "".
	Check  string `json:"check,omitempty"`
	Faults string `json:"faults,omitempty"`
	// ArchDigest and Engine pin what may answer: the descriptor's digest and
	// the simulator's version. A worker that has others is refused.
	ArchDigest string `json:"arch_digest"`
	Engine     string `json:"engine"`
	// On are labels that a worker must have, e.g. gpu; nil: none.
	On map[string]string `json:"on,omitempty"`
	// Descriptor is the SHA-256 of the descriptor's text, which is stored as bundles
	// are and travels with the sweep; "": the workers' own of that name.
	Descriptor string `json:"descriptor,omitempty"`
	// Predictions is the SHA-256 of times that were predicted of configurations, which the
	// strategy begins with (see Predictions); they are stored as bundles are. "": none.
	Predictions string `json:"predictions,omitempty"`
}

// Limits on a spec; a larger one is refused.
const (
	maxName       = 256
	maxDimensions = 16
	maxSetValues  = 4096
	maxStart      = 1024
	maxStartText  = 64 << 10 // bytes
	maxLabels     = 16
)

// Validate reports everything that is wrong with the spec at once.
func (s *Spec) Validate() error {
	var wrong []string
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	name := func(field, v string, required bool) {
		switch {
		case required && v == "":
			complain("%s is missing", field)
		case len(v) > maxName:
			complain("%s is longer than %d bytes", field, maxName)
		case strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f || r == '�' }):
			complain("%s has control characters or invalid UTF-8", field)
		}
	}
	name("kernel", s.Kernel, true)
	name("bundle", s.Bundle, true)
	name("arch", s.Arch, true)
	name("strategy", s.Strategy, true)
	name("level", s.Level, true)
	name("compiler", s.Compiler, false)
	name("descriptor digest", s.ArchDigest, true)
	name("engine", s.Engine, true)
	name("descriptor", s.Descriptor, false)
	name("predictions", s.Predictions, false)
	if len(s.Problem) > maxDimensions {
		complain("the problem has more than %d dimensions", maxDimensions)
	}
	for _, p := range s.Problem {
		if p < 0 { // 0 is a flag's, in launch records
			complain("problem size %d is negative", p)
		}
	}
	s.validateBudget(complain)
	s.validateStart(complain)
	if s.Check != "" && s.Check != "none" && s.Check != "all" {
		complain("the depth of checking %.80q is none: it is all or none, or not given for a sample", s.Check)
	}
	if s.Faults != "" && s.Faults != "warn" {
		complain("%.80q says nothing of faults: it is warn or not given", s.Faults)
	}
	for n, v := range s.On {
		name("label "+n, n, true)
		name("label "+n, v, false)
	}
	if len(s.On) > maxLabels {
		complain("%d labels, more than %d", len(s.On), maxLabels)
	}
	if measured := strings.HasPrefix(s.Engine, MeasuringEngine); measured != s.Measured() {
		complain("level %s does not go with engine %s: %s is measured, by engines called %s…", s.Level, s.Engine, LevelMeasured, MeasuringEngine)
	}
	values := 0
	for n, vs := range s.Set {
		name("parameter name "+n, n, true)
		values += len(vs)
	}
	if values > maxSetValues {
		complain("more than %d values in the restrictions", maxSetValues)
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return Errorf(Invalid, "check spec", "%s", strings.Join(wrong, "; "))
	}
	return nil
}

// validateBudget complains of levels and budgets that make no sense.
func (s *Spec) validateBudget(complain func(string, ...any)) {
	levels := s.Levels()
	if len(levels) > maxLevels || slices.Contains(levels, "") || len(levels) == 2 && levels[0] == levels[1] {
		complain("the level %q is none, nor two different ones as in \"model,cycle\"", s.Level)
	}
	if s.Budget < 0 {
		complain("the budget %d is negative", s.Budget)
	}
	if s.TimeBudget < 0 {
		complain("the time budget %s is negative", s.TimeBudget)
	}
	if s.Patience < 0 {
		complain("the patience %d is negative", s.Patience)
	}
	if !(s.Negligible >= 0 && s.Negligible < 1) {
		complain("%g is no share to be negligible", s.Negligible)
	}
	if s.Within != nil && !(*s.Within >= 0 && *s.Within < 1e9) {
		complain("the best cannot be within %g of the fastest", *s.Within)
	} else if s.Within != nil && len(levels) < 2 {
		complain("a proof needs two levels, as in \"model,cycle\": level %s alone says nothing of configurations that it did not evaluate", s.Level)
	}
}

// validateStart complains of configurations that make no sense.
func (s *Spec) validateStart(complain func(string, ...any)) {
	if len(s.Start) > maxStart {
		complain("%d configurations to begin with, more than %d", len(s.Start), maxStart)
	}
	if s.Strategy == StrategyListed && (len(s.Start) == 0 || s.Budget != int64(len(s.Start))) {
		complain("strategy %s wants configurations to start with, and a budget of as many", StrategyListed)
	}
	size := 0
	for _, text := range s.Start {
		size += len(text)
	}
	if size > maxStartText {
		complain("configurations to begin with of %d bytes, more than %d: name fewer", size, maxStartText)
		return
	}
	for _, text := range s.Start {
		if _, err := search.ParseAssignments(text); err != nil || len(text) > MaxMessage {
			complain("%.80q is no configuration", text)
			break
		}
	}
}

// LevelMeasured is the level of a sweep whose configurations are timed on GPUs, and
// MeasuringEngine what the names of engines begin with that do that. Nothing else of a
// sweep's course differs.
const (
	LevelMeasured   = "measured"
	MeasuringEngine = "gpu-"
)

// StrategyListed evaluates the configurations that a spec starts with, and no others.
// It searches for nothing: what is best of them is nobody's best.
const StrategyListed = "listed"

// Measured reports whether the sweep's configurations are timed on GPUs.
func (s *Spec) Measured() bool { return s.LastLevel() == LevelMeasured }

// maxLevels is how many levels a spec may name.
const maxLevels = 2

// Levels are the levels at which configurations are evaluated: one, or the one
// that ranks and the one that decides.
func (s *Spec) Levels() []string { return strings.Split(s.Level, ",") }

// LastLevel is the level whose outcomes count.
func (s *Spec) LastLevel() string { return s.Level[strings.LastIndexByte(s.Level, ',')+1:] }

// digest hashes texts, each with its length, so that no two lists collide.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ID returns the identity of the sweep of this spec under a client's key: 16
// hexadecimal digits of their digest. The same spec and key is the same sweep.
func (s *Spec) ID(key string) string {
	set := make([]string, 0, 2*len(s.Set))
	for _, n := range slices.Sorted(maps.Keys(s.Set)) {
		set = append(set, n, fmt.Sprintf("%q", s.Set[n]))
	}
	parts := []string{s.Scope(), s.Arch, s.Strategy, fmt.Sprint(s.Budget, s.Seed), digest(set...), key}
	if more := s.further(); more != "" {
		parts = append(parts, more)
	}
	return digest(parts...)[:16]
}

// further is what of the identity few sweeps have; "" for the others.
func (s *Spec) further() string {
	within := ""
	if s.Within != nil {
		within = fmt.Sprint(*s.Within)
	}
	if s.Level == s.LastLevel() && s.TimeBudget == 0 && within == "" && len(s.Start) == 0 && !s.Transfer && s.Patience == 0 && s.Negligible == 0 && s.Descriptor == "" && s.Predictions == "" {
		return ""
	}
	parts := []string{s.Level, fmt.Sprint(s.TimeBudget, s.Transfer), within, digest(s.Start...)}
	if s.Patience != 0 || s.Negligible != 0 {
		parts = append(parts, fmt.Sprint(s.Patience, s.Negligible))
	}
	if s.Descriptor != "" {
		parts = append(parts, "descriptor", s.Descriptor)
	}
	if s.Predictions != "" {
		parts = append(parts, "predictions", s.Predictions)
	}
	return digest(parts...)
}

// Scope returns the digest of all that decides a configuration's outcome at the
// last level besides the configuration: outcomes may answer for one another
// only within one scope.
func (s *Spec) Scope() string { return s.scope(s.LastLevel()) }

func (s *Spec) scope(level string) string {
	parts := []string{s.Kernel, s.Bundle, fmt.Sprint(s.Problem), level, s.Compiler, s.ArchDigest, s.Engine}
	if s.Check != "" || s.Faults != "" {
		parts = append(parts, s.Check, s.Faults)
	}
	for _, label := range slices.Sorted(maps.Keys(s.On)) { // another GPU's times are others
		parts = append(parts, "on", label, s.On[label])
	}
	return digest(parts...)
}

// Scopes returns the scopes of all levels, in order.
func (s *Spec) Scopes() []string {
	var scopes []string
	for _, level := range s.Levels() {
		scopes = append(scopes, s.scope(level))
	}
	return scopes
}

// Clone returns a deep copy.
func (s *Spec) Clone() Spec {
	c := *s
	c.Problem, c.Start = slices.Clone(s.Problem), slices.Clone(s.Start)
	if s.Within != nil {
		within := *s.Within
		c.Within = &within
	}
	c.On = maps.Clone(s.On)
	if s.Set != nil {
		c.Set = make(map[string][]string, len(s.Set))
		for n, vs := range s.Set {
			c.Set[n] = slices.Clone(vs)
		}
	}
	return c
}
