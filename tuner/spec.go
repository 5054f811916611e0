package tuner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	Budget   int64               `json:"budget,omitempty"` // evaluations, 0: until the strategy is done
	Seed     uint64              `json:"seed,omitempty"`
	Level    string              `json:"level"`              // "cycle" or "model"
	Compiler string              `json:"compiler,omitempty"` // "", "prebuilt", "nvcc", "clang": see package kernel
	// ArchDigest and Engine pin what may answer: the descriptor's digest and
	// the simulator's version. A worker that has others is refused.
	ArchDigest string `json:"arch_digest"`
	Engine     string `json:"engine"`
}

// Limits on a spec; a larger one is refused.
const (
	maxName       = 256
	maxDimensions = 8
	maxSetValues  = 4096
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
	if len(s.Problem) > maxDimensions {
		complain("the problem has more than %d dimensions", maxDimensions)
	}
	for _, p := range s.Problem {
		if p <= 0 {
			complain("problem size %d is not positive", p)
		}
	}
	if s.Budget < 0 {
		complain("the budget %d is negative", s.Budget)
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
	return digest(s.Scope(), s.Arch, s.Strategy, fmt.Sprint(s.Budget, s.Seed), digest(set...), key)[:16]
}

// Scope returns the digest of all that decides a configuration's outcome
// besides the configuration: outcomes may answer for one another only within
// one scope.
func (s *Spec) Scope() string {
	return digest(s.Kernel, s.Bundle, fmt.Sprint(s.Problem), s.Level, s.Compiler, s.ArchDigest, s.Engine)
}

// Clone returns a deep copy.
func (s *Spec) Clone() Spec {
	c := *s
	c.Problem = slices.Clone(s.Problem)
	if s.Set != nil {
		c.Set = make(map[string][]string, len(s.Set))
		for n, vs := range s.Set {
			c.Set[n] = slices.Clone(vs)
		}
	}
	return c
}
