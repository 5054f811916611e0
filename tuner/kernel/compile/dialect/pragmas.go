// Package dialect writes what one CUDA C++ compiler takes as another does: pragmas, assembly
// statements and alignments for clang, macros in pragmas for nvcc. Lines keep their numbers.
package dialect

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/warptune/warptune/tuner/kernel/compile/asnvcc"
	"github.com/warptune/warptune/tuner/kernel/source"
)

var (
	unrollLine     = regexp.MustCompile(`(?m)^([ \t]*(?:#|%:)[ \t]*pragma[ \t]+unroll\b)([^\n]*)$`)
	unrollOperator = regexp.MustCompile(`(_Pragma[ \t]*\([ \t]*(?:[A-Za-z_]\w*[ \t]*\([ \t]*|")unroll\b)([^"\n]*?)([ \t]*(?:"|\))[ \t]*\))`)
	clangLoops     = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*pragma[ \t]+clang[ \t]+loop\b[^\n]*$`)
	positive       = regexp.MustCompile(`^\(?[1-9][0-9]{0,8}[uUlL]*\)?$`)
	// oneValue is an expression of one value: no blank between two words.
	oneValue = regexp.MustCompile(`^[\w()+*/%<>=!&|^~?:. \t-]+$`)
	twoWords = regexp.MustCompile(`[\w)][ \t]+[\w]`)
)

// Pragmas has clang read the pragmas of loops as nvcc does. A factor that is not positive is passed over by
// nvcc, which leaves the loop to itself (CUDA C++ Programming Guide, "#pragma unroll"); clang takes 0 as 1, and
// refuses what is negative. So such a factor is given a value that asnvcc.Front takes out again: what a factor
// comes to, the compiler knows, which expands macros and instantiates templates. What is for clang alone nvcc
// passes over, too.
func Pragmas(src *source.Source) {
	empty := map[string]bool{}
	for _, m := range src.Macros {
		empty[m.Name] = strings.TrimSpace(m.Value) == ""
	}
	for name, text := range src.Files {
		text = clangLoops.ReplaceAll(text, nil)
		for _, form := range []*regexp.Regexp{unrollLine, unrollOperator} {
			text = form.ReplaceAllFunc(text, func(all []byte) []byte {
				m := form.FindSubmatch(all)
				factor := strings.TrimSpace(string(m[2]))
				for _, comment := range []string{"//", "/*"} {
					factor, _, _ = strings.Cut(factor, comment)
				}
				factor = strings.TrimSpace(factor)
				if factor == "" || empty[factor] || positive.MatchString(factor) || !oneValue.MatchString(factor) || twoWords.MatchString(factor) {
					return all
				}
				out := fmt.Sprintf("%s ((%s) > 0 ? (%s) : %d)", m[1], factor, factor, asnvcc.IgnoredUnroll)
				if len(m) > 3 {
					out += string(m[3])
				}
				return []byte(out)
			})
		}
		src.Files[name] = text
	}
}
