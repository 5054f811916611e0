package kernel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// TestGrid: the rules that give a grid, for blocks of 24 x 4 threads.
func TestGrid(t *testing.T) {
	for _, c := range []struct{ fields, want string }{
		{`"GlobalSize": {"X": "ProblemSize[0] // bx"}, "ProblemSize": [100]`, "[4 1 1]"},
		{`"GlobalSize": {"X": "ProblemSize[0]", "Y": 9}, "GlobalSizeType": "OpenCL", "ProblemSize": [100]`, "[5 3 1]"},
		{`"GlobalSize": {"X": 7, "Y": 9}, "GridDivX": ["bx"]`, "[7 9 1]"},                   // no ProblemSize to divide
		{`"GlobalSize": {"X": 7}, "GridDivX": ["bx"], "ProblemSize": [100, 10]`, "[5 3 1]"}, // block_size_y divides by default
		{`"GridDivX": ["bx", "block_size_y"], "GridDivY": [], "GridDivZ": 2, "ProblemSize": [1000, 3, 5]`, "[11 3 3]"},
		{`"GridDivX": "bx/5", "ProblemSize": [100]`, "[25 1 1]"}, // int(4.8), as Kernel Tuner cuts
		{`"GridDivX": ["bx - 24"], "ProblemSize": [100]`, "error cannot be divided by 0"},
		{`"GlobalSize": {"X": "ProblemSize[0]"}, "ProblemSize": [3000000000]`, "error larger than any GPU launches"},
		{`"GlobalSize": {"X": 0}`, "error 0 is outside 1"},
		{`"ProblemSize": [100]`, "error KernelSpecification.GlobalSize.X: missing; the grid needs it, or ProblemSize and GridDivX"},
		{`"GlobalSize": {"X": 1}, "GlobalSizeType": "Metal"`, `error unknown type "Metal"`},
	} {
		text := fmt.Sprintf(`{"ConfigurationSpace": {"TuningParameters": [
			{"Name": "bx", "Type": "int", "Values": "[24]"}, {"Name": "block_size_y", "Type": "int", "Values": "[4]"}]},
			"KernelSpecification": {"Language": "CUDA", "KernelName": "k", "KernelFile": "k.cu", "LocalSize": {"X": "bx"}, %s}}`, c.fields)
		got := ""
		d, _, err := Parse("k", []byte(text), call.Memory{"k.cu": nil})
		if err == nil {
			var l *call.Launch
			if l, err = d.Launch(d.Default(), nil); err == nil {
				if l.Block != [3]int64{24, 4, 1} { // LocalSize.Y is absent: block_size_y is taken
					t.Errorf("block %v", l.Block)
				}
				got = fmt.Sprint(l.Grid)
			}
		}
		if want, isError := strings.CutPrefix(c.want, "error "); isError {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", c.fields, err, want)
			}
		} else if err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", c.fields, got, err, want)
		}
	}
}
