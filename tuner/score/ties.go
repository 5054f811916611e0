package score

import "fmt"

// TiesText says within what configurations tie of which the slowest takes widest times as long as the fastest: within
// the margin, or, where that does not reach so far, within what sampling adds to it.
func TiesText(margin string, reaches bool, widest float64) string {
	if reaches {
		return margin
	}
	return fmt.Sprintf("%s, or within the error of extrapolating from simulated CTAs (up to %.0f %%)", margin, 100*(widest-1))
}
