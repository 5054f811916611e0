package input

import (
	"slices"
	"strings"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/tuner/kernel"
)

// ParseSets reads --set NAME=V[,V…] flags.
func ParseSets(sets []string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, s := range sets {
		name, values, ok := strings.Cut(s, "=")
		if !ok || name == "" || values == "" {
			return nil, cli.Usagef("--set: %q is not NAME=V[,V…]", s)
		}
		out[name] = append(out[name], strings.Split(values, ",")...)
	}
	return out, nil
}

// Problems splits --problem into problem sizes of as many dimensions as the
// definition's own.
func Problems(def *kernel.Definition, flag []int64) ([][]int64, error) {
	dims := max(len(def.Problem), 1)
	if len(flag) == 0 {
		return [][]int64{def.Problem}, nil
	}
	if len(flag)%dims != 0 {
		return nil, cli.Usagef("--problem: %d numbers given, but a problem size of %s has %d, e.g. %s", len(flag), def.Name, dims, message.ProblemText(def.Problem))
	}
	var out [][]int64
	for size := range slices.Chunk(flag, dims) {
		if err := checkProblem(def, size); err != nil {
			return nil, err
		}
		out = append(out, slices.Clone(size))
	}
	return out, nil
}

// checkProblem refuses a problem size that would change nothing but its name.
func checkProblem(def *kernel.Definition, size []int64) error {
	if len(size) == 0 || def.UsesProblem() || slices.Equal(size, def.Problem) {
		return nil
	}
	return cli.Usagef("--problem %s: nothing of %s depends on a problem size: no expression of its definition names ProblemSize, and no GridDivX, Y or Z divides it", message.ProblemText(size), def.Name)
}
