package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/simengine"
)

// checking is the flags that say how configurations are checked.
type checking struct{ depth, faults string }

func (c *checking) flags(f *pflag.FlagSet) {
	f.StringVar(&c.depth, "check", "sample", "what is executed of each launch to check it: sample: its corners and CTAs at random, as far as a\n"+
		"tenth of the time goes; all: every CTA, and all outputs are compared (for a smaller --problem); none: nothing\n"+
		"but what the prediction needs")
	f.StringVar(&c.faults, "faults", "fail", "what becomes of harmless reads out of bounds and distant hazards: fail: the configuration fails;\n"+
		"warn: they are reported, and it is predicted")
}

// parse reads the flags.
func (c *checking) parse() (depth simengine.Depth, warn bool, err error) {
	if depth, err = simengine.ParseDepth(c.depth); err != nil {
		return 0, false, usagef("--check: %w", err)
	}
	if c.faults != "" && c.faults != "fail" && c.faults != "warn" {
		return 0, false, usagef("--faults %s: want fail or warn", c.faults)
	}
	return depth, c.faults == "warn", nil
}

// spec are the fields of a sweep's spec that the flags stand for: "" are the defaults.
func (c *checking) spec() (check, faults string) {
	if c.depth != simengine.CheckSample.String() {
		check = c.depth
	}
	if c.faults != "fail" {
		faults = c.faults
	}
	return check, faults
}

// checkedText says what was executed of a configuration, what was looked for in it and not found, and what became of
// comparing outputs.
func checkedText(c *warptunev1.Checked) string {
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

// ofCTAs is how many CTAs were executed of how many.
func ofCTAs(c *warptunev1.Checked) string {
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

// reportChecked is what a report says of checking, as an outcome carries it.
func reportChecked(c *simengine.Checked) *warptunev1.Checked {
	return &warptunev1.Checked{
		Ctas: c.CTAs, Full: c.Full, Of: c.Of, Compared: c.Compared, For: strings.Join(c.For, ", "), ForFull: strings.Join(c.ForFull, ", "),
		Outputs: c.Outputs, Warnings: strings.Join(c.Warnings, "; "),
	}
}
