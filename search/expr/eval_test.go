package expr

import (
	"strings"
	"testing"
)

// vars are the variables of the tests below.
var vars = []Var{{"a", KindInt}, {"b", KindInt}, {"f", KindFloat}, {"s", KindString}, {"t", KindBool}, {"P", KindList}, {"u", Unknown}}

var envValues = []Value{Int(12), Int(-5), Float(2.5), Str("xy"), Bool(true), Ints(8192, 64), Int(7)}

func env() *Env {
	e := NewEnv(len(vars))
	for i, v := range envValues {
		e.Set(i, v)
	}
	return e
}

func eval(text string) (Value, error) {
	e, err := Parse(text)
	if err != nil {
		return Value{}, err
	}
	p, err := Compile(e, vars)
	if err != nil {
		return Value{}, err
	}
	return p.Eval(env())
}

// TestEval lists expressions with what CPython 3.13 prints for them (repr).
func TestEval(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"1 + 2 * 3", "7"}, {"(1 + 2) * 3", "9"}, {"2**3**2", "512"}, {"-2**2", "-4"}, {"2**-1", "0.5"},
		{"7 // 2", "3"}, {"-7 // 2", "-4"}, {"7 // -2", "-4"}, {"-7 % 3", "2"}, {"7 % -3", "-2"}, {"7 / 2", "3.5"}, {"6 / 2", "3.0"},
		{"7.5 // 2", "3.0"}, {"-7.5 // 2", "-4.0"}, {"-7.5 % 2", "0.5"}, {"7.5 % -2", "-0.5"}, {"0.0 % -3", "-0.0"},
		{"9007199254740993 / 3", "3.002399751580331e+15"}, {"9007199254740993 < 9007199254740992.0", "False"},
		{"9007199254740993 == 9007199254740992.0", "False"},
		{"1 == 1.0", "True"}, {"True + True", "2"}, {"True == 1", "True"}, {"not 0", "True"}, {"1 and 2", "2"}, {"0 or 'x'", "'x'"}, {"0 and 1 // 0", "0"},
		{"1 < 2 < 3", "True"}, {"1 < 2 > 1 < 0", "False"}, {"3 > 2 == 2", "True"}, {"1 < 0 < 1 // 0", "False"},
		{"3 in [1, 2, 3]", "True"}, {"3 not in (0, 32, 64)", "True"}, {"2.0 in [1, 2]", "True"}, {"a in (a,)", "True"},
		{"[i for i in range(3)]", "[0, 1, 2]"}, {"[2**i for i in range(0, 6)]", "[1, 2, 4, 8, 16, 32]"},
		{"[i*j for i in range(1, 4) for j in range(i) if i != j if j]", "[2, 3, 6]"},
		{"[1, 2] + list(range(32, 97, 32))", "[1, 2, 32, 64, 96]"}, {"[0] * 3", "[0, 0, 0]"}, {"2 * (1,)", "(1, 1)"},
		{"sum(i for i in range(5))", "10"}, {"max(3, a, b)", "12"}, {"min([4, 2.5, 3])", "2.5"}, {"len([1, 2])", "2"}, {"len(s)", "2"},
		{"abs(b)", "5"}, {"round(2.5)", "2"}, {"round(3.5)", "4"}, {"round(2.675, 2)", "2.67"}, {"int(-2.7)", "-2"}, {"float(3)", "3.0"},
		{"any([0, 0.0, ''])", "False"}, {"all([])", "True"}, {"sorted([3, 1, 2])", "[1, 2, 3]"}, {"range(5, 0, -2)", "[5, 3, 1]"},
		{"P[0] // a", "682"}, {"P[-1]", "64"}, {"1 if t else 2", "1"}, {"1 if 0 else 2 if 0 else 3", "3"}, {"'a' + \"b'\"", `'ab\''`},
		{"s == 'xy' and s < 'z'", "True"}, {"{1, 2, 1}", "(1, 2)"}, {"1, 2", "(1, 2)"}, {"1,", "(1,)"}, {"()", "()"}, {"[]", "[]"},
		{"0x10 + 0b11 + 1_000", "1019"}, {"1e3", "1000.0"}, {".5", "0.5"}, {"2**62 + (2**62 - 1)", "9223372036854775807"},
		{"[x for x in [1, 2] for x in range(x)]", "[0, 0, 1]"}, {"[b for i in [1, 2] for b in ([3] if i == 1 else [b])]", "[3, 3]"}, {"[b for b in [b] for i in P]", "[-5, -5]"}, {"[[i for i in range(j)] for j in range(3)]", "[[], [0], [0, 1]]"},
		{"(1, 2) == [1, 2]", "False"}, {"[1, 2] < [1, 3]", "True"}, {"u * 2", "14"}, {"u / 2", "3.5"}, {"-u", "-7"}, {"f * a", "30.0"}, {"t + 1", "2"},
		{"6 & 3", "2"}, {"6 | 3", "7"}, {"6 ^ 3", "5"}, {"~6", "-7"}, {"~-7", "6"}, {"-6 & 3", "2"}, {"-6 | 3", "-5"}, {"-6 ^ 3", "-7"}, {"1 << 4", "16"}, {"-1 << 4", "-16"}, {"-5 >> 1", "-3"}, {"5 >> 100", "0"}, {"-5 >> 100", "-1"}, {"0 << 100", "0"},
		{"1 | 2 ^ 3 & 4 << 1 + 1", "3"}, {"1 + 1 << 2", "8"}, {"1 << 2 ** 2", "16"}, {"6 & 3 == 2", "True"}, {"1 | 2 == 3", "True"}, {"~1 ** 2", "-2"}, {"-~1", "2"}, {"not ~-1", "True"}, {"not 1 & 2", "True"}, {"True & False", "False"}, {"True | 2", "3"}, {"True ^ True", "False"}, {"~True", "-2"}, {"t & t", "True"}, {"t << 1", "2"},
		{"'b' in 'abc'", "True"}, {"'' in ''", "True"}, {"'ac' not in 'abc'", "True"}, {"s[0]", "'x'"}, {"s[-1] + 'z'", "'yz'"}, {"'ab' * 2", "'abab'"}, {"-1 * 'ab'", "''"}, {"list('aé')", "['a', 'é']"}, {"[c for c in s]", "['x', 'y']"}, {"max('abc')", "'c'"}, {"len('é')", "1"}, {"len('')", "0"},
		{"int(' 42 ')", "42"}, {"float('2.5')", "2.5"}, {"not []", "True"}, {"[] or 5", "5"}, {"'' or 'x'", "'x'"}, {"not '0'", "False"}, {"not 0.0", "True"}, {"sum([])", "0"}, {"[] == ()", "False"}, {"[] < [0]", "True"}, {"len([])", "0"}, {"1 in []", "False"}, {"any([])", "False"}, {"[] + []", "[]"}, {"[[]] * 2", "[[], []]"},
		{"2 ** -2", "0.25"}, {"32 ** f", "5792.618751480198"}, {"f ** 81", "1.710569414459005e+32"}, {"3 ** 2.5", "15.588457268119896"}, {"(-2.5) ** 3", "-15.625"}, {"4 ** -0.5", "0.5"}, {"64 ** 0.5", "8.0"}, {"(-2) ** -1", "-0.5"}, {"0.0 ** 0", "1.0"}, {"True + 0.5", "1.5"}, {"-7 // 2.0", "-4.0"}, {"-7 % 2.5", "0.5"}, {"7 % -2.5", "-0.5"}, {"'a' < 'b' < 'c'", "True"}, {"'Z' < 'a'", "True"}, {"'10' < '9'", "True"}, {"1 == True == 1.0", "True"}, {"[1, True, 1.0] == [True, 1, 1]", "True"},
		{"a if a > b else f", "12"}, {"0 ** 0", "1"}, {"(-1) ** 63", "-1"}, {"10 ** 18", "1000000000000000000"}, {"0.1 + 0.2", "0.30000000000000004"},
	} {
		v, err := eval(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if got := v.String(); got != c.want {
			t.Errorf("%s = %s, want %s", c.text, got, c.want)
		}
	}
}

// TestErrors lists expressions with the place and a part of the message.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int
		part   string
	}{
		{"", 1, "empty"}, {"1 +", 4, "a value is expected"}, {"(1", 3, ") expected"}, {"1 2", 3, "unexpected 2"}, {"a.b", 2, "attributes"},
		{"x + 1", 1, "unknown name x; known are a, b, f, s, t, P, u"}, {"a = 1", 3, "write =="}, {"a && b", 4, "a value is expected"}, {"a & f", 3, "needs integers, not int 12 and float 2.5"}, {"1 << -1", 3, "negative"}, {"1 << 63", 3, "64 bits"}, {"~f", 1, "needs an integer"}, {"~s", 1, "needs an integer"}, {"s & 1", 3, "cannot be applied"}, {"!a", 1, "write not"}, {"1 in s", 3, "needs a text"}, {"s[2]", 2, "outside a list of 2"}, {"lambda: 1", 1, "lambda"},
		{"eval('1')", 1, "unknown function eval; known are abs"}, {"[1][0](2)", 7, "only a builtin"}, {"P[1:2]", 4, "slices"}, {"{1: 2}", 3, "dictionaries"},
		{"a // 0", 3, "division by zero"}, {"a % (b + 5)", 3, "division by zero"}, {"1 / 0", 3, "division"}, {"1.0 % 0.0", 5, "division"}, {"0.0 ** -1", 5, "division"},
		{"2 ** 63", 3, "64 bits"}, {"9223372036854775807 + 1", 21, "64 bits"}, {"9223372036854775808", 1, "64 bits"}, {"-(-9223372036854775807 - 1)", 1, "64 bits"},
		{"(-8) ** 0.5", 6, "not real"}, {"10.0 ** 999", 6, "float"}, {"P[2]", 2, "outside a list of 2"}, {"a[0]", 2, "only a list"}, {"1 in 2", 3, "needs a list"},
		{"'a' < 1", 5, "cannot compare"}, {"'a' * 2.0", 5, "cannot be applied"}, {"[1] + (1,)", 5, "cannot be applied"}, {"-'a'", 1, "sign"}, {"sum('a')", 1, "sum of str"},
		{"len(1, 2)", 1, "takes one argument, not 2"}, {"range(1.5)", 1, "integers"}, {"range(1, 2, 0)", 1, "step 0"}, {"max([])", 1, "empty"},
		{"[i for i in 3]", 13, "needs a list"}, {"[0 for i in P for b in [b]]", 25, "read before"}, {"[0 for i in P if b for b in P]", 18, "read before"}, {"[i for 3 in P]", 8, "loop variable"}, {"'abc", 1, "not closed"}, {"012", 1, "leading zeros"}, {"1x", 1, "not a number"},
		{"é", 1, "unexpected character"}, {"'é' + x", 7, "unknown name x"}, {"not", 4, "a value"}, {"1 if 2", 7, "else expected"}, {"a in", 5, "a value"}, {"a not b", 7, "in expected"},
		{"None", 1, "None"}, {"'\\q'", 2, "escapes"}, {"abs([1])", 1, "abs of a list"}, {"int('3.5')", 1, "int of str '3.5'"}, {"float('0x1p2')", 1, "float of str"}, {"1 < 2 in 3", 3, "needs a list"},
	} {
		_, err := eval(c.text)
		e, ok := err.(*Error)
		if !ok {
			t.Errorf("%s: no error", c.text)
			continue
		}
		if _, col := e.Position(); col != c.column || !strings.Contains(e.Msg, c.part) {
			t.Errorf("%s: column %d %q, want column %d %q", c.text, col, e.Msg, c.column, c.part)
		}
		if strings.Contains(e.Error(), "\n") {
			t.Errorf("%s: error has several lines", c.text)
		}
	}
}

// TestHostile holds expressions that would take forever or all memory.
func TestHostile(t *testing.T) {
	for _, text := range []string{
		"range(10**18)", "[i for i in range(10**6) for j in range(10**6)]", "[0] * 10**12", "2**10**9", "9**9**9**9",
		strings.Repeat("(", 500) + "1" + strings.Repeat(")", 500), strings.Repeat("-", 5000) + "1", strings.Repeat("not ", 5000) + "1",
		"1" + strings.Repeat("**1", 5000), "P" + strings.Repeat("[0]", 5000), strings.Repeat("1+", 40000) + "1", strings.Repeat("1 if 1 else ", 1000) + "1",
		"[1 for x in [range(10**6)] for i in range(10**6) if x == x]",
		"[0 for a in [[1]]" + strings.Repeat(" for a in [[a, a]]", 60) + " if a == a]",
		"[i * j for i in range(900) for j in range(900)]", "len([[i for j in range(900)] for i in range(900)])", "'x' * 10**9", "sum(sum([i, j]) for i in range(900) for j in range(900))",
		"[" + strings.Repeat("i+", 20000) + "i for i in range(1000000)]", "sorted([range(1000) for i in range(10000)])", "{i for i in range(10**6)}",
	} {
		if v, err := eval(text); err == nil {
			t.Errorf("%.60s: no error but a %s", text, v.Kind())
		}
	}
	for _, text := range []string{"list(range(1000000))", "len([i * j for i in range(300) for j in range(400)])", "len([2**i for i in range(60) if i % 2])"} {
		if _, err := eval(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if v, err := eval(strings.Repeat("1+", 30000) + "1"); err != nil || v.String() != "30001" {
		t.Errorf("a long sum: %v, %v", v, err)
	}
}

func TestNames(t *testing.T) {
	e, err := Parse("a * [i + b for i in range(c) if i < a] [min(d, a)] + i")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(e.Names(), " "); got != "a c b d i" {
		t.Errorf("names %s", got)
	}
}

func TestCaret(t *testing.T) {
	_, err := Parse("1 +\n  2 * )")
	want := "  2 * )\n      ^"
	if e := err.(*Error); e.Caret() != want || !strings.Contains(e.Error(), "line 2 column 7") {
		t.Errorf("%v\n%s", e, e.Caret())
	}
}
