package include

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Root is a source, and where what it includes is looked for.
type Root struct {
	Main  string // the source's name, relative to the definition's folder
	Text  []byte
	Read  func(name string) ([]byte, error) // a file beside the definition; nil: there are none
	Dirs  []string                          // of -I and -isystem, in order; the definition's folder comes last
	First []string                          // of -include
	// Macros are those of the command line: their values, of which a computed #include
	// may name any.
	Macros map[string][]string
	// Extra is text that is compiled behind the source.
	Extra string
}

// Closure is everything that compiling a source may read and depend on.
type Closure struct {
	Files       map[string][]byte // the source and every file it includes, by name
	Identifiers map[string]bool   // that the texts spell
	Pastes      bool              // ## may build any other
	Refused     []*Refusal        // in the order found
}

// Refusal is an #include that reaches outside the definition's folder, or may.
type Refusal struct {
	File    string // where it stands
	Line    int    // 1-based; 0: on the command line
	Message string
}

func (r *Refusal) Error() string {
	if r.Line == 0 {
		return r.Message
	}
	return fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Message)
}

// Bounds on what one source includes.
const (
	maxFiles = 1000
	maxBytes = 16 << 20
)

// Collect reads a source and what it includes. Errors are those of reading files, or say
// that there are too many.
func Collect(r Root) (*Closure, error) {
	c := &collector{Root: r, macros: map[string][]definition{}, out: &Closure{Files: map[string][]byte{r.Main: r.Text}, Identifiers: map[string]bool{}}}
	for name, values := range r.Macros {
		for _, v := range values {
			c.macros[name] = append(c.macros[name], definition{body: v})
		}
	}
	for id := range scan([]byte(r.Extra)).identifiers {
		c.out.Identifiers[id] = true
	}
	for _, name := range r.First {
		if err := c.follow("", directive{name: name}); err != nil {
			return nil, err
		}
	}
	c.queue = append(c.queue, r.Main)
	for at := 0; at < len(c.queue); at++ {
		if err := c.scan(c.queue[at]); err != nil {
			return nil, err
		}
	}
	// A macro may be defined in a file that is read later.
	for at := 0; at < len(c.computed); at++ {
		if err := c.compute(c.computed[at]); err != nil {
			return nil, err
		}
		for len(c.queue) > 0 && c.done < len(c.queue) {
			if err := c.scan(c.queue[c.done]); err != nil {
				return nil, err
			}
		}
	}
	return c.out, nil
}

type collector struct {
	Root
	out      *Closure
	queue    []string
	done     int // of queue
	macros   map[string][]definition
	computed []computed
	bytes    int
}

// computed is a #include whose file macros name.
type computed struct {
	from string
	inc  directive
}

// scan looks at the next file of the queue.
func (c *collector) scan(name string) error {
	c.done++
	text := c.out.Files[name]
	if c.bytes += len(text); c.bytes > maxBytes {
		return c.refuse(name, 0, fmt.Sprintf("%s: the source and its headers exceed %d MiB", c.Main, maxBytes>>20))
	}
	s := scan(text)
	for id := range s.identifiers {
		c.out.Identifiers[id] = true
	}
	c.out.Pastes = c.out.Pastes || s.pastes
	for name, list := range s.defines {
		c.macros[name] = append(c.macros[name], list...)
	}
	for _, inc := range s.includes {
		if inc.name == "" && inc.computed != "" {
			c.computed = append(c.computed, computed{name, inc})
		} else if err := c.follow(name, inc); err != nil {
			return err
		}
	}
	return nil
}

// compute follows all that a computed #include may come to.
func (c *collector) compute(x computed) error {
	for _, text := range expand(x.inc.computed, c.macros) {
		inc := directive{line: x.inc.line}
		switch text = strings.TrimSpace(text); {
		case len(text) > 2 && text[0] == '"' && strings.HasSuffix(text, `"`):
			inc.name = text[1 : len(text)-1]
		case len(text) > 2 && text[0] == '<' && strings.HasSuffix(text, ">"):
			inc.name, inc.angled = strings.TrimSpace(text[1:len(text)-1]), true
		}
		if err := c.follow(x.from, inc); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) refuse(file string, line int, message string) error {
	c.out.Refused = append(c.out.Refused, &Refusal{file, line, message})
	return nil
}

// follow adds the file that an #include means; one that is not beside the definition is
// left to the compiler's own headers.
func (c *collector) follow(from string, inc directive) error {
	if inc.name == "" {
		return c.refuse(from, inc.line, "#include and #embed need a file name that is written out, or that the source's macros or the tuning parameters give")
	}
	name := strings.ReplaceAll(inc.name, `\`, "/")
	if path.IsAbs(name) {
		return c.refuse(from, inc.line, fmt.Sprintf("#include %q leaves the bundle", inc.name))
	}
	var dirs []string
	switch {
	case from == "": // -include: where the compiler runs, first
		dirs = append(dirs, ".")
	case !inc.angled:
		dirs = append(dirs, path.Dir(from))
	}
	for _, dir := range slices.Concat(dirs, c.Dirs, []string{"."}) {
		file := path.Join(dir, name)
		if !fs.ValidPath(file) {
			return c.refuse(from, inc.line, fmt.Sprintf("#include %q leaves the bundle", inc.name))
		}
		if _, known := c.out.Files[file]; known {
			return nil
		}
		if c.Read == nil {
			continue
		}
		text, err := c.Read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return fmt.Errorf("%s:%d: #include %q: %w", from, inc.line, inc.name, err)
		}
		if len(c.out.Files) > maxFiles {
			return c.refuse(from, inc.line, fmt.Sprintf("%s includes more than %d files", c.Main, maxFiles))
		}
		c.out.Files[file] = text
		c.queue = append(c.queue, file)
		return nil
	}
	return nil
}
