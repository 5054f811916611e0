package asnvcc

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Lines are the source lines of a program's instructions, taken out of its text so that
// what is done to the text meets none of them, and put back by function and instruction.
type Lines struct {
	functions map[string]*functionLines
}

type functionLines struct {
	own   string              // of the function itself
	at    map[string][]string // of each instruction, by its text, in the order of those that are alike
	named map[string]string   // by the value that it gives
	first string
}

var (
	definition  = regexp.MustCompile(`^define .*?@("[^"]*"|[^ (]+)\(`)
	attachment  = regexp.MustCompile(`,? !dbg (!\d+)`)
	callMarks   = regexp.MustCompile(` #\d+| \[ "[^\]]*\]`)
	givenValue  = regexp.MustCompile(`^  (%\S+) = `)
	subprogram  = regexp.MustCompile(`(?m)^(!\d+) = distinct !DISubprogram\(.*?\bfile: (!\d+)`)
	fileEntry   = regexp.MustCompile(`(?m)^(!\d+) = !DIFile\(filename: "([^"]*)"`)
	nested      = []byte("  ")
	lineTables  = []byte("!llvm.dbg.cu = ")
	outOfBundle = "../"
)

// TakeLines takes the source lines out of LLVM text. Those of functions from outside the
// bundle's folder are dropped: when they are inlined, their instructions have the line that calls.
func TakeLines(ir []byte) (rest []byte, l *Lines) {
	l = &Lines{functions: map[string]*functionLines{}}
	if !bytes.Contains(ir, lineTables) {
		return ir, l
	}
	files, foreign := map[string]string{}, map[string]bool{}
	for _, m := range fileEntry.FindAllSubmatch(ir, -1) {
		files[string(m[1])] = string(m[2])
	}
	for _, m := range subprogram.FindAllSubmatch(ir, -1) {
		name := path.Clean(files[string(m[2])])
		foreign[string(m[1])] = strings.HasPrefix(name, outOfBundle) || path.IsAbs(name)
	}
	var f *functionLines
	out := make([]byte, 0, len(ir))
	for line := range bytes.Lines(ir) {
		m := attachment.FindSubmatchIndex(line)
		if !bytes.HasPrefix(line, nested) && !bytes.HasPrefix(line, []byte("define ")) || m == nil {
			out = append(out, line...)
			continue
		}
		at := string(line[m[2]:m[3]])
		plain := append(bytes.Clone(line[:m[0]]), line[m[1]:]...)
		out = append(out, plain...)
		if d := definition.FindSubmatch(plain); d != nil {
			f = &functionLines{own: at, at: map[string][]string{}, named: map[string]string{}}
			if !foreign[at] {
				l.functions[string(d[1])] = f
			}
		} else if f != nil {
			f.add(string(bytes.TrimRight(plain, "\n")), at)
		}
	}
	return out, l
}

// bare is an instruction without what says how it may be called, which is changed.
func bare(text string) string { return callMarks.ReplaceAllString(text, "") }

func (f *functionLines) add(text, at string) {
	if f.first == "" {
		f.first = at
	}
	text = bare(text)
	f.at[text] = append(f.at[text], at)
	if m := givenValue.FindStringSubmatch(text); m != nil {
		f.named[m[1]] = at
	}
}

// of is the line of an instruction; one that is new has the last one's.
func (f *functionLines) of(text, last string) string {
	text = bare(text)
	if list := f.at[text]; len(list) > 0 {
		if len(list) > 1 {
			f.at[text] = list[1:]
		}
		return list[0]
	}
	if m := givenValue.FindStringSubmatch(text); m != nil && f.named[m[1]] != "" {
		return f.named[m[1]]
	}
	return last
}

// instruction tells a line that may have a source line from labels, and from what is a part
// of one.
var instruction = regexp.MustCompile(`^  (?:%\S+ = |tail |musttail |notail )?(?:call|store|load|br|ret|fence|atomicrmw|cmpxchg|[a-z][a-z.0-9]* )`)

// Put puts the lines back into LLVM text.
func (l *Lines) Put(ir []byte) []byte {
	if len(l.functions) == 0 {
		return ir
	}
	var f *functionLines
	last := ""
	out := make([]byte, 0, len(ir)+len(ir)/4)
	for line := range bytes.Lines(ir) {
		text := strings.TrimRight(string(line), "\n")
		switch d := definition.FindStringSubmatch(text); {
		case d != nil:
			if f = l.functions[d[1]]; f != nil {
				last = f.first
				if body, ok := strings.CutSuffix(text, " {"); ok {
					out = fmt.Appendf(out, "%s !dbg %s {\n", body, f.own)
					continue
				}
			}
		case text == "}":
			f = nil
		case f != nil && instruction.MatchString(text) && !strings.HasSuffix(text, "["):
			if last = f.of(text, last); last != "" {
				out = fmt.Appendf(out, "%s, !dbg %s\n", text, last)
				continue
			}
		}
		out = append(out, line...)
	}
	return out
}

var (
	locLine   = regexp.MustCompile(`^\t\.loc\t(\d+) (\d+) `)
	fileLine  = regexp.MustCompile(`^\t\.file\t(\d+) "((?:[^"\\]|\\.)*)"(?: "((?:[^"\\]|\\.)*)")?`)
	debugMark = regexp.MustCompile(`^\$L__(?:func_begin|func_end|tmp)\d+:\n$`)
)

// PlainLines leaves of the source lines in PTX what is needed: .file with names from the bundle's
// folder, which lies at root, and .loc where the line changes. Sections of debuggers and
// labels for them go, so that without the two directives the text is what it is without lines.
func PlainLines(ptx []byte, root string) []byte {
	if !bytes.Contains(ptx, []byte("\t.loc\t")) && !bytes.Contains(ptx, []byte("\t.section\t")) {
		return ptx
	}
	var names []string
	number := map[string]int{} // of a name, from 1
	of := map[string]int{}     // what a number of the text is here, 0: outside the bundle
	for line := range bytes.Lines(ptx) {
		m := fileLine.FindSubmatch(line)
		if m == nil {
			continue
		}
		name := string(m[2])
		if len(m[3]) > 0 {
			name = path.Join(name, string(m[3]))
		}
		name = strings.TrimPrefix(path.Clean(name), root+"/")
		if path.IsAbs(name) || strings.HasPrefix(name, outOfBundle) {
			continue
		}
		if number[name] == 0 {
			names = append(names, name)
			number[name] = len(names)
		}
		of[string(m[1])] = number[name]
	}
	out := make([]byte, 0, len(ptx))
	section, last := false, ""
	for line := range bytes.Lines(ptx) {
		switch {
		case section:
			section = !bytes.Contains(line, []byte("}"))
			continue
		case bytes.HasPrefix(line, []byte("\t.section")):
			section = !bytes.Contains(line, []byte("}"))
			continue
		case fileLine.Match(line), debugMark.Match(line):
			continue
		case bytes.Contains(line, []byte(".entry ")), bytes.Contains(line, []byte(".func ")):
			last = ""
		}
		if m := locLine.FindSubmatch(line); m != nil {
			at := fmt.Sprintf("\t.loc\t%d %s 0\n", of[string(m[1])], m[2])
			if of[string(m[1])] > 0 && string(m[2]) != "0" && at != last {
				out, last = append(out, at...), at
			}
			continue
		}
		out = append(out, line...)
		if bytes.HasPrefix(line, []byte(".address_size")) {
			for i, name := range names {
				out = append(out, "\t.file\t"+strconv.Itoa(i+1)+" \""+name+"\"\n"...)
			}
		}
	}
	return out
}

// takeLocs takes .loc out of PTX that has plain lines, and putLocs puts them back where the
// instructions are that they stood before.
func takeLocs(ptx []byte) (rest []byte, at map[string][]string) {
	if !bytes.Contains(ptx, []byte("\t.loc\t")) {
		return ptx, nil
	}
	at = map[string][]string{}
	loc, function := "", ""
	out := make([]byte, 0, len(ptx))
	for line := range bytes.Lines(ptx) {
		if bytes.HasPrefix(line, []byte("\t.loc\t")) {
			loc = string(line)
			continue
		}
		out = append(out, line...)
		if isFunction(line) {
			loc, function = "", string(line)
		}
		if isPTXInstruction(line) {
			key := function + string(line)
			at[key] = append(at[key], loc)
		}
	}
	return out, at
}

func putLocs(ptx []byte, at map[string][]string) []byte {
	if at == nil {
		return ptx
	}
	out := make([]byte, 0, len(ptx)+len(ptx)/8)
	last, function := "", ""
	for line := range bytes.Lines(ptx) {
		if isFunction(line) {
			last, function = "", string(line)
		}
		if isPTXInstruction(line) {
			key := function + string(line)
			if list := at[key]; len(list) > 0 {
				if list[0] != last && list[0] != "" {
					out, last = append(out, list[0]...), list[0]
				}
				if len(list) > 1 {
					at[key] = list[1:]
				}
			}
		}
		out = append(out, line...)
	}
	return out
}

func isFunction(line []byte) bool {
	return bytes.Contains(line, []byte(".entry ")) || bytes.Contains(line, []byte(".func "))
}

func isPTXInstruction(line []byte) bool {
	return len(line) > 1 && line[0] == '\t' && (line[1] == '@' || line[1] >= 'a' && line[1] <= 'z')
}
