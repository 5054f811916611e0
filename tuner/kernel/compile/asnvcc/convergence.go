package asnvcc

import (
	"bytes"
	"fmt"
	"regexp"
)

// controlConvergence changes the LLVM text of a device program, before any optimisation, so that loops with
// barriers, shuffles and the like are unrolled though their number of iterations is not known, as by nvcc
// (deploy/calibrate/ptxas/partloops.py). LLVM does not where it must not make such operations, which it calls
// convergent, depend on one more condition, that of the remainder. An operation with a token of where
// threads converge (LLVM's "Convergence And Uniformity", since version 19) is one that it may; each gets a
// token of its own right before it, an anchor: those threads that come there together.
// What clang takes for convergent only because it is a call, an inline asm without synchronisation or a
// function that does nothing of the kind, is so no more.
func controlConvergence(ir []byte) []byte {
	p := readProgram(ir)
	var out bytes.Buffer
	plain := map[string]bool{} // groups needed without the attribute
	tokens := 0
	for _, l := range p.lines {
		switch {
		case l.call && p.converges(l):
			tokens++
			token := fmt.Sprintf("%%warptune.converge%d", tokens)
			fmt.Fprintf(&out, "  %s = call token @llvm.experimental.convergence.anchor()\n", token)
			m := callEnd.FindSubmatch(l.text)
			fmt.Fprintf(&out, "%s [ \"convergencectrl\"(token %s) ]%s\n", m[1], token, m[3])
		case p.convergent[l.group] && (l.call || l.defines != "" && !p.together[l.defines]):
			plain[l.group] = true
			out.Write(groupUse.ReplaceAll(l.text, []byte("${1}#${2}"+plainSuffix+"${3}")))
			out.WriteByte('\n')
		default:
			out.Write(l.text)
			out.WriteByte('\n')
		}
	}
	if tokens > 0 {
		out.WriteString("declare token @llvm.experimental.convergence.anchor()\n")
	}
	for _, g := range p.groups {
		if plain[g.name] {
			fmt.Fprintf(&out, "attributes #%s%s = {%s}\n", g.name, plainSuffix, convergentWord.ReplaceAll(g.attributes, []byte(" ")))
		}
	}
	return out.Bytes()
}

var tokenUse = regexp.MustCompile(` \[ "convergencectrl"\(token %[^)]+\) \]`)

// withoutIdleTokens takes the tokens from calls in an optimised program that are convergent no more: LLVM 19 finds that a
// function whose operations have tokens of their own need not be called by threads together, leaves the calls their
// tokens, and then refuses the program ("Broken module found").
func withoutIdleTokens(ir []byte) []byte {
	if !tokenUse.Match(ir) {
		return ir
	}
	p := readProgram(ir)
	of := map[string]string{} // functions' groups of attributes
	for _, l := range p.lines {
		if l.defines != "" {
			of[l.defines] = l.group
		}
	}
	var out bytes.Buffer
	for _, l := range p.lines {
		text := l.text
		if at := tokenUse.FindIndex(text); at != nil {
			plain := append(bytes.Clone(text[:at[0]]), text[at[1]:]...)
			if c := readLine(plain); p.known[c.callee] && !p.convergent[c.group] && !p.convergent[of[c.callee]] {
				text = plain
			}
		}
		out.Write(text)
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// TokensSince is the first version of clang that unrolls by them; 16 fails at their sight.
const TokensSince = 19

// plainSuffix makes, of the number of a group of attributes, one that the program does not have.
const plainSuffix = "000000"

var (
	groupLine      = regexp.MustCompile(`^attributes #(\d+) = \{(.*)\}$`)
	convergentWord = regexp.MustCompile(` convergent `)
	functionLine   = regexp.MustCompile(`^(define|declare) [^@]*@("[^"]+"|[-\w$.]+)\(`)
	callLine       = regexp.MustCompile(`^\s+(?:%\S+ = )?(?:tail |musttail |notail )?call `)
	callEnd        = regexp.MustCompile(`^(.*\)( #\d+)?)((?:, !.*)?)$`)
	groupUse       = regexp.MustCompile(`^(.*\).* ?)#(\d+)((?:, !.*)?|[^#]*\{)$`)
	callee         = regexp.MustCompile(`@("[^"]+"|[-\w$.]+)\(`)
	assembly       = regexp.MustCompile(`\basm (?:sideeffect |alignstack |inteldialect |unwind )*"([^"]*)"`)

	// synchronises matches PTX that threads of a warp or a CTA execute together, or that branches.
	synchronises = regexp.MustCompile(`\.sync|\bbar\.|\bbarrier\.|\bshfl\.|\bvote\.|\bactivemask|\bbra\b|\bcall\b|\bexit\b`)
)

// program is LLVM text as far as controlConvergence reads it.
type program struct {
	lines      []programLine
	groups     []attributeGroup
	convergent map[string]bool // groups of attributes that have it
	known      map[string]bool // functions that are defined or declared
	together   map[string]bool // those that do what threads do together
}

type attributeGroup struct {
	name       string
	attributes []byte
}

// programLine is a line, and what it calls or defines.
type programLine struct {
	text    []byte
	group   string // its attributes, "" for none
	defines string
	call    bool
	callee  string // "" where it is not known
	asm     []byte // what it assembles
}

// readProgram reads LLVM text, with typed pointers or without.
func readProgram(ir []byte) *program {
	p := &program{convergent: map[string]bool{}, known: map[string]bool{}, together: map[string]bool{}}
	for text := range bytes.Lines(ir) {
		l := readLine(bytes.TrimRight(text, "\r\n"))
		p.lines = append(p.lines, l)
		if m := groupLine.FindSubmatch(l.text); m != nil {
			p.groups = append(p.groups, attributeGroup{string(m[1]), m[2]})
			p.convergent[string(m[1])] = convergentWord.Match(m[2])
		}
		if l.defines != "" {
			p.known[l.defines] = true
		}
	}
	p.gather()
	return p
}

// gather finds which functions do what threads do together: those that are only declared, by their attributes, those
// that do so themselves, and all that call one.
func (p *program) gather() {
	calls := map[string][]string{}
	var current string
	for _, l := range p.lines {
		switch {
		case l.defines != "":
			current = l.defines
			p.together[current] = bytes.HasPrefix(l.text, []byte("declare")) && p.convergent[l.group]
		case l.call && p.known[l.callee]:
			calls[current] = append(calls[current], l.callee)
		case l.call && p.converges(l):
			p.together[current] = true
		}
	}
	spread(p.together, calls)
}

func readLine(text []byte) programLine {
	l := programLine{text: text}
	if m := functionLine.FindSubmatch(text); m != nil {
		l.defines = string(m[2])
	} else if callLine.Match(text) && !bytes.Contains(text, []byte(` [ "`)) && callEnd.Match(text) {
		l.call = true
		if m := assembly.FindSubmatch(text); m != nil {
			l.asm = m[1]
		} else if m := callee.FindSubmatch(text); m != nil {
			l.callee = string(m[1])
		}
	}
	if m := groupUse.FindSubmatch(text); m != nil && (l.call || l.defines != "") {
		l.group = string(m[2])
	}
	return l
}

// converges says whether a call does.
func (p *program) converges(l programLine) bool {
	if l.asm != nil {
		return p.convergent[l.group] && synchronises.Match(l.asm)
	}
	if p.known[l.callee] {
		return p.together[l.callee]
	}
	return p.convergent[l.group]
}
