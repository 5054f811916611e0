package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/warptune/warptune/tuner/kernel/compile/dialect"
	"github.com/warptune/warptune/tuner/kernel/compile/prune"
	"github.com/warptune/warptune/tuner/kernel/source"
)

// pruneRounds bounds how often a source is tried: what is left out may be what something else needs.
const pruneRounds = 24

// hostHeader has what host code names. It is included for sources that are not valid without.
var hostHeader = []string{"-include", "warptune/host.h", "-ferror-limit=0", "-Wno-reserved-user-defined-literal", "-Wno-c++11-narrowing"}

// pruned is a source of which parts were left out.
type pruned struct {
	cutter *prune.Cutter
	first  *Error   // what was said of it before; nil: nothing was left out
	why    []*Error // of each of the cutter's cuts
	prints bool     // a function of the device does, which is left out
}

// printsLeftOut is behind the compiler's name in results of files whose kernels print.
const printsLeftOut = ", printf left out"

// prune leaves out what the compiler refuses and the kernel does not need, until the rest is valid. The error is the one
// that args gave, if the rest never is: then it is of the kernel itself.
func (k *compilation) prune(ctx context.Context, args []string, first *Error) (warnings string, err error) {
	p, w, src := &k.left, k.w, k.src
	before := map[string][]byte{}
	for name, text := range src.Files {
		before[name] = text
	}
	p.cutter, p.first = prune.New(src.Files, k.r.Entry), first
	told := diagnoses(first.Message, w, src.Files)
	p.prints = p.cutter.Prints()                // nothing is, where the headers of host code are included
	at := slices.Index(args, "../macros.h") - 1 // behind the device headers
	args = slices.DeleteFunc(slices.Insert(slices.Clone(args), at, hostHeader...), func(a string) bool { return a == "-ferror-limit=10" })
	if len(told) == 0 {
		return "", first // of no place: too much for the limits
	}
	if failed := asserted(told, src.Files); len(failed) > 0 {
		return "", only(first, told, failed)
	}
	for range pruneRounds {
		warnings, err = k.step(ctx, args)
		var own *Error
		if !errors.As(err, &own) {
			return warnings, err
		}
		if k.c.asNVCC && dialect.DropUnrolls(own.Message, src.Files) {
			if err := w.writeSources(src); err != nil {
				return "", err
			}
			continue
		}
		found := diagnoses(own.Message, w, src.Files)
		if failed := asserted(found, src.Files); len(failed) > 0 {
			return "", only(own, found, failed)
		}
		known := len(p.cutter.Cuts)
		var places []prune.Place
		for _, d := range found {
			places = append(places, d.place)
		}
		kept, changed := p.cutter.Cut(places)
		for _, cut := range p.cutter.Cuts[known:] {
			p.why = append(p.why, only(own, found, []prune.Place{cut.Place}))
		}
		if len(kept) > 0 || !changed {
			for name, text := range before {
				src.Files[name] = text
			}
			err := firstOf(first, only(own, found, kept), kept)
			unknown := firstError(err.Message)
			if strings.Contains(first.Message, "' file not found") && unknownName.MatchString(unknown) {
				err = first // what has the name, perhaps
				if name := p.cutter.MissingFile(); name != "" && !libraries.MatchString(unknown) {
					err = notFound(first, name)
				}
			}
			return "", p.cause(err)
		}
		if err := w.writeSources(src); err != nil {
			return "", err
		}
	}
	return "", first
}

// anyWord is a name, or a keyword.
var anyWord = regexp.MustCompile(`\b[A-Za-z_][A-Za-z0-9_]*`)

// libraries are names that headers of NVIDIA's have.
var libraries = regexp.MustCompile(`\b(thrust|cub|curand|cooperative_groups|nvcuda|cutlass|cute)\b`)

// notFound is that a file of the source's own is not beside it.
func notFound(first *Error, name string) *Error {
	for _, line := range strings.Split(first.Message, "\n") {
		if strings.Contains(line, "'"+name+"' file not found") {
			return &Error{Compiler: first.Compiler, File: first.File, Message: line}
		}
	}
	return &Error{Compiler: first.Compiler, File: first.File, Message: "error: '" + name + "' file not found"}
}

func (w workdir) writeSources(src *source.Source) error {
	for name, text := range src.Files {
		if err := w.write("src/"+name, text); err != nil {
			return err
		}
	}
	return nil
}

// cause is why the name that an error misses was left out, else the error.
func (p *pruned) cause(err *Error) error {
	first := firstError(err.Message)
	m := missedName.FindStringSubmatch(first)
	if m == nil || !unknownName.MatchString(first) && !undefinedName.MatchString(first) {
		return err
	}
	for i, cut := range p.cutter.Cuts {
		if slices.Contains(anyWord.FindAllString(cut.Header, -1), m[1]) {
			return p.why[i]
		}
	}
	return err
}

var missedName = regexp.MustCompile(`'(?:\w+::)*([A-Za-z_]\w*)(?:<[^']*>)?'`)

// undefinedName is an error about what is declared and not defined, as specialisations are that are left out.
var undefinedName = regexp.MustCompile(`implicit instantiation of undefined template|incomplete type|explicit specialization of undeclared`)

// note is what results say that was left out, behind the compiler's name.
func (p *pruned) note() string {
	note := ""
	if p.prints {
		note = printsLeftOut
	}
	if p.cutter == nil || len(p.cutter.Includes) == 0 {
		return note
	}
	names := p.cutter.Includes
	const most = 3
	if more := len(names) - most; more > 0 {
		return note + fmt.Sprintf(", without %s and %d more headers", strings.Join(names[:most], ", "), more)
	}
	return note + ", without " + strings.Join(names, ", ")
}

// unknownName is an error about a name that a header may have that is not there.
var unknownName = regexp.MustCompile(`undeclared identifier|unknown type name|no template named|no member named|no type named|undeclared type`)

// assertion is an error that a source asks for.
var assertion = regexp.MustCompile(`error: static[_ ]assert(ion)? failed|error: .*(array with a negative size|array size is negative)`)

var errorLine = regexp.MustCompile(`^[ \t]*#[ \t]*error\b`)

// asserted are the places where files say that this configuration is none of theirs, which is so wherever it stands.
func asserted(found []diagnosis, files map[string][]byte) []prune.Place {
	var places []prune.Place
	for _, d := range found {
		if d.inside && (assertion.MatchString(d.text) || errorLine.MatchString(lineOf(files[d.place.File], d.place.Line))) {
			places = append(places, d.place)
		}
	}
	return places
}

// lineOf is a line of a text, from 1, "" where it has none.
func lineOf(text []byte, line int) string {
	for range line - 1 {
		_, rest, ok := bytes.Cut(text, []byte("\n"))
		if !ok {
			return ""
		}
		text = rest
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return string(first)
}

// diagnosis is one error of clang's.
type diagnosis struct {
	text   string      // with its notes
	inside bool        // it is in the source, not in another header
	place  prune.Place // where the source is at fault: for what is in other headers, where it uses them
}

var (
	clangError = regexp.MustCompile(`^(.+?):(\d+):(\d+): (?:fatal )?error: `)
	clangNote  = regexp.MustCompile(`^(.+?):(\d+):(\d+): note: `)
	clangOther = regexp.MustCompile(`^(.+?):(\d+):(\d+): warning: |^In file included from |^\d+ (?:errors?|warnings?) |^error: `)
)

// diagnoses splits what clang says.
func diagnoses(message string, w workdir, files map[string][]byte) []diagnosis {
	place := func(m []string) prune.Place {
		file := m[1]
		if rel, ok := strings.CutPrefix(file, w.path("src")+"/"); ok {
			file = rel
		}
		line, _ := strconv.Atoi(m[2])
		column, _ := strconv.Atoi(m[3])
		return prune.Place{File: path.Clean(filepath.ToSlash(file)), Line: line, Column: column}
	}
	var list []diagnosis
	open := false
	for _, line := range strings.SplitAfter(message, "\n") {
		if m := clangError.FindStringSubmatch(line); m != nil {
			at := place(m)
			_, inside := files[at.File]
			list, open = append(list, diagnosis{line, inside, at}), true
			continue
		}
		if clangOther.MatchString(line) {
			open = false
		}
		if !open {
			continue
		}
		d := &list[len(list)-1]
		d.text += line
		if _, inside := files[d.place.File]; !inside {
			if m := clangNote.FindStringSubmatch(line); m != nil {
				if p := place(m); files[p.File] != nil {
					d.place = p
				}
			}
		}
	}
	return list
}

// only is an error with those of its diagnoses that are at places, all of it where there are none.
func only(e *Error, found []diagnosis, places []prune.Place) *Error {
	var b strings.Builder
	for _, d := range found {
		if slices.Contains(places, d.place) {
			b.WriteString(d.text)
		}
	}
	if b.Len() == 0 {
		return e
	}
	return &Error{Compiler: e.Compiler, File: e.File, Message: strings.TrimSpace(b.String())}
}

// firstOf is what was said at first of the places that remain, or later, if nothing was: without what host.h has,
// some errors are said better.
func firstOf(first, later *Error, kept []prune.Place) *Error {
	var b strings.Builder
	for _, d := range diagnoses(first.Message, "", nil) {
		if slices.ContainsFunc(kept, func(p prune.Place) bool { return p.File == d.place.File && p.Line == d.place.Line }) {
			b.WriteString(d.text)
		}
	}
	if b.Len() == 0 {
		return later
	}
	return &Error{Compiler: first.Compiler, File: first.File, Message: strings.TrimSpace(b.String())}
}
