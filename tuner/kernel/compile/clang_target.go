package compile

import (
	"slices"
	"strconv"
	"strings"
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

func smName(arch int) string { return "sm_" + strconv.Itoa(arch) }
