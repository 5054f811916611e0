package simengine

import "fmt"

// Depth is how much of a launch is executed to check it. The zero value is the default.
type Depth uint8

// Depths.
const (
	// CheckSample executes the CTAs at the grid's corners and some at random, as far as a
	// budget goes (inspect.go).
	CheckSample Depth = iota
	// CheckNone executes nothing but what the prediction needs.
	CheckNone
	// CheckAll executes every CTA in full.
	CheckAll
)

func (d Depth) String() string {
	switch d {
	case CheckNone:
		return "none"
	case CheckAll:
		return "all"
	}
	return "sample"
}

// ParseDepth reads a depth's name; "" is the default's.
func ParseDepth(text string) (Depth, error) {
	for _, d := range []Depth{CheckSample, CheckNone, CheckAll} {
		if text == d.String() {
			return d, nil
		}
	}
	if text == "" {
		return CheckSample, nil
	}
	return CheckSample, fmt.Errorf("unknown depth %q of checking: want sample, all or none", text)
}

// Check says how a launch is checked. It changes no predicted time.
type Check struct {
	Depth Depth
	// Warn turns harmless accesses out of bounds and distant hazards into warnings, and execution
	// goes on.
	Warn bool
	// Outputs asks for what CTAs write, to compare it with what those of another configuration
	// write. Against names that configuration: it is part of what identifies an answer.
	Outputs bool
	Against string
	// Always executes CTAs in full whether or not it is the launch's turn. The configuration that
	// others are compared with needs it.
	Always bool
	// Patient executes one CTA in full that may be much longer than those are that are executed
	// otherwise. It is no part of what identifies an answer.
	Patient bool
}

// Checked is how much of a launch was executed, and what was looked for.
type Checked struct {
	CTAs int64 `json:"ctas"` // that were executed
	Full int64 `json:"full"` // of those, in full: of the others what addresses and branches depend on
	Of   int64 `json:"of"`   // CTAs of the grid
	// For is what was looked for in all of them, and ForFull in those executed in full as well.
	For     []string `json:"for,omitempty"`
	ForFull []string `json:"for_full,omitempty"`
	// Outputs says what became of comparing outputs where it was asked for, in words.
	Outputs  string   `json:"outputs,omitempty"`
	Compared int64    `json:"compared,omitempty"` // elements
	Warnings []string `json:"warnings,omitempty"`
}
