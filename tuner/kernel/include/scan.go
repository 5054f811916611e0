package include

import (
	"regexp"
	"strings"
)

// scanned is what a source text depends on, found without preprocessing it: what
// is inside an #if that is off counts too.
type scanned struct {
	identifiers map[string]bool // outside comments; inside strings too (_Pragma, asm)
	includes    []directive
	pastes      bool // has a ## operator
	defines     map[string][]definition
}

// directive is one #include.
type directive struct {
	name     string // "" when it is not a literal
	angled   bool
	computed string // what stands in a literal's place
	line     int    // 1-based, counted after joining continued lines
}

// Trigraphs are the older standards'; newer compilers read fewer directives than
// are found with them. A line is continued also where blanks follow the backslash.
var (
	trigraphs = strings.NewReplacer("??=", "#", "??/", "\\")
	continued = regexp.MustCompile(`\\[ \t\f\v]*\r?\n`)
)

// scan reads C++ far enough to skip comments and find identifiers, directives
// and string ends. It never fails: odd text only yields more identifiers.
func scan(src []byte) scanned {
	text := continued.ReplaceAllString(trigraphs.Replace(string(src)), "")
	s := scanner{text: text, line: 1, out: scanned{identifiers: map[string]bool{}, defines: map[string][]definition{}}}
	for start := true; s.at < len(s.text); {
		start = s.step(start)
	}
	return s.out
}

type scanner struct {
	text string
	at   int
	line int
	out  scanned
}

func (s *scanner) rest() string { return s.text[s.at:] }

// step consumes one token; start says that only blanks came before it on its
// line. It returns start for the next one.
func (s *scanner) step(start bool) bool {
	c := s.text[s.at]
	switch {
	case c == '\n':
		s.at++
		s.line++
		return true
	case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
		s.at++
		return start
	case s.comment():
		return start
	case c == '#':
		s.at++
		if strings.HasPrefix(s.rest(), "#") {
			s.at++
			s.out.pastes = true
		} else if start {
			s.directive()
		}
	case strings.HasPrefix(s.rest(), "%:"):
		// The digraph spellings of # and ##: treated as a paste too, which is safe.
		s.at += 2
		s.out.pastes = true
		if start {
			s.directive()
		}
	case c == '"' || c == '\'':
		s.quoted(c)
	case isLetter(c):
		s.word()
	case c >= '0' && c <= '9':
		s.number()
	default:
		s.at++
	}
	return false
}

// comment consumes a comment, if one begins here.
func (s *scanner) comment() bool {
	end := -1
	switch {
	case strings.HasPrefix(s.rest(), "//"):
		end = strings.IndexByte(s.rest(), '\n')
	case strings.HasPrefix(s.rest(), "/*"):
		if end = strings.Index(s.rest()[2:], "*/"); end >= 0 {
			end += 4
		}
	default:
		return false
	}
	if end < 0 {
		end = len(s.rest())
	}
	s.line += strings.Count(s.rest()[:end], "\n")
	s.at += end
	return true
}

func (s *scanner) word() {
	begin := s.at
	for s.at < len(s.text) && (isLetter(s.text[s.at]) || isDigit(s.text[s.at])) {
		s.at++
	}
	w := s.text[begin:s.at]
	s.out.identifiers[w] = true
	switch w {
	case "R", "LR", "uR", "UR", "u8R":
		if strings.HasPrefix(s.rest(), `"`) {
			s.rawString()
		}
	}
}

var directiveInside = regexp.MustCompile(`(#|%:)\s*(include|include_next|import|embed)\b`)

// rawString consumes R"delim( … )delim" after the R.
func (s *scanner) rawString() {
	open := strings.IndexByte(s.rest(), '(')
	if open < 0 {
		return
	}
	body := s.rest()[open+1:]
	end := strings.Index(body, ")"+s.rest()[1:open]+`"`)
	if end < 0 {
		return
	}
	for _, id := range identifier.FindAllString(body[:end], -1) {
		s.out.identifiers[id] = true
	}
	if directiveInside.MatchString(body[:end]) {
		// No kernel has one, and a text that is raw only for us could hide it.
		s.out.includes = append(s.out.includes, directive{line: s.line})
	}
	s.line += strings.Count(body[:end], "\n")
	s.at += open + 1 + end + 1 + (open - 1) + 1
}

// quoted consumes a string or character literal; it ends at its line's end at
// the latest, as in "#error don't".
func (s *scanner) quoted(quote byte) {
	begin := s.at
	for s.at++; s.at < len(s.text) && s.text[s.at] != '\n'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		} else if s.text[s.at] == quote {
			s.at++
			break
		}
	}
	s.at = min(s.at, len(s.text))
	for _, id := range identifier.FindAllString(s.text[begin:s.at], -1) {
		s.out.identifiers[id] = true
	}
}

// number consumes a preprocessing number, so that 1'000 opens no literal.
func (s *scanner) number() {
	for s.at < len(s.text) {
		c := s.text[s.at]
		if !isLetter(c) && !isDigit(c) && c != '.' && !s.separates(c) {
			return
		}
		s.at++
	}
}

// separates reports a ' between the digits of a number; before anything else it
// opens a literal.
func (s *scanner) separates(c byte) bool {
	return c == '\'' && s.at+1 < len(s.text) && (isLetter(s.text[s.at+1]) || isDigit(s.text[s.at+1]))
}

// directive handles what follows a # that begins a line: it only looks for
// includes and macros; the rest is scanned as ordinary text.
func (s *scanner) directive() {
	s.blanks()
	begin := s.at
	s.word()
	switch s.text[begin:s.at] {
	case "include", "include_next", "import", "embed":
	case "define":
		line, _, _ := strings.Cut(s.rest(), "\n")
		if name, d, ok := define(line); ok {
			s.out.defines[name] = append(s.out.defines[name], d)
		}
		return
	default:
		return
	}
	s.blanks()
	inc := directive{line: s.line}
	rest, _, _ := strings.Cut(s.rest(), "\n")
	if len(rest) > 0 && (rest[0] == '"' || rest[0] == '<') {
		inc.angled = rest[0] == '<'
		closing := byte('"')
		if inc.angled {
			closing = '>'
		}
		if end := strings.IndexByte(rest[1:], closing); end >= 0 {
			inc.name = rest[1 : 1+end]
			s.at += end + 2
		}
	} else {
		inc.computed = withoutComments(rest)
	}
	s.out.includes = append(s.out.includes, inc)
}

func (s *scanner) blanks() {
	for s.at < len(s.text) && (isBlank(s.text[s.at]) || s.comment()) {
		if s.at < len(s.text) && isBlank(s.text[s.at]) {
			s.at++
		}
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == 0 }

func isLetter(c byte) bool {
	return c == '_' || c == '$' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
