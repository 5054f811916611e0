package dialect

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/warptune/warptune/tuner/kernel/source"
)

var word = regexp.MustCompile(`\b[A-Za-z_][A-Za-z0-9_]*`)

var unrollPragma = regexp.MustCompile(`(?m)^([ \t]*#[ \t]*pragma[ \t]+unroll\b)([^\n]*)$`)

// ExpandUnroll writes the macros' values into "#pragma unroll NAME": nvcc lets the
// host compiler preprocess, which leaves pragmas that it does not know as they are.
// (NVRTC and clang expand them.) Lines keep their numbers.
func ExpandUnroll(src *source.Source) {
	values := map[string]string{}
	for _, m := range src.Macros {
		values[m.Name] = m.Value
	}
	const depth = 8 // of macros that name macros
	for name, text := range src.Files {
		src.Files[name] = unrollPragma.ReplaceAllFunc(text, func(line []byte) []byte {
			m := unrollPragma.FindSubmatch(line)
			factor := string(m[2])
			for range depth {
				factor = word.ReplaceAllStringFunc(factor, func(id string) string {
					if v, ok := values[id]; ok {
						return "(" + v + ")"
					}
					return id
				})
			}
			return append(slices.Clone(m[1]), factor...)
		})
	}
}

// unrollErrors are clang's where nvcc only passes a pragma over.
var unrollErrors = regexp.MustCompile(`(?m)^(?:\./)?(.+?):(\d+):\d+: error: (expected a for, while, or do-while loop to follow '#pragma unroll'|expression is not an integral constant expression)`)

var unrollStart = regexp.MustCompile(`^[ \t]*#[ \t]*pragma[ \t]+unroll\b`)

// unrollReach is how many lines behind its pragma clang may say that a loop is missing.
const unrollReach = 20

// DropUnrolls takes out of the files those pragmas that a message of clang's is about,
// and reports whether there were any. Lines keep their numbers.
func DropUnrolls(message string, files map[string][]byte) bool {
	dropped := false
	for _, m := range unrollErrors.FindAllStringSubmatch(message, -1) {
		lines := strings.Split(string(files[m[1]]), "\n")
		n, err := strconv.Atoi(m[2])
		if err != nil || n > len(lines) {
			continue
		}
		first := max(n-unrollReach, 1)
		if strings.HasPrefix(m[3], "expression") {
			first = n
		}
		for ; n >= first; n-- {
			if unrollStart.MatchString(lines[n-1]) {
				lines[n-1], dropped = "", true
				files[m[1]] = []byte(strings.Join(lines, "\n"))
				break
			}
		}
	}
	return dropped
}
