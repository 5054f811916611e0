package ptx

// kind is the kind of a token: a punctuation character stands for itself.
type kind uint8

const (
	tEOF    kind = 0
	tWord   kind = 128 + iota // identifier, with the dotted parts that follow it
	tDot                      // .name
	tInt                      // integer literal
	tFloat                    // floating literal or version number
	tString                   // quoted; the token covers the quotes
	tShl
	tShr
	tLE
	tGE
	tEQ
	tNE
	tAndAnd
	tOrOr
	tBad // a character or literal that was reported
)

// token is a piece of the source: src[start:end].
type token struct {
	kind       kind
	start, end int
	at         Loc
}

// lexer cuts a source into tokens. It allocates nothing: tokens are offsets.
type lexer struct {
	src       string
	off       int
	line      int32
	lineStart int
	fail      func(Loc, string, ...any)
}

// Character classes.
const (
	chLetter = 1 << iota // may start an identifier
	chDigit
	chSpace
)

var charClass = func() (t [256]uint8) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = chLetter, chLetter
	}
	t['_'], t['$'], t['%'] = chLetter, chLetter, chLetter
	for c := '0'; c <= '9'; c++ {
		t[c] = chDigit
	}
	for _, c := range " \t\r\f\v" {
		t[c] = chSpace
	}
	return t
}()

func isWord(c byte) bool { return charClass[c]&(chLetter|chDigit) != 0 }

func (l *lexer) loc(off int) Loc {
	return Loc{Line: l.line, Col: int32(off-l.lineStart) + 1}
}

func (l *lexer) peek(n int) byte {
	if l.off+n < len(l.src) {
		return l.src[l.off+n]
	}
	return 0
}

// skip passes white space and comments.
func (l *lexer) skip() {
	for l.off < len(l.src) {
		switch c := l.src[l.off]; {
		case c == '\n':
			l.off++
			l.line++
			l.lineStart = l.off
		case charClass[c]&chSpace != 0:
			l.off++
		case c == '/' && l.peek(1) == '/':
			for l.off < len(l.src) && l.src[l.off] != '\n' {
				l.off++
			}
		case c == '/' && l.peek(1) == '*':
			l.blockComment()
		default:
			return
		}
	}
}

func (l *lexer) blockComment() {
	at := l.loc(l.off)
	for l.off += 2; l.off < len(l.src); l.off++ {
		switch {
		case l.src[l.off] == '\n':
			l.line++
			l.lineStart = l.off + 1
		case l.src[l.off] == '*' && l.peek(1) == '/':
			l.off += 2
			return
		}
	}
	l.fail(at, "comment is not closed")
}

// next returns the next token; at the end of the source it keeps returning tEOF.
func (l *lexer) next() token {
	l.skip()
	t := token{start: l.off, at: l.loc(l.off)}
	if l.off >= len(l.src) {
		t.end = l.off
		return t
	}
	c := l.src[l.off]
	switch {
	case charClass[c]&chLetter != 0 && (c != '%' || isWord(l.peek(1))):
		t.kind = tWord
		l.word()
	case charClass[c]&chDigit != 0:
		t.kind = l.number(t)
	case c == '.' && isWord(l.peek(1)):
		t.kind = l.dot()
	case c == '"':
		t.kind = l.quoted(t)
	default:
		t.kind = l.punct(t, c)
	}
	t.end = l.off
	return t
}

// word reads an identifier and the parts that qualify it: ".x" of %tid.x,
// ".global.v4.f32" of an opcode, "::cta" of .shared::cta.
func (l *lexer) word() {
	for l.off < len(l.src) {
		switch c := l.src[l.off]; {
		case isWord(c):
			l.off++
		case c == '.' && isWord(l.peek(1)):
			l.off++
		case c == ':' && l.peek(1) == ':' && isWord(l.peek(2)):
			l.off += 2
		default:
			return
		}
	}
}

// dot reads ".name", or a fraction such as ".5".
func (l *lexer) dot() kind {
	l.off++
	if charClass[l.src[l.off]]&chDigit != 0 {
		l.fraction()
		return tFloat
	}
	for l.off < len(l.src) {
		if isWord(l.src[l.off]) {
			l.off++
		} else if l.src[l.off] == ':' && l.peek(1) == ':' && isWord(l.peek(2)) {
			l.off += 2
		} else {
			break
		}
	}
	return tDot
}

// number reads 12, 0x1F, 017, 0b101, each with an optional U, 0f3F800000,
// 0d3FF0000000000000, 1.5 and 1e-3.
func (l *lexer) number(t token) kind {
	if l.src[l.off] == '0' {
		switch l.peek(1) {
		case 'x', 'X', 'f', 'F', 'd', 'D', 'b', 'B':
			float := l.peek(1)|0x20 == 'f' || l.peek(1)|0x20 == 'd'
			for l.off < len(l.src) && isWord(l.src[l.off]) {
				l.off++
			}
			if float {
				return tFloat
			}
			return tInt
		}
	}
	l.digits()
	switch c := l.peek(0); {
	case c == '.' && charClass[l.peek(1)]&chDigit != 0:
		l.off++
		l.fraction()
		return tFloat
	case c == '.' && l.peek(1) != '.' && !isWord(l.peek(1)): // "1."
		l.off++
		return tFloat
	case c == 'e' || c == 'E':
		l.fraction()
		return tFloat
	case c == 'U' || c == 'u':
		l.off++
	}
	if l.off < len(l.src) && isWord(l.src[l.off]) {
		for l.off < len(l.src) && isWord(l.src[l.off]) {
			l.off++
		}
		l.fail(t.at, "malformed number %q", l.src[t.start:l.off])
		return tBad
	}
	return tInt
}

func (l *lexer) digits() {
	for charClass[l.peek(0)]&chDigit != 0 {
		l.off++
	}
}

// fraction reads the digits after the point and an exponent.
func (l *lexer) fraction() {
	l.digits()
	if c := l.peek(0); c == 'e' || c == 'E' {
		l.off++
		if c := l.peek(0); c == '+' || c == '-' {
			l.off++
		}
		l.digits()
	}
}

func (l *lexer) quoted(t token) kind {
	for l.off++; l.off < len(l.src) && l.src[l.off] != '\n'; l.off++ {
		switch l.src[l.off] {
		case '\\':
			if l.peek(1) != 0 && l.peek(1) != '\n' {
				l.off++
			}
		case '"':
			l.off++
			return tString
		}
	}
	l.fail(t.at, "string is not closed")
	return tBad
}

var doubles = map[[2]byte]kind{
	{'<', '<'}: tShl, {'>', '>'}: tShr, {'<', '='}: tLE, {'>', '='}: tGE,
	{'=', '='}: tEQ, {'!', '='}: tNE, {'&', '&'}: tAndAnd, {'|', '|'}: tOrOr,
}

func (l *lexer) punct(t token, c byte) kind {
	l.off++
	switch c {
	case ',', ';', '[', ']', '{', '}', '(', ')', ':', '@', '+', '-', '*', '/', '~', '?', '^':
		return kind(c)
	case '<', '>', '=', '!', '&', '|', '%':
		if k, ok := doubles[[2]byte{c, l.peek(0)}]; ok {
			l.off++
			return k
		}
		return kind(c)
	}
	// One report for a whole run of bytes that are no PTX.
	for l.off < len(l.src) && (l.src[l.off] >= 0x80 || l.src[l.off] < ' ' && l.src[l.off] != '\n' && l.src[l.off] != '\t' && l.src[l.off] != '\r') {
		l.off++
	}
	l.fail(t.at, "unexpected character %q", l.src[t.start:l.off])
	return tBad
}
