package message

import (
	"fmt"
	"strconv"
	"strings"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/simengine"
)

// CheckedText says what was executed of a configuration, what was looked for in it and not found, and what became of
// comparing outputs.
func CheckedText(c *warptunev1.Checked) string {
	if c.GetOf() == 0 {
		return "what was checked is not recorded"
	}
	text := "ran clean: no fault in " + executedCTAs(c)
	if c.GetCtas() == 0 {
		text = "ran on the GPU, and none of its CTAs in the simulator"
	}
	if c.GetFor() != "" {
		text += ". Looked for: " + c.GetFor()
	}
	if c.GetFull() > 0 && c.GetForFull() != "" {
		if c.GetFull() < c.GetCtas() {
			text += "; in " + grouped(c.GetFull()) + " of them also "
		} else {
			text += "; also "
		}
		text += c.GetForFull()
	}
	switch {
	case c.GetCompared() > 0:
		text += fmt.Sprintf(". Outputs: %s elements %s", grouped(c.GetCompared()), c.GetOutputs())
	case c.GetOutputs() != "":
		text += ". Outputs: " + c.GetOutputs()
		if strings.HasPrefix(c.GetOutputs(), "not compared") {
			text += ". To compare all: --check all, for a smaller --problem"
		}
	}
	if c.GetWarnings() != "" {
		text += ". Warnings: " + c.GetWarnings()
	}
	return text
}

// executedCTAs is which CTAs were executed, in a sentence.
func executedCTAs(c *warptunev1.Checked) string {
	switch {
	case c.GetCtas() < c.GetOf():
		return fmt.Sprintf("the %s of %s CTAs that were executed", grouped(c.GetCtas()), grouped(c.GetOf()))
	case c.GetOf() == 1:
		return "its one CTA"
	}
	return fmt.Sprintf("any of its %s CTAs", grouped(c.GetOf()))
}

// OfCTAs is how many CTAs were executed of how many.
func OfCTAs(c *warptunev1.Checked) string {
	if c.GetOf() == 0 {
		return "not recorded"
	}
	if c.GetCtas() == c.GetOf() {
		if c.GetOf() == 1 {
			return "its one CTA"
		}
		return fmt.Sprintf("all %s CTAs", grouped(c.GetOf()))
	}
	return fmt.Sprintf("%s of %s CTAs", grouped(c.GetCtas()), grouped(c.GetOf()))
}

// grouped is a number with commas between thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// ReportChecked is what a report says of checking, as an outcome carries it.
func ReportChecked(c *simengine.Checked) *warptunev1.Checked {
	return &warptunev1.Checked{
		Ctas: c.CTAs, Full: c.Full, Of: c.Of, Compared: c.Compared, For: strings.Join(c.For, ", "), ForFull: strings.Join(c.ForFull, ", "),
		Outputs: c.Outputs, Warnings: strings.Join(c.Warnings, "; "),
	}
}
