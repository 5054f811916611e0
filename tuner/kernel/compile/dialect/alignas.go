package dialect

import (
	"regexp"

	"github.com/warptune/warptune/tuner/kernel/source"
)

var sharedAlignas = regexp.MustCompile(`(\b__shared__[ \t]+)alignas\b`)

// AlignShared writes "__shared__ alignas(128)", which nvcc takes and clang does not, with CUDA's own
// __align__.
func AlignShared(src *source.Source) {
	for name, text := range src.Files {
		if sharedAlignas.Match(text) {
			src.Files[name] = sharedAlignas.ReplaceAll(text, []byte("${1}__align__"))
		}
	}
}
