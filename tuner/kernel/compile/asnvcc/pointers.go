package asnvcc

import (
	"regexp"
	"strings"
)

var (
	ptxLabel  = regexp.MustCompile(`^(\$L[^:\s]*):`)
	ptxBranch = regexp.MustCompile(`bra(?:\.uni)? \t?(\$L[^;\s]*);`)
	ptxOp     = regexp.MustCompile(`^\t(?:@!?%p\d+ )?([a-z][a-z0-9_.:]*)\s+(.*);`)
	longs     = regexp.MustCompile(`%rd\d+`)
)

// MostHeld returns the most numbers of 64 bits that an innermost loop of clang's PTX holds.
func MostHeld(ptx []byte) int {
	lines := strings.Split(string(ptx), "\n")
	labels := map[string]int{}
	most, within := 0, -1 // within: the label of the last loop
	for i, line := range lines {
		if m := ptxLabel.FindStringSubmatch(line); m != nil {
			labels[m[1]] = i
		} else if m := ptxBranch.FindStringSubmatch(line); m != nil {
			if from, ok := labels[m[1]]; ok && from > within {
				most, within = max(most, held(lines[from:i])), from
			}
		}
	}
	return most
}

// held returns how many numbers of 64 bits a loop reads that it has not computed before.
func held(loop []string) int {
	made, read := map[string]bool{}, map[string]bool{}
	for _, line := range loop {
		m := ptxOp.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		numbers := longs.FindAllString(m[2], -1)
		var result []string
		if !strings.HasPrefix(m[1], "st.") && !strings.HasPrefix(m[1], "red.") && strings.HasPrefix(m[2], "%rd") {
			result, numbers = numbers[:1], numbers[1:]
		}
		for _, n := range numbers {
			if !made[n] {
				read[n] = true
			}
		}
		for _, r := range result {
			made[r] = true
		}
	}
	return len(read)
}
