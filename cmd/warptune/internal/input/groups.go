package input

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/tuner/kernel"
)

// Groups chooses among the groups of a folder of launch records.
type Groups []string

// Flags adds --group.
func (g *Groups) Flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar((*[]string)(g), "group", nil, "of a folder of launch records, the group of this name, or those whose names contain it; repeatable; default: --problem's, or all")
}

// Choose returns the kernels that the flag and a list of problem sizes ask for. Of a definition
// the problem sizes are left for others to read.
func (g Groups) Choose(name string, defs []*kernel.Definition, problem []int64) (chosen []*kernel.Definition, left []int64, err error) {
	if defs[0].Group == "" {
		if len(g) > 0 {
			return nil, nil, cli.Usagef("--group chooses among launch records, and %s is a definition", name)
		}
		return defs, problem, nil
	}
	for _, text := range g {
		if !slices.ContainsFunc(defs, func(d *kernel.Definition) bool { return contains(d, text) }) {
			return nil, nil, cli.Usagef("--group: %s has none called %q; it has %s", name, text, groupList(defs))
		}
	}
	for _, d := range defs {
		if g.wants(defs, d) && sized(d, problem) {
			chosen = append(chosen, d)
		}
	}
	if len(chosen) == 0 {
		return nil, nil, cli.Usagef("--problem %s: no group that is asked for is of this problem size; %s has %s", message.ProblemText(problem), name, groupList(defs))
	}
	return chosen, nil, nil
}

// One is choose where one kernel is wanted.
func (g Groups) One(name string, defs []*kernel.Definition, problem []int64) (*kernel.Definition, error) {
	chosen, _, err := g.Choose(name, defs, problem)
	if err != nil {
		return nil, err
	}
	if len(chosen) > 1 {
		return nil, cli.Usagef("%s: %d groups of launch records are meant, and one is wanted: choose by --group or --problem: %s", name, len(chosen), groupList(chosen))
	}
	return chosen[0], nil
}

// wants reports whether the flag asks for a kernel: by its group's whole name, if that is one's.
func (g Groups) wants(defs []*kernel.Definition, d *kernel.Definition) bool {
	return len(g) == 0 || slices.ContainsFunc(g, func(text string) bool {
		exact := slices.ContainsFunc(defs, func(o *kernel.Definition) bool { return o.Group == text })
		return d.Group == text || !exact && contains(d, text)
	})
}

func contains(d *kernel.Definition, text string) bool {
	return strings.Contains(strings.ToLower(d.Group), strings.ToLower(text))
}

// sized reports whether one of the problem sizes is the kernel's; none are any.
func sized(d *kernel.Definition, problem []int64) bool {
	if len(problem) == 0 {
		return true
	}
	n := len(d.Problem)
	if n == 0 || len(problem)%n != 0 {
		return false
	}
	for size := range slices.Chunk(problem, n) {
		if slices.Equal(size, d.Problem) {
			return true
		}
	}
	return false
}

// groupList names groups with their problem sizes.
func groupList(defs []*kernel.Definition) string {
	const most = 20
	var names []string
	for i, d := range defs {
		if i == most {
			names = append(names, "…")
			break
		}
		text := `"` + d.Group + `"`
		if len(d.Problem) > 0 {
			text += " (" + message.ProblemText(d.Problem) + ")"
		}
		names = append(names, text)
	}
	return strings.Join(names, ", ")
}
