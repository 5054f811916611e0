package ir

import (
	"strings"
	"testing"
)

// Every value of every enumeration has a name of its own.
func TestNames(t *testing.T) {
	check := func(kind string, n int, name func(int) string) {
		seen := map[string]int{}
		for i := 1; i < n; i++ {
			s := name(i)
			if strings.Contains(s, "(") {
				t.Errorf("%s %d has no name", kind, i)
			}
			if old, dup := seen[s]; dup {
				t.Errorf("%s %d and %d are both %q", kind, old, i, s)
			}
			seen[s] = i
		}
		if s := name(n + 1); !strings.Contains(s, "(") {
			t.Errorf("%s beyond the last is %q", kind, s)
		}
	}
	check("op", int(NumOps), func(i int) string { return Op(i).String() })
	check("type", len(typeNames), func(i int) string { return Type(i).String() })
	check("space", len(spaceNames), func(i int) string { return Space(i).String() })
	check("round", len(roundNames), func(i int) string { return Round(i).String() })
	check("cmp", len(cmpNames), func(i int) string { return Cmp(i).String() })
	check("bool", len(boolNames), func(i int) string { return BoolOp(i).String() })
	check("atom", len(atomNames), func(i int) string { return AtomOp(i).String() })
	check("cache", len(cacheNames), func(i int) string { return CacheOp(i).String() })
	check("scope", len(scopeNames), func(i int) string { return Scope(i).String() })
	check("special", len(specialNames), func(i int) string { return Special(i).String() })
	for i := range 32 {
		m := Mod(1) << i
		if named := m.String() != ""; named != (m <= ModTrans) {
			t.Errorf("flag %d is %q", i, m)
		}
	}
}
