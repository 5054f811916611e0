package search

import "testing"

func TestParseValue(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		text string
		want Value
	}{
		{Int, "8", OfInt(8)}, {Int, "8.0", OfInt(8)}, {Int, "true", OfInt(1)}, {Int, `"8"`, OfInt(8)}, {Float, "8", OfFloat(8)}, {Float, "1e-3", OfFloat(0.001)},
		{Bool, "1", OfBool(true)}, {Bool, "False", OfBool(false)}, {String, "8", OfString("8")}, {String, `"a,b"`, OfString("a,b")},
	} {
		if got, err := ParseValue(c.kind, c.text); err != nil || got != c.want {
			t.Errorf("%s %s: %v, %v", c.kind, c.text, got, err)
		}
	}
	for _, c := range []struct {
		kind Kind
		text string
	}{{Int, "8.5"}, {Int, ""}, {Int, "x"}, {Bool, "2"}, {Float, "nan"}, {Float, "inf"}, {String, `"a`}, {Int, "9223372036854775808"}} {
		if got, err := ParseValue(c.kind, c.text); err == nil {
			t.Errorf("%s %s: %v", c.kind, c.text, got)
		}
	}
}

// FuzzAssignments: what splits joins again to the same, and nothing panics.
func FuzzAssignments(f *testing.F) {
	for _, s := range []string{"a=1,b=2", `s="x,\"y=",t=`, " a = 1 ", "a=,b", `a="\u00e9"`, "s=\"`\",t=\"`\"", `a="'",b="'"`, "a=\"\xff\",b=`,c='"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseAssignments(text)
		if err != nil {
			return
		}
		var c Config
		for _, a := range list {
			v, err := ParseValue(String, a.Text)
			if err != nil {
				return
			}
			c.Names, c.Values = append(c.Names, a.Name), append(c.Values, v)
		}
		again, err := ParseAssignments(c.String())
		if err != nil || len(again) != len(list) {
			t.Fatalf("%q becomes %q: %v", text, c, err)
		}
		for i, a := range again {
			if v, err := ParseValue(String, a.Text); err != nil || v != c.Values[i] || a.Name != list[i].Name {
				t.Fatalf("%q becomes %q: %q", text, c, a)
			}
		}
	})
}
