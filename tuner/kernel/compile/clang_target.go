package compile

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/warptune/warptune/tuner/kernel/source"
)

// clangSupport is what clang versions accept: the highest architecture and the
// target feature that selects their newest PTX. Versions 14, 15, 16 and 19 were
// tried (Debian 12's packages), 17 and 18 lie between; without the feature the
// front end assumes PTX 4.2 and refuses the _sync shuffles.
var clangSupport = []struct {
	major   int
	highest int
	feature string
}{
	{14, 86, "+ptx75"},
	{15, 86, "+ptx75"},
	{16, 90, "+ptx78"},
	{17, 90, "+ptx78"},
	{18, 90, "+ptx78"},
	{19, 90, "+ptx85"}, // and newer: they accept what 19 accepts
}

// architectures are the NVIDIA architectures in order that every clang from 14
// accepts up to its highest; sm_87 is an embedded one that 14 and 15 lack.
var architectures = []int{35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 89, 90}

// target returns the architecture to compile for, the newest known that is not
// newer than the one asked for, and the PTX feature.
func (f *clang) target(want string) (arch, feature string) {
	s := clangSupport[0]
	for _, x := range clangSupport {
		if x.major <= f.major {
			s = x
		}
	}
	if want == hopper && f.major >= 18 {
		return hopper, s.feature
	}
	known := slices.DeleteFunc(slices.Clone(architectures), func(a int) bool { return a > s.highest })
	return smName(nearest(known, want)), s.feature
}

// nearest is the highest of known, which is in rising order, that does not exceed
// the target, else the lowest; an empty or unreadable target asks for the highest.
func nearest(known []int, target string) int {
	n, err := strconv.Atoi(strings.TrimRight(strings.TrimPrefix(target, "sm_"), "abcdefghijklmnopqrstuvwxyz"))
	if err != nil {
		return known[len(known)-1]
	}
	best := known[0]
	for _, a := range known {
		if a <= n {
			best = a
		}
	}
	return best
}

// hopper is the target with what only GPUs of compute capability 9.0 have (PTX ISA, "architecture-specific
// features").
const hopper = "sm_90a"

// specific matches what a source for that target says.
var specific = regexp.MustCompile(`\b(?:wgmma|setmaxnreg|tensormap)\.|\b__CUDA_ARCH_FEAT_SM90_ALL\b|\b__CUDA_ARCH_SPECIFIC__\b`)

// featured is the target of a source: of sm_90 the one with its specific features, where the source uses any.
func featured(target string, src *source.Source) string {
	if target == "sm_90" {
		for _, text := range src.Files {
			if specific.Match(text) {
				return hopper
			}
		}
	}
	return target
}

func smName(arch int) string { return "sm_" + strconv.Itoa(arch) }
