package dialect

import (
	"regexp"

	"github.com/warptune/warptune/tuner/kernel/source"
)

var (
	// withOperands is an assembly statement with operands: the texts between the parenthesis and the colon.
	withOperands = regexp.MustCompile(`\b(?:asm|__asm__|__asm)\b(?:\s|volatile\b|__volatile__\b)*\(\s*(?:"(?:[^"\\\n]|\\(?:.|\n))*"\s*)+:`)
	// plainSpecial is a special register of PTX behind one percent sign.
	plainSpecial = regexp.MustCompile(`(^|[^%])%((?:n?tid|n?ctaid|laneid|n?warpid|n?smid|gridid|n?clusterid|cluster_\w+|is_explicit_cluster|lanemask_\w+|clock\w*|envreg\d+|globaltimer\w*|(?:dynamic|total|aggr)_smem_size|reserved_smem_\w+)\b)`)
)

// EscapeRegisters writes special registers in assembly statements with operands with two percent signs, as clang wants them.
// nvcc takes one, too. Lines keep their numbers.
func EscapeRegisters(src *source.Source) {
	for name, text := range src.Files {
		if plainSpecial.Match(text) {
			src.Files[name] = withOperands.ReplaceAllFunc(text, func(statement []byte) []byte {
				return plainSpecial.ReplaceAll(statement, []byte("$1%%$2"))
			})
		}
	}
}
