package compile

import (
	"bytes"
	"regexp"
	"strings"
)

var (
	ptxHeader = regexp.MustCompile(`(?m)^(?:\.visible |\.weak |\.extern )?\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)`)
	ptxCall   = regexp.MustCompile(`(?s)\bcall(?:\.uni)?\s+(?:\([^)]*\),\s*)?([\w$]+)`)
	calledOf  = regexp.MustCompile(`([A-Za-z_]\w*)\s*\(`)
)

// needed is why a function was left out that the kernel calls, or all was that there is, nil where nothing is missing.
func (p *pruned) needed(ptx []byte, entry string) error {
	if p.first == nil {
		return nil
	}
	if !bytes.Contains(ptx, []byte(".entry")) && !p.cutter.Defines() {
		return p.first
	}
	if len(p.why) == 0 {
		return nil
	}
	text := string(ptx)
	bodies, starts := map[string]string{}, ptxHeader.FindAllStringSubmatchIndex(text, -1)
	for i, m := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		bodies[text[m[2]:m[3]]] += text[m[0]:end]
	}
	reached := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if reached[name] {
			return
		}
		reached[name] = true
		for _, m := range ptxCall.FindAllStringSubmatch(bodies[name], -1) {
			visit(m[1])
		}
	}
	for name := range bodies {
		if strings.Contains(name, entry) {
			visit(name)
		}
	}
	for i, cut := range p.cutter.Cuts {
		for _, m := range calledOf.FindAllStringSubmatch(cut.Header, -1) {
			for name := range reached {
				if strings.HasPrefix(bodies[name], ".extern") && strings.Contains(name, m[1]) {
					return p.why[i]
				}
			}
		}
	}
	return nil
}
