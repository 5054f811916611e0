package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// parseShare reads a share of a whole, as a percentage ("2%") or a fraction ("0.02"). A
// number of 1 and more without a percent sign is refused: who writes 2 means 2 %.
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err != nil || v != v:
		return 0, fmt.Errorf("%q is no share: want a percentage such as 0.5%%", text)
	case percent:
		return v / 100, nil
	case v >= 1:
		return 0, fmt.Errorf("%q would be %g %%: write %s%% if that is what you mean", text, 100*v, number)
	}
	return v, nil
}
