package ir

// byName maps the spellings of an enumeration to its values.
func byName[T ~uint8](names []string) map[string]T {
	all := map[string]T{}
	for v, n := range names {
		if n != "" {
			all[n] = T(v)
		}
	}
	return all
}

var (
	typesByName    = byName[Type](typeNames[:])
	specialsByName = byName[Special](specialNames[:])
	scopesByName   = byName[Scope](scopeNames[:])
	atomsByName    = byName[AtomOp](atomNames[:])
	fieldsByName   = byName[MapField](mapFieldNames[:])
)

// TypeNamed is the type of a spelling without the dot; TypeInvalid: there is none.
func TypeNamed(name string) Type { return typesByName[name] }

// SpecialNamed is the special register of a spelling such as "%tid.x"; SpecialNone: there is none.
func SpecialNamed(name string) Special { return specialsByName[name] }

// ScopeNamed is the scope of a spelling without the dot; ScopeNone: there is none.
func ScopeNamed(name string) Scope { return scopesByName[name] }

// AtomNamed is the operation of a spelling without the dot; AtomNone: there is none.
func AtomNamed(name string) AtomOp { return atomsByName[name] }

// MapFieldNamed is the field of a tensor map that tensormap.replace names so; 0: there is none.
func MapFieldNamed(name string) MapField { return fieldsByName[name] }
