package prune

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Place is where a compiler refuses something: a line and a column, both from 1, of a file.
type Place struct {
	File         string
	Line, Column int
}

// Cutter leaves parts of a source out. Use New.
type Cutter struct {
	files  map[string][]byte
	entry  string         // the kernel's name without namespaces and template arguments
	called *regexp.Regexp // entry(
	launch *regexp.Regexp // entry<…><<<
	device *regexp.Regexp // what makes a function one of the device
	// Cuts are what was left out that others may need: bodies of functions of the device, declarations, classes.
	Cuts []Cut
	// Includes are the headers whose #include was left out, as it names them.
	Includes []string
	own      string // the first of them in quotes
}

// MissingFile is the first header in quotes whose #include was left out, as the source names it; "" if there is none.
func (c *Cutter) MissingFile() string { return c.own }

// Cut is a declaration that was left out, or its body.
type Cut struct {
	Header string // its text up to a body, else all of it
	Place  Place
}

// noted remembers that a declaration is left out.
func (c *Cutter) noted(m *masked, u unit, p Place) {
	end := u.end
	if u.open >= 0 {
		end = u.open
	}
	c.Cuts = append(c.Cuts, Cut{strings.Join(strings.Fields(string(m.text[u.start:end])), " "), p})
}

var defined = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)((?:[^\n\\]|\\\r?\n|\\.)*)`)

// New returns a cutter of the files, which it changes, that keeps what declares and defines a kernel, as KernelName
// has it: k, ns::k, or k<float, TILE>.
func New(files map[string][]byte, kernel string) *Cutter {
	base, _, _ := strings.Cut(kernel, "<")
	if i := strings.LastIndex(base, ":"); i >= 0 {
		base = base[i+1:]
	}
	base = regexp.QuoteMeta(strings.TrimSpace(base))
	c := &Cutter{files: files, entry: base}
	c.called = regexp.MustCompile(`\b` + base + `\s*(<[^;{}]*>\s*)?\(`)
	c.launch = regexp.MustCompile(`((?:\w+\s*::\s*)*\b` + base + `\s*<[^;{}]*?>)\s*<<<`)
	words := []string{"__device__", "__global__"}
	for again := true; again; {
		again = false
		has := regexp.MustCompile(`\b(` + strings.Join(words, "|") + `)\b`)
		for _, text := range files {
			for _, d := range defined.FindAllSubmatch(text, -1) {
				if name := string(d[1]); has.Match(d[2]) && !slices.Contains(words, name) {
					words, again = append(words, name), true
				}
			}
		}
		c.device = has
	}
	return c
}

// region is a part of a text and what comes into its place.
type region struct {
	from, to int
	instead  string
}

// Cut leaves the smallest parts out that hold the places. It returns those places that are in what the kernel is or may be
// made of, and whether anything was left out.
func (c *Cutter) Cut(places []Place) (kept []Place, changed bool) {
	byFile := map[string][]Place{}
	var order []string
	for _, p := range places {
		if _, ok := c.files[p.File]; !ok {
			kept = append(kept, p)
			continue
		}
		if byFile[p.File] == nil {
			order = append(order, p.File)
		}
		byFile[p.File] = append(byFile[p.File], p)
	}
	for _, name := range order {
		m := mask(c.files[name])
		var regions []region
		for _, p := range byFile[name] {
			r, ok := c.region(m, c.files[name], p)
			if !ok {
				kept = append(kept, p)
				continue
			}
			regions = append(regions, r)
		}
		if len(regions) > 0 {
			changed = true
			c.files[name] = apply(c.files[name], regions)
		}
	}
	return kept, changed
}

// apply leaves regions out, of which the largest count.
func apply(text []byte, regions []region) []byte {
	slices.SortFunc(regions, func(a, b region) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	var out []byte
	end := 0
	for _, r := range regions {
		if r.from < end {
			continue
		}
		out = append(append(out, text[end:r.from]...), r.instead...)
		out = append(out, bytes.Repeat([]byte("\n"), bytes.Count(text[r.from:r.to], []byte("\n")))...)
		end = r.to
	}
	return append(out, text[end:]...)
}

// offset is a place's in a text.
func offset(text []byte, p Place) (int, bool) {
	at := 0
	for range p.Line - 1 {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return 0, false
		}
		at += n + 1
	}
	at += max(p.Column-1, 0)
	return at, at < len(text)
}

var includeLine = regexp.MustCompile(`^[ \t]*#[ \t]*include\b[ \t]*("[^"]*"|<[^>]*>|\w+)?`)

// region finds what to leave out for a place.
func (c *Cutter) region(m *masked, text []byte, p Place) (region, bool) {
	at, ok := offset(text, p)
	if !ok {
		return region{}, false
	}
	begin := bytes.LastIndexByte(text[:at], '\n') + 1
	if m := includeLine.FindSubmatch(text[begin:lineEnd(text, begin)]); m != nil {
		if name := string(bytes.Trim(m[1], `"<>`)); !slices.Contains(c.Includes, name) {
			c.Includes = append(c.Includes, name)
			if c.own == "" && bytes.HasPrefix(m[1], []byte(`"`)) {
				c.own = name
			}
		}
		return region{begin, lineEnd(text, begin), ""}, true
	}
	return c.declaration(m, at, 0, len(text), p)
}

// declaration finds what to leave out of the declarations from lo to hi.
func (c *Cutter) declaration(m *masked, at, lo, hi int, p Place) (region, bool) {
	for _, u := range m.units(lo, hi) {
		if at < u.start {
			break
		}
		if at >= u.end {
			continue
		}
		switch whole := (region{u.start, u.end, ""}); u.kind {
		case container:
			if !u.body(at) {
				return region{}, false
			}
			return c.declaration(m, at, u.open+1, u.shut, p)
		case class:
			return c.class(m, at, u, p)
		case function:
			return c.function(m, at, u, p)
		default:
			text := m.text[u.start:u.end]
			if c.called.Match(text) && c.device.Match(text) || c.stands(m, at, u) {
				return region{}, false
			}
			c.noted(m, u, p)
			return whole, !bytes.HasPrefix(text, []byte("template")) || !c.called.Match(text)
		}
	}
	return region{}, false
}

// class finds what to leave out of a class. Of a specialisation its declaration stays: without, another would be taken for it.
func (c *Cutter) class(m *masked, at int, u unit, p Place) (region, bool) {
	if u.body(at) {
		if r, found, ok := c.member(m, at, u, p); found {
			return r, ok
		}
	}
	switch head, base := specialised(m.text[u.start:u.open]); {
	case head == "":
	case at >= u.start+base:
		c.noted(m, u, p)
		return region{u.start, u.end, head + ";"}, true
	case !explicit.MatchString(head) && c.reaches(name(head)):
		return region{}, false // a form of the template that may be the kernel's
	}
	c.noted(m, u, p)
	return region{u.start, u.end, ""}, true
}

// function finds what to leave out of a function.
func (c *Cutter) function(m *masked, at int, u unit, p Place) (region, bool) {
	header := m.text[u.start:u.open]
	isDevice := c.device.Match(header)
	switch {
	case isDevice && c.called.Match(header):
		return region{}, false
	case !u.body(at) && c.stands(m, at, u):
		return region{}, false
	case !u.body(at):
		c.noted(m, u, p)
		return region{u.start, u.end, ""}, true
	case isDevice && bytes.Contains(header, []byte("__global__")):
		return region{u.start, u.end, ""}, true
	case isDevice:
		c.noted(m, u, p)
		return region{u.open, u.end, ";"}, true
	}
	from, to, ok := m.innermost(at, u.open+1, u.shut)
	if !ok {
		return region{u.open, u.end, "{}"}, true
	}
	return region{from, to, c.instead(m.text[from:to])}, true
}

// instead is what comes in the place of statements: their launches' kernels, which they instantiate.
func (c *Cutter) instead(statement []byte) string {
	var out strings.Builder
	for _, l := range c.launch.FindAllSubmatch(statement, -1) {
		fmt.Fprintf(&out, "(void)&(%s);", strings.Join(strings.Fields(string(l[1])), " "))
	}
	if out.Len() == 0 {
		return ";"
	}
	return "{" + out.String() + "}"
}

// member finds what to leave out of a class; a variable of it never, since that would change the others' places. found: it
// is a member's; ok: it may be left out.
func (c *Cutter) member(m *masked, at int, of unit, p Place) (r region, found, ok bool) {
	reached := c.reaches(name(string(m.text[of.start:of.open])))
	for _, u := range m.units(of.open+1, of.shut) {
		if at < u.start || at >= u.end {
			continue
		}
		isDevice := u.kind == function && c.device.Match(m.text[u.start:u.open])
		switch {
		case u.kind == class && u.body(at):
			return c.member(m, at, u, p)
		case u.kind == function && u.body(at) && !isDevice:
			if from, to, ok := m.innermost(at, u.open+1, u.shut); ok {
				return region{from, to, c.instead(m.text[from:to])}, true, true
			}
			return region{u.start, u.end, ""}, true, true
		case u.kind == function && u.body(at):
			c.noted(m, u, p)
			return region{u.start + initialisers(m.text[u.start:u.open]), u.end, ";"}, true, true
		case u.kind == function, bytes.IndexByte(m.text[u.start:u.end], '(') >= 0:
			if reached && c.stands(m, at, u) {
				return region{}, true, false
			}
			c.noted(m, u, p)
			return region{u.start, u.end, ""}, true, true
		}
	}
	return region{}, false, false
}

// Defines reports whether the files have the kernel, which may be a template that nothing instantiates.
func (c *Cutter) Defines() bool {
	global := regexp.MustCompile(`__global__[^;{}]*` + c.called.String())
	for _, text := range c.files {
		if c.entry != "" && global.Match(mask(text).text) {
			return true
		}
	}
	return false
}

var printing = regexp.MustCompile(`\bprintf\s*\(`)

// Prints reports whether a function of the device prints.
func (c *Cutter) Prints() bool {
	for _, text := range c.files {
		m := mask(text)
		for _, at := range printing.FindAllIndex(m.text, -1) {
			if c.ofDevice(m, at[0], 0, len(text)) {
				return true
			}
		}
	}
	return false
}

func (c *Cutter) ofDevice(m *masked, at, lo, hi int) bool {
	for _, u := range m.units(lo, hi) {
		switch {
		case at < u.start || at >= u.end:
		case u.kind == function:
			return c.device.Match(m.text[u.start:u.open])
		case u.body(at):
			return c.ofDevice(m, at, u.open+1, u.shut)
		}
	}
	return false
}
