package main

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/reflect/protoreflect"
)

var (
	lowerSnake = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	upperSnake = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
	camel      = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	versioned  = regexp.MustCompile(`\.v[1-9][0-9]*$`)
	wordBreak  = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// linter collects complaints about one set of files. The rules are those of
// buf's standard category that concern us, with comments demanded everywhere.
type linter struct{ complaints []string }

func lint(files linker.Files) []string {
	var l linter
	for _, f := range files {
		l.file(f)
	}
	return l.complaints
}

func (l *linter) complain(d protoreflect.Descriptor, format string, args ...any) {
	at := d.ParentFile().SourceLocations().ByDescriptor(d)
	where := fmt.Sprintf("%s:%d:%d", d.ParentFile().Path(), at.StartLine+1, at.StartColumn+1)
	l.complaints = append(l.complaints, where+": "+string(d.Name())+": "+fmt.Sprintf(format, args...))
}

// named demands a comment and a spelling.
func (l *linter) named(d protoreflect.Descriptor, spelling *regexp.Regexp) {
	if strings.TrimSpace(d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments) == "" {
		l.complain(d, "has no comment")
	}
	if !spelling.MatchString(string(d.Name())) {
		l.complain(d, "is not spelled %s", spelling)
	}
}

func (l *linter) file(f protoreflect.FileDescriptor) {
	if !versioned.MatchString(string(f.Package())) {
		l.complain(f, "package %s has no version suffix", f.Package())
	}
	if dir := strings.ReplaceAll(string(f.Package()), ".", "/"); dir != path.Dir(f.Path()) {
		l.complain(f, "package %s does not live in %s", f.Package(), dir)
	}
	for i := range f.Messages().Len() {
		l.message(f.Messages().Get(i))
	}
	for i := range f.Enums().Len() {
		l.enum(f.Enums().Get(i))
	}
	for i := range f.Services().Len() {
		l.service(f.Services().Get(i))
	}
}

func (l *linter) message(m protoreflect.MessageDescriptor) {
	if m.IsMapEntry() {
		return
	}
	l.named(m, camel)
	for i := range m.Fields().Len() {
		l.named(m.Fields().Get(i), lowerSnake)
	}
	for i := range m.Messages().Len() {
		l.message(m.Messages().Get(i))
	}
	for i := range m.Enums().Len() {
		l.enum(m.Enums().Get(i))
	}
}

func (l *linter) enum(e protoreflect.EnumDescriptor) {
	l.named(e, camel)
	prefix := strings.ToUpper(wordBreak.ReplaceAllString(string(e.Name()), "${1}_${2}")) + "_"
	for i := range e.Values().Len() {
		v := e.Values().Get(i)
		l.named(v, upperSnake)
		if !strings.HasPrefix(string(v.Name()), prefix) {
			l.complain(v, "does not begin with %s", prefix)
		}
		if v.Number() == 0 && string(v.Name()) != prefix+"UNSPECIFIED" {
			l.complain(v, "the zero value is not called %sUNSPECIFIED", prefix)
		}
	}
}

func (l *linter) service(s protoreflect.ServiceDescriptor) {
	l.named(s, camel)
	if !strings.HasSuffix(string(s.Name()), "Service") {
		l.complain(s, "does not end in Service")
	}
	for i := range s.Methods().Len() {
		m := s.Methods().Get(i)
		l.named(m, camel)
		if want := m.Name() + "Request"; m.Input().Name() != want {
			l.complain(m, "takes %s, want %s", m.Input().Name(), want)
		}
		if want := m.Name() + "Response"; m.Output().Name() != want {
			l.complain(m, "returns %s, want %s", m.Output().Name(), want)
		}
	}
}
