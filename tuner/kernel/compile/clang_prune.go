package compile

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
func (c *Clang) prune(ctx context.Context, w workdir, f *clang, r Request, src *source.Source, args []string, first *Error) (p pruned, warnings string, err error) {
	before := map[string][]byte{}
	for name, text := range src.Files {
		before[name] = text
	}
	p.cutter, p.first = prune.New(src.Files, r.Entry), first
	for _, d := range diagnoses(first.Message, w, src.Files) {
		p.prints = p.prints || strings.Contains(d.text, "'printf'") && p.cutter.OfDevice(d.place)
	}
	at := slices.Index(args, "-include") + 2 // behind device.h
	args = slices.DeleteFunc(slices.Insert(slices.Clone(args), at, hostHeader...), func(a string) bool { return a == "-ferror-limit=10" })
	if len(diagnoses(first.Message, w, src.Files)) == 0 {
		return p, "", first // of no place: too much for the limits
	}
	for range pruneRounds {
		warnings, err = c.step(ctx, w, f, r.SourceFile, args)
		var own *Error
		if !errors.As(err, &own) {
			return p, warnings, err
		}
		if c.asNVCC && dropUnrolls(own.Message, src.Files) {
			if err := w.writeSources(src); err != nil {
				return p, "", err
			}
			continue
		}
		found := diagnoses(own.Message, w, src.Files)
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
			if strings.Contains(first.Message, "' file not found") && unknownName.MatchString(firstError(err.Message)) {
				err = first // what has the name, perhaps
			}
			return p, "", p.cause(err)
		}
		if err := w.writeSources(src); err != nil {
			return p, "", err
		}
	}
	return p, "", first
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
	if m == nil || !unknownName.MatchString(first) {
		return err
	}
	for i, cut := range p.cutter.Cuts {
		if slices.Contains(word.FindAllString(cut.Header, -1), m[1]) {
			return p.why[i]
		}
	}
	return err
}

var missedName = regexp.MustCompile(`'([A-Za-z_]\w*)'`)

// unknownName is an error about a name that a header may have that is not there.
var unknownName = regexp.MustCompile(`undeclared identifier|unknown type name|no template named|no member named|no type named|undeclared type`)

// diagnosis is one error of clang's.
type diagnosis struct {
	text  string      // with its notes
	place prune.Place // where the source is at fault: for what is in other headers, where it uses them
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
			list, open = append(list, diagnosis{line, place(m)}), true
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
