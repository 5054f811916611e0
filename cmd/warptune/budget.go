package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// budget is what --budget says: when a sweep has done enough.
type budget struct {
	evaluations int64
	time        time.Duration
	within      *float64 // of the fastest, as a share; nil: no proof is asked for
}

// budgetForms is what --budget takes, for its help and its errors.
const budgetForms = `evaluations as in "200", a time as in "10m" or "1h30m", a proof as in "within=2%", or several with commas`

// parseBudget reads --budget.
func parseBudget(text string) (budget, error) {
	var b budget
	if text == "" {
		return b, nil
	}
	given := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		kind, err := b.add(strings.TrimSpace(part))
		if err != nil {
			return b, usagef("--budget %q: %w: want %s", text, err, budgetForms)
		}
		if given[kind] {
			return b, usagef("--budget %q: more than one %s", text, kind)
		}
		given[kind] = true
	}
	return b, nil
}

// add reads one part, and says of what kind it is.
func (b *budget) add(part string) (kind string, err error) {
	if share, ok := strings.CutPrefix(part, "within="); ok {
		b.within, err = parseShare(share)
		return "proof", err
	}
	if n, err := strconv.ParseInt(part, 10, 64); err == nil {
		if b.evaluations = n; n < 0 {
			return "", fmt.Errorf("%s evaluations are fewer than none", part)
		}
		return "number of evaluations", nil
	}
	d, err := time.ParseDuration(part)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is none", part)
	case d < time.Millisecond:
		return "", fmt.Errorf("%s is too short a time", part)
	}
	b.time = d.Truncate(time.Millisecond)
	return "time", nil
}

// parseShare reads "2%" or "0.02".
func parseShare(text string) (*float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no share", text)
	}
	if percent {
		v /= 100
	}
	if !(v >= 0 && v < 1e6) {
		return nil, fmt.Errorf("the best cannot be within %s of the fastest", text)
	}
	return &v, nil
}
