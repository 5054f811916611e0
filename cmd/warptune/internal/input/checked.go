package input

import (
	"github.com/spf13/pflag"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/simengine"
)

// Checking is the flags that say how configurations are checked.
type Checking struct{ depth, faults string }

// Flags adds --check and what to do about faults.
func (c *Checking) Flags(f *pflag.FlagSet) {
	f.StringVar(&c.depth, "check", "sample", "what is executed of each launch to check it: sample: its corners and CTAs at random, as far as a\n"+
		"tenth of the time goes; all: every CTA, and all outputs are compared (for a smaller --problem); none: nothing\n"+
		"but what the prediction needs")
	f.StringVar(&c.faults, "faults", "fail", "what becomes of harmless reads out of bounds and distant hazards: fail: the configuration fails;\n"+
		"warn: they are reported, and it is predicted")
}

// Parse reads the flags.
func (c *Checking) Parse() (depth simengine.Depth, warn bool, err error) {
	if depth, err = simengine.ParseDepth(c.depth); err != nil {
		return 0, false, cli.Usagef("--check: %w", err)
	}
	if c.faults != "" && c.faults != "fail" && c.faults != "warn" {
		return 0, false, cli.Usagef("--faults %s: want fail or warn", c.faults)
	}
	return depth, c.faults == "warn", nil
}

// Spec are the fields of a sweep's spec that the flags stand for: "" are the defaults.
func (c *Checking) Spec() (check, faults string) {
	if c.depth != simengine.CheckSample.String() {
		check = c.depth
	}
	if c.faults != "fail" {
		faults = c.faults
	}
	return check, faults
}
