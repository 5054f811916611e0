package ir

// NumberKind is what the bits of a number are taken for. The zero value is unknown.
type NumberKind uint8

// Kinds of number.
const (
	NumberUnknown NumberKind = iota
	NumberInteger
	NumberFloat
)

func (k NumberKind) String() string {
	return [...]string{"bits of an unknown kind", "an integer", "a floating-point number"}[k]
}

// NumberKind is the kind of a type's numbers; unknown for .b32 and the like, and for
// what is no single number.
func (t Type) NumberKind() NumberKind {
	switch t {
	case U8, S8, U16, S16, U32, S32, U64, S64:
		return NumberInteger
	case F16, BF16, F32, F64, TF32, E4M3, E5M2:
		return NumberFloat
	}
	return NumberUnknown
}

// ParamKind is the kind of number that PTX says a parameter is: by its type or, if that is untyped,
// by the type of the loads that read it. It is unknown where these differ, and for what is not a
// single number.
func (k *Kernel) ParamKind(index int) NumberKind {
	p := &k.Params[index]
	if p.Type.Size() != p.Size {
		return NumberUnknown
	}
	if kind := p.Type.NumberKind(); kind != NumberUnknown {
		return kind
	}
	kind := NumberUnknown
	for i := range k.Instrs {
		in := &k.Instrs[i]
		if in.Op != Ld || in.Space != ParamSpace || in.Src[0].Param != int32(index) {
			continue
		}
		read := in.Type.NumberKind()
		if read == NumberUnknown || kind != NumberUnknown && kind != read || in.Type.Size() != p.Size {
			return NumberUnknown
		}
		kind = read
	}
	return kind
}
