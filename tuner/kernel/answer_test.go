package kernel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// answering is a definition whose kernel and output have some more fields.
func answering(kernel, output string) string {
	return fmt.Sprintf(`{"General": {"BenchmarkName": "k"}, "ConfigurationSpace": {"TuningParameters": [
		{"Name": "BLOCK", "Type": "int", "Values": "[64, 128]"}, {"Name": "R", "Type": "int", "Values": "[1, 2]"}]},
		"KernelSpecification": {"Language": "CUDA", "KernelName": "k", "KernelFile": "k.cu", "ProblemSize": [8], "GlobalSizeType": "CUDA",
		"LocalSize": {"X": "BLOCK"}, "GlobalSize": {"X": 1}%s, "Arguments": [
		{"Name": "in", "Type": "float", "Size": "8 + R"},
		{"Name": "out", "Type": "float", "Size": "BLOCK"%s},
		{"Name": "r", "Type": "int32", "MemoryType": "Scalar", "FillValue": "R"}]}}`, kernel, output)
}

func TestAnswer(t *testing.T) {
	files := call.Memory{"k.cu": []byte("__global__ void k() {}"), "want.raw": make([]byte, 32), "odd.raw": make([]byte, 5)}
	for _, c := range []struct {
		kernel, output string
		answer         call.Answer
		tolerance      float64
		expected       int // bytes
	}{
		{"", "", call.AnswerConsistent, 0, 0},
		{`, "Answer": "consistent", "Tolerance": 0.01`, "", call.AnswerConsistent, 0.01, 0},
		{`, "Answer": "none"`, "", call.AnswerNone, 0, 0},
		{"", `, "Answer": "none", "Tolerance": 1e-3`, call.AnswerNone, 1e-3, 0},
		{"", `, "Expected": "want.raw"`, call.AnswerConsistent, 0, 32},
	} {
		d, warnings, err := Parse("k", []byte(answering(c.kernel, c.output)), files)
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%s%s: %v %v", c.kernel, c.output, warnings, err)
		}
		for _, from := range []string{"file", "bundle"} {
			launch, err := d.Launch(d.Default(), nil)
			if err != nil {
				t.Fatal(err)
			}
			a, n := launch.Args[1], 0
			if a.Expected != nil {
				n = len(a.Expected.Data)
			}
			if a.Answer != c.answer || a.Tolerance != c.tolerance || n != c.expected {
				t.Errorf("%s%s from the %s: %v, tolerance %g, %d bytes expected", c.kernel, c.output, from, a.Answer, a.Tolerance, n)
			}
			data, _, err := d.Bundle()
			if err != nil {
				t.Fatal(err)
			}
			if d, _, err = OpenBundle(data); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprint(d.Bound(), d.Sizes(0), d.Sizes(1)); got != "[R] [R] [BLOCK]" {
			t.Errorf("bound to and sized by %s", got)
		}
	}
	for _, c := range []struct{ kernel, output, says string }{
		{`, "Answer": "same"`, "", `Answer: unknown answer "same"`},
		{`, "Tolerance": -1`, "", "Tolerance: a share from 0 on"},
		{"", `, "Tolerance": "much"`, "Tolerance: a share from 0 on"},
	} {
		if _, _, err := Parse("k", []byte(answering(c.kernel, c.output)), files); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s%s: %v, want %s", c.kernel, c.output, err, c.says)
		}
	}
	for file, says := range map[string]string{"missing.raw": "Expected:", "odd.raw": "are not a number of elements"} {
		d, _, err := Parse("k", []byte(answering("", `, "Expected": "`+file+`"`)), files)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Launchable(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", file, err, says)
		}
	}
}
