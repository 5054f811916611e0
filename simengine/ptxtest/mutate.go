// Package ptxtest damages PTX at random, for tests of what must hold whatever kernel comes:
// nothing panics, no pass breaks its promise, one way to execute says what another does.
//
// It is for tests only, and no part of the simulator's version.
package ptxtest

import (
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ptx"
)

var (
	number   = regexp.MustCompile(`\b\d+\b`)
	register = regexp.MustCompile(`%[a-z]+\d+`)
	suffix   = regexp.MustCompile(`\.[bsuf](8|16|32|64)\b`)

	numbers = []string{"0", "1", "2", "3", "31", "32", "33", "255", "4096", "65536", "2147483647", "4294967295", "-1", "-128"}
	types   = []string{".u8", ".s16", ".b32", ".f32", ".u64", ".f64"}
)

// Build returns the first kernel of a text, nil when it has none.
func Build(text string) *ir.Kernel {
	src, err := ptx.Parse("mutant.ptx", []byte(text))
	if err != nil {
		return nil
	}
	m, err := lower.Build(src)
	if err != nil || len(m.Kernels) == 0 {
		return nil
	}
	return m.Kernels[0]
}

// Mutate changes one to four lines of a text: takes them away, moves or doubles them, or
// puts other numbers, registers or types there.
func Mutate(r *rand.Rand, text string) string {
	lines := strings.Split(text, "\n")
	pick := func(of []string) func(string) string { return func(string) string { return of[r.IntN(len(of))] } }
	for n := 1 + r.IntN(4); n > 0; n-- {
		i, j := r.IntN(len(lines)), r.IntN(len(lines))
		switch r.IntN(7) {
		case 0:
			lines[i] = ""
		case 1:
			lines[i], lines[j] = lines[j], lines[i]
		case 2:
			lines[i] += "\n" + lines[j]
		case 3:
			lines[i] = replaceOne(r, number, lines[i], pick(numbers))
		case 4:
			lines[i] = replaceOne(r, register, lines[i], func(old string) string { return another(r, lines, old) })
		case 5:
			lines[i] = replaceOne(r, register, lines[i], pick(numbers))
		case 6:
			lines[i] = replaceOne(r, suffix, lines[i], pick(types))
		}
	}
	return strings.Join(lines, "\n")
}

// replaceOne replaces one match in a line.
func replaceOne(r *rand.Rand, re *regexp.Regexp, line string, with func(old string) string) string {
	all := re.FindAllStringIndex(line, -1)
	if len(all) == 0 {
		return line
	}
	at := all[r.IntN(len(all))]
	return line[:at[0]] + with(line[at[0]:at[1]]) + line[at[1]:]
}

// another is a register of some other line, one of the same kind where a few have one: most
// others are refused before anything is tested.
func another(r *rand.Rand, lines []string, old string) string {
	kind, other := strings.TrimRight(old, "0123456789"), old
	for range 20 {
		for _, name := range register.FindAllString(lines[r.IntN(len(lines))], -1) {
			if name != old && strings.TrimRight(name, "0123456789") == kind {
				return name
			}
			other = name
		}
	}
	return other
}
