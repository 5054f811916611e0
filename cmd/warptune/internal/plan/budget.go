package plan

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
)

// budget is what --budget says: when a sweep has done enough.
type budget struct {
	evaluations int64
	time        time.Duration
	within      *float64 // of the fastest, as a share; nil: no proof is asked for
}

// mostWithin bounds the share of a proof: a thousand times the fastest is no claim.
const mostWithin = 1000

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
			return b, cli.Usagef("--budget %q: %w: want %s", text, err, budgetForms)
		}
		if given[kind] {
			return b, cli.Usagef("--budget %q: more than one %s", text, kind)
		}
		given[kind] = true
	}
	return b, nil
}

// add reads one part, and says of what kind it is.
func (b *budget) add(part string) (kind string, err error) {
	if share, ok := strings.CutPrefix(part, "within="); ok {
		v, err := parseShare(share)
		if err == nil && !(v >= 0 && v < mostWithin) {
			err = fmt.Errorf("the best cannot be within %s of the fastest", share)
		}
		b.within = &v
		return "proof", err
	}
	switch n, err := strconv.ParseInt(part, 10, 64); {
	case errors.Is(err, strconv.ErrRange):
		return "", fmt.Errorf("%s evaluations cannot be counted", part)
	case err == nil && n < 0:
		return "", fmt.Errorf("%s evaluations are fewer than none", part)
	case err == nil:
		b.evaluations = n
		return "number of evaluations", nil
	}
	d, err := time.ParseDuration(part)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is neither a number, nor a time, nor a proof", part)
	case d < time.Millisecond:
		return "", fmt.Errorf("%s is too short a time", part)
	}
	b.time = d.Truncate(time.Millisecond)
	return "time", nil
}
