package compile

import (
	"fmt"
	"regexp"
	"strings"
)

// option is one compiler option a definition may name (CompilerOptions), in
// nvcc's spelling, with what it is for clang.
type option struct {
	match *regexp.Regexp
	clang func(m []string) []string
}

func fixed(args ...string) func([]string) []string { return func([]string) []string { return args } }

// options is the list of what is accepted: options that change the code made from
// this source and nothing else. Include paths, plug-ins and linker options would
// reach outside the bundle.
var options = []option{
	{regexp.MustCompile(`^-{1,2}std=(c\+\+(?:11|14|17|20|23))$`), func(m []string) []string { return []string{"-std=" + m[1]} }},
	{regexp.MustCompile(`^-O([0-3])$`), func(m []string) []string { return []string{"-O" + m[1]} }},
	{regexp.MustCompile(`^-{1,2}use_fast_math$`), fixed("-ffast-math", "-fcuda-flush-denormals-to-zero", "-DWARPTUNE_FTZ", "-DWARPTUNE_FAST_MATH")},
	{regexp.MustCompile(`^-{1,2}fmad=false$`), fixed("-ffp-contract=off")},
	{regexp.MustCompile(`^-{1,2}fmad=true$`), fixed()},
	{regexp.MustCompile(`^-{1,2}ftz=true$`), fixed("-fcuda-flush-denormals-to-zero", "-DWARPTUNE_FTZ")},
	{regexp.MustCompile(`^-{1,2}(ftz=false|prec-div=true|prec-sqrt=true)$`), fixed()},
	{regexp.MustCompile(`^-D([A-Za-z_][A-Za-z0-9_]*(?:=[A-Za-z0-9_.+-]*)?)$`), func(m []string) []string { return []string{"-D" + m[1]} }},
	{regexp.MustCompile(`^-U([A-Za-z_][A-Za-z0-9_]*)$`), func(m []string) []string { return []string{"-U" + m[1]} }},
	{regexp.MustCompile(`^(-{1,2}(lineinfo|generate-line-info|restrict|disable-warnings)|-w)$`), fixed("-w")},
}

// translate checks the options of a request and gives them as clang spells them.
func translate(given []string) (clang []string, err error) {
next:
	for _, g := range given {
		g = strings.TrimSpace(g)
		for _, o := range options {
			if m := o.match.FindStringSubmatch(g); m != nil {
				clang = append(clang, o.clang(m)...)
				continue next
			}
		}
		return nil, fmt.Errorf("error: compiler option %q is not accepted; accepted are -std=, -O0 to -O3, -use_fast_math, -fmad=, -ftz=, -prec-div=true, -prec-sqrt=true, -DNAME=VALUE, -UNAME, -lineinfo and -w", g)
	}
	return clang, nil
}
