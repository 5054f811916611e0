package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokLiteral // value holds it
	tokOp      // text holds an operator, bracket or keyword
)

type token struct {
	kind  tokenKind
	at    int // byte offset
	text  string
	value Value
}

// keywords are read as operators. Those in unsupported are Python's, and
// refused by name.
var (
	keywords    = map[string]bool{"and": true, "or": true, "not": true, "in": true, "if": true, "else": true, "for": true}
	unsupported = map[string]bool{"is": true, "lambda": true, "None": true, "await": true, "yield": true, "async": true, "import": true}
	operators   = []string{"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&", "|", "^", "~", "+", "-", "*", "/", "%", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":"}
)

type scanner struct {
	text string
	pos  int
}

func (s *scanner) errorf(at int, format string, args ...any) *Error {
	return &Error{Text: s.text, Offset: at, Msg: fmt.Sprintf(format, args...)}
}

// scan splits the whole text into tokens, the last of kind tokEnd.
func scan(text string) ([]token, *Error) {
	s := &scanner{text: text}
	if len(text) > MaxText {
		return nil, s.errorf(MaxText, "expression is longer than %d bytes", MaxText)
	}
	if !utf8.ValidString(text) {
		return nil, s.errorf(0, "expression is not UTF-8 text")
	}
	var toks []token
	for {
		t, err := s.next()
		if err != nil {
			return nil, err
		}
		toks = append(toks, t)
		if t.kind == tokEnd {
			return toks, nil
		}
	}
}

func (s *scanner) next() (token, *Error) {
	for s.pos < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.pos]) >= 0 {
		s.pos++
	}
	at := s.pos
	if at == len(s.text) {
		return token{kind: tokEnd, at: at}, nil
	}
	c := s.text[at]
	switch {
	case isLetter(c):
		return s.name()
	case isDigit(c) || c == '.' && at+1 < len(s.text) && isDigit(s.text[at+1]):
		return s.number()
	case c == '\'' || c == '"':
		return s.quoted(c)
	}
	for _, op := range operators {
		if strings.HasPrefix(s.text[at:], op) {
			s.pos += len(op)
			return token{kind: tokOp, at: at, text: op}, nil
		}
	}
	r, _ := utf8.DecodeRuneInString(s.text[at:])
	switch r {
	case '.':
		return token{}, s.errorf(at, "attributes (x.y) are not supported")
	case '=':
		return token{}, s.errorf(at, "a single = is not a comparison: write ==")
	case '!':
		return token{}, s.errorf(at, "%q is not supported: write not", r)
	}
	return token{}, s.errorf(at, "unexpected character %q", r)
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func (s *scanner) name() (token, *Error) {
	at := s.pos
	for s.pos < len(s.text) && (isLetter(s.text[s.pos]) || isDigit(s.text[s.pos])) {
		s.pos++
	}
	word := s.text[at:s.pos]
	switch {
	case keywords[word]:
		return token{kind: tokOp, at: at, text: word}, nil
	case word == "True" || word == "False":
		return token{kind: tokLiteral, at: at, value: Bool(word == "True")}, nil
	case unsupported[word]:
		return token{}, s.errorf(at, "%q is not supported in definitions", word)
	}
	return token{kind: tokName, at: at, text: word}, nil
}

// number reads an integer (decimal, 0x, 0o, 0b, with underscores) or a float.
func (s *scanner) number() (token, *Error) {
	at := s.pos
	prefixed := s.text[at] == '0' && at+1 < len(s.text) && strings.IndexByte("xXoObB", s.text[at+1]) >= 0
	isFloat := false
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case isDigit(c) || isLetter(c) && (prefixed || c != '.'):
			if !prefixed && (c == 'e' || c == 'E') {
				isFloat = true
				if s.pos+1 < len(s.text) && strings.IndexByte("+-", s.text[s.pos+1]) >= 0 {
					s.pos++
				}
			}
		case c == '.' && !prefixed:
			isFloat = true
		default:
			return s.numberValue(at, isFloat, prefixed)
		}
		s.pos++
	}
	return s.numberValue(at, isFloat, prefixed)
}

func (s *scanner) numberValue(at int, isFloat, prefixed bool) (token, *Error) {
	word := s.text[at:s.pos]
	bad := s.errorf(at, "%q is not a number", word)
	if isFloat {
		f, err := strconv.ParseFloat(word, 64)
		if err != nil && !math.IsInf(f, 0) || strings.Contains(word, "_") {
			return token{}, bad
		}
		return token{kind: tokLiteral, at: at, value: Float(f)}, nil
	}
	if !prefixed && len(word) > 1 && word[0] == '0' && strings.Trim(word, "0_") != "" {
		return token{}, s.errorf(at, "%q has leading zeros, which Python refuses", word)
	}
	i, err := strconv.ParseInt(word, 0, 64)
	if err != nil {
		if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
			return token{}, s.errorf(at, "%s does not fit in 64 bits", word)
		}
		return token{}, bad
	}
	return token{kind: tokLiteral, at: at, value: Int(i)}, nil
}

func (s *scanner) quoted(delimiter byte) (token, *Error) {
	at := s.pos
	var b strings.Builder
	for s.pos++; s.pos < len(s.text); s.pos++ {
		c := s.text[s.pos]
		switch {
		case c == delimiter:
			s.pos++
			return token{kind: tokLiteral, at: at, value: Str(b.String())}, nil
		case c == '\n':
			return token{}, s.errorf(at, "text is not closed on its line")
		case c != '\\':
			b.WriteByte(c)
		default:
			s.pos++
			if s.pos == len(s.text) {
				break
			}
			i := strings.IndexByte(`\'"nrt`, s.text[s.pos])
			if i < 0 {
				return token{}, s.errorf(s.pos-1, `only the escapes \\ \' \" \n \r \t are supported`)
			}
			b.WriteByte("\\'\"\n\r\t"[i])
		}
	}
	return token{}, s.errorf(at, "text is not closed")
}
