package compile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/warptune/warptune/tuner/kernel/source"
)

// What the lines behind a source are called in compilers' messages.
const (
	tailOfMacros = "tuning parameters"
	tailOfEntry  = "KernelName"
)

// addTail adds lines behind the source. They define the macros that are to be what they
// were (Compile.Fixed) once more: nothing where they still are, a warning where the source has
// undefined and defined them. And they name the kernel, where that is more than a name, by
// entry, in which %s is the kernel: so it is instantiated.
func addTail(src *source.Source, r Request, entry string) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n#line 1 %q\n", tailOfMacros)
	for _, m := range src.Macros {
		if slices.Contains(r.Fixed, m.Name) {
			fmt.Fprintf(&b, "#define %s %s\n", m.Name, m.Value)
		}
	}
	if isExpression(r.Entry) {
		fmt.Fprintf(&b, "#line 1 %q\n"+entry+"\n", tailOfEntry, r.Entry)
	}
	src.Files[src.Main] = append(slices.Clip(src.Files[src.Main]), b.String()...)
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// isExpression reports whether a kernel is named as NVRTC takes names, as ns::k or
// k<float>, and not by an identifier.
func isExpression(entry string) bool { return entry != "" && !plainName.MatchString(entry) }

// checkEntry refuses what is more than a name, since it is compiled as code. Two question marks may begin a trigraph.
func checkEntry(entry string) error {
	if strings.ContainsAny(entry, "\n\r\x00;{}\"'\\#@`$") || strings.Contains(entry, "??") {
		return fmt.Errorf("error: KernelName %q: a kernel's name is expected, such as k, ns::k or k<float, TILE>", entry)
	}
	depth := 0
	for _, c := range entry {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		return fmt.Errorf("error: KernelName %q: a parenthesis has no partner", entry)
	}
	return nil
}

// redefinition is how clang, gcc (under nvcc) and nvcc itself warn of a macro that is
// defined anew, otherwise, and where they say that it was defined before.
var (
	redefinitions = []*regexp.Regexp{
		regexp.MustCompile(`(?m)^(?:\./)?(.+?):(\d+):\d+: (?:warning|error): '(\w+)' macro redefined`),
		regexp.MustCompile(`(?m)^(?:\./)?(.+?):(\d+)(?::\d+)?: (?:warning|error): "(\w+)" redefined`),
		regexp.MustCompile(`(?m)^(?:\./)?(.+?)\((\d+)\): warning #47-D: incompatible redefinition of macro "(\w+)"`),
	}
	earlier = regexp.MustCompile(`(?m)^(?:\./)?(.+?):(\d+)(?::\d+)?: note: (?:previous definition is here|this is the location of the previous definition)`)
)

// redefined returns an error message for the first of the fixed macros that the source
// defines otherwise, as the compiler's warnings say; "" when it leaves them alone.
func redefined(warnings string, fixed []string, src *source.Source) string {
	for _, pattern := range redefinitions {
		for _, at := range pattern.FindAllStringSubmatchIndex(warnings, -1) {
			part := func(i int) string { return warnings[at[2*i]:at[2*i+1]] }
			file, line, name := part(1), part(2), part(3)
			if !slices.Contains(fixed, name) {
				continue
			}
			value := ""
			for _, m := range src.Macros {
				if m.Name == name {
					value = m.Value
				}
			}
			if file == tailOfMacros {
				if m := earlier.FindStringSubmatch(warnings[at[1]:]); m != nil {
					file, line = m[1], m[2]
				}
			}
			return fmt.Sprintf("%s:%s: error: this #define of %s takes the place of its value %s, which the configuration gives it: all configurations would be the same kernel. Write #ifndef %s and #endif round it, or leave it out",
				file, line, name, value, name)
		}
	}
	return ""
}
