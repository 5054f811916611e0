package ptx

import "strconv"

// Pos is a place in a PTX text. Line and Col count from 1; Col counts bytes.
// The zero Pos is "no place".
type Pos struct {
	File string
	Line int
	Col  int
	// Source is where the compiler says that it comes from (.loc), as saxpy.cu:14; "" where
	// it does not say.
	Source string
}

// IsValid reports whether p names a line.
func (p Pos) IsValid() bool { return p.Line > 0 }

// String gives file:line:col, the form editors understand, or the source's line and that of
// the PTX.
func (p Pos) String() string {
	if !p.IsValid() {
		if p.File == "" {
			return "-"
		}
		return p.File
	}
	if p.Source != "" {
		return p.Source + " (PTX line " + strconv.Itoa(p.Line) + ")"
	}
	s := strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col)
	if p.File != "" {
		s = p.File + ":" + s
	}
	return s
}
