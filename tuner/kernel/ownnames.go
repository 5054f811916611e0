package kernel

import (
	"regexp"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
)

var remark = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)

// directive is a line in which a macro is asked for or made.
var directive = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|define|undef)\b(?:[^\n\\]|\\.|\\\n)*`)

// declaration finds where a source declares one of the names, as a variable, a parameter or a template's, or a
// structure has it: a word before it is a type's.
func declaration(names []string) *regexp.Regexp {
	name := `(` + strings.Join(names, "|") + `)`
	return regexp.MustCompile(`\b(?:int|unsigned|long|short|uint|size_t|auto|u?int(?:8|16|32|64)_t|dim3|float|double|bool|char|half|typename|class)[ \t\n*&]+` +
		name + `\b|(?:\.|->)[ \t]*` + name + `\b`)
}

// owned are the macros of the launch and the tuning parameters that the texts use otherwise, and that must not be macros
// for them. What a directive names is a macro in any case.
func owned(files map[string][]byte, parameters []string) map[string]bool {
	declares := declaration(slices.Concat(launchMacros, parameters))
	owns, macros := map[string]bool{}, map[string]bool{}
	for _, text := range files {
		text = remark.ReplaceAll(text, nil)
		for _, line := range directive.FindAll(text, -1) {
			for _, w := range word.FindAll(line, -1) {
				macros[string(w)] = true
			}
		}
		for _, m := range declares.FindAllSubmatch(directive.ReplaceAll(text, nil), -1) {
			owns[string(m[1])+string(m[2])] = true
		}
	}
	for name := range macros {
		delete(owns, name)
	}
	return owns
}

// entry is KernelName with the values of the parameters that are no macros in the source.
func (d *Definition) entry(cfg search.Config) string {
	if len(d.source.owns) == 0 {
		return d.KernelName
	}
	return word.ReplaceAllStringFunc(d.KernelName, func(name string) string {
		if v, ok := cfg.Get(name); ok && d.source.owns[name] {
			return v.String()
		}
		return name
	})
}

// fixedMacros are the parameters and the launch's own names that are macros in the source.
func (d *Definition) fixedMacros(parameters []string) []string {
	return slices.DeleteFunc(slices.Concat(parameters, launchMacros), func(name string) bool { return d.source.owns[name] })
}
