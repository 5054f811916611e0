package asnvcc

import (
	"regexp"
	"slices"
	"strings"
)

// Of loops of a known number of iterations nvcc 13.0 has as many go together as the largest power of two that
// divides the number, up to mostTogether, while they come to at most UnrolledInPart of LLVM's instructions. That is
// 8 of 104 or 1,000 and 16 of 1,008 iterations, 4 of 100, 2 of 102; of an odd number it is four, and the rest by
// itself. The script deploy/calibrate/ptxas/partloops.py looks at 19 kinds of such loops, and clang 19 does so in
// 283 of 285 of them. By the options that it is given for loops of any number it takes what divides the number up
// to Together, and so three of 102.
const (
	mostTogether = 16
	loopEnd      = 2 // instructions that are there once, however many iterations go together: a comparison and a branch
)

var (
	conditional = regexp.MustCompile(`^  br i1 `)
	operation   = regexp.MustCompile(`^  (?:(%\S+) = )?(\S+)`)
	loadAny     = regexp.MustCompile(`^  (%\S+) = load .*, (?:ptr|\S+\*) (%\S+),`)
	storeAny    = regexp.MustCompile(`^  store .*, (?:ptr|\S+\*) (%\S+),`)
	extendOne   = regexp.MustCompile(`^  %\S+ = [sz]ext (?:nneg )?i\d+ (%\S+) to `)
)

// together returns how many iterations of a loop go together with nvcc where clang's options would have it otherwise, else
// 0: where it is not known, and where the loop may be unrolled whole.
func (p *nests) together(f *nestFunction, l nestLoop) int64 {
	if !l.counted || l.step == 0 || l.most <= 0 || p.leaves(l) {
		return 0
	}
	whole := int64(UnrolledWhole)
	if p.arrays {
		whole = UnrolledMost
	}
	count := (l.most + l.step - 1) / l.step
	size, ok := p.size(f, l.from, l.to, 0)
	size-- // its own branch ends it, whichever way
	if !ok || count*(size-loopEnd)+loopEnd <= whole {
		return 0
	}
	n := min(count&-count, mostTogether)
	if n == 1 {
		n = Together
	}
	for n*size > UnrolledInPart {
		n /= 2
	}
	if n < 2 || n <= Together && count%3 != 0 {
		return 0
	}
	return n
}

// leaves says that a loop is left from elsewhere than where it begins: nvcc has one iteration of such a loop at a time.
func (p *nests) leaves(l nestLoop) bool {
	within := map[string]bool{}
	end := "" // the block that it goes on to, if that is among its lines
	for i := l.from; i <= l.to; i++ {
		if m := labelLine.FindStringSubmatch(p.lines[i]); m != nil {
			within[m[1]] = true
		}
	}
	block, first := "", true
	for i := l.from; i <= l.to; i++ {
		line := p.lines[i]
		if m := labelLine.FindStringSubmatch(line); m != nil {
			block = m[1]
			continue
		}
		to := labelUse.FindAllStringSubmatch(line, -1)
		switch {
		case strings.HasPrefix(line, "  ret "):
			return true
		case len(to) == 0, block == end && end != "":
		case first:
			first, end = false, to[len(to)-1][1]
		case slices.ContainsFunc(to, func(m []string) bool { return !within[m[1]] || m[1] == end }):
			return true
		}
	}
	return false
}

// mostCalls is how deep calls are followed to see how large a loop is.
const mostCalls = 4

// size estimates how many of LLVM's instructions lines of a function come to when they are optimised, as a loop's
// size is counted. What goes through local variables is gone by then, addresses and the extension of a variable are
// free, and of a branch inside a loop one side ends with another. Not known where another loop is in it, or a call
// that is not followed.
func (p *nests) size(f *nestFunction, from, to, deep int) (n int64, ok bool) {
	loaded := map[string]bool{}
	for i := from; i <= to; i++ {
		line := p.lines[i]
		m := operation.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		switch m[2] {
		case "getelementptr", "alloca", "phi", "ret", "unreachable", "bitcast", "addrspacecast":
		case "br":
			if conditional.MatchString(line) {
				n += 2
			}
		case "load":
			if a := loadAny.FindStringSubmatch(line); a != nil && f.locals[a[2]] {
				loaded[a[1]] = true
				continue
			}
			n++
		case "store":
			if a := storeAny.FindStringSubmatch(line); a == nil || !f.locals[a[1]] {
				n++
			}
		case "sext", "zext":
			if e := extendOne.FindStringSubmatch(line); e == nil || !loaded[e[1]] {
				n++
			}
		case "call", "tail":
			c, ok := p.callSize(line, deep)
			if !ok {
				return 0, false
			}
			n += c
		default:
			n++
		}
	}
	return n, true
}

// callSize is the size of a call that is inlined, or of an intrinsic's.
func (p *nests) callSize(line string, deep int) (n int64, ok bool) {
	m := callee.FindStringSubmatch(line)
	if m == nil {
		return 1, strings.Contains(line, " asm ")
	}
	switch name := m[1]; {
	case strings.HasPrefix(name, "llvm.lifetime."), strings.HasPrefix(name, "llvm.assume"), strings.HasPrefix(name, "llvm.experimental."):
		return 0, true
	case strings.HasPrefix(name, "llvm.fmuladd."):
		return 2, true
	case strings.HasPrefix(name, "llvm."):
		return 1, true
	default:
		f := p.functions[name]
		if f == nil || deep == mostCalls || len(f.loops) > 0 {
			return 0, false
		}
		return p.size(f, f.from+1, f.to, deep+1)
	}
}
