package expr

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// judge reads lines of JSON, each an expression, what it comes to here, and whether it is an
// error here, and says of each what CPython says otherwise. Operators whose results could
// fill the memory are refused before they are computed.
const judgePython = `
import ast, json, sys, warnings
warnings.simplefilter('ignore')
class Skip(Exception): pass
def large(v): return isinstance(v, int) and v.bit_length() > 2000 or isinstance(v, (str, list, tuple)) and len(v) > 100000
def power(a, b):
    if isinstance(a, int) and isinstance(b, int) and a.bit_length() * max(b, 0) > 4000: raise Skip
    return a ** b
def times(a, b):
    for x, y in ((a, b), (b, a)):
        if isinstance(x, (str, list, tuple)) and isinstance(y, int) and len(x) * y > 100000: raise Skip
    if large(a) or large(b): raise Skip
    return a * b
def left(a, b):
    if isinstance(a, int) and isinstance(b, int) and b > 4000: raise Skip
    return a << b
def listed(*a):
    r = range(*a)
    if len(r) > 100000: raise Skip
    return list(r)
class Guard(ast.NodeTransformer):
    def visit_BinOp(self, n):
        self.generic_visit(n)
        f = {ast.Pow: 'power_', ast.Mult: 'times_', ast.LShift: 'left_'}.get(type(n.op))
        return ast.Call(ast.Name(f, ast.Load()), [n.left, n.right], []) if f else n
    def visit_Name(self, n): return ast.copy_location(ast.Name('listed_', n.ctx), n) if n.id == 'range' else n
base = dict(a=12, b=-5, f=2.5, s='xy', t=True, P=[8192, 64], u=7, i=3, NaN=float('nan'), power_=power, times_=times, left_=left, listed_=listed)
def same(x, y):
    if type(x) != type(y): return False
    if isinstance(x, (list, tuple)): return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, float) and inexact: return x == y or abs(x - y) <= 1e-13 * abs(x) or x != x and y != y
    return x == y and str(x) == str(y) or x != x and y != y
for line in sys.stdin:
    text, here, failed = json.loads(line)
    inexact = '**' in text # of an exponent that is no whole number or half
    out = ''
    try:
        tree = ast.fix_missing_locations(Guard().visit(ast.parse(text, mode='eval')))
        v = eval(compile(tree, 'x', 'eval'), dict(base))
        if failed: out = 'is %.200r' % (v,) if not isinstance(v, complex) else ''
        elif not same(v, eval(here, dict(NaN=float('nan')))): out = 'is %.200r' % (v,)
    except Skip: pass
    except (RecursionError, MemoryError): pass
    except Exception as e:
        if not failed: out = 'raises %s: %s' % (type(e).__name__, e)
    print(json.dumps(out))
`

// asPython makes a tree one that means the same here and in Python: sets and generators,
// which are tuples and lists here, are lists.
func asPython(n Node) *Expr {
	return (&Expr{Root: n}).Rewrite(func(n Node) Node {
		switch n := n.(type) {
		case *Sequence:
			if n.Open == '{' {
				return &Sequence{Open: '[', Items: n.Items}
			}
		case *Comprehension:
			return &Comprehension{Open: '[', Item: n.Item, Clauses: n.Clauses}
		}
		return n
	})
}

// limits are the errors that Python does not have: of 64 bits, of effort, and what is found
// wrong before an evaluation that would not reach it.
var limits = []string{"% cannot be applied to str", "64 bits", "steps", "longer than", " takes ", "not real", "does not fit in a float"}

// TestPython: random expressions come to what CPython says, or fail where it does.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 in PATH: what it says is not compared")
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	names := append(vars, Var{"i", KindInt})
	e := NewEnv(len(names))
	for k, v := range append(envValues, Int(3)) {
		e.Set(k, v)
	}
	var in bytes.Buffer
	var texts, answers []string
	for len(texts) < 5000 {
		x := asPython(generate(r, 1+r.IntN(4)))
		text := x.String()
		parsed, err := Parse(text)
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, text, err)
		}
		p, err := Compile(parsed, names)
		var v Value
		if err == nil {
			v, err = p.Eval(e)
		}
		answer := v.String()
		if err != nil {
			answer = err.Error()
			limited := false
			for _, l := range limits {
				limited = limited || strings.Contains(answer, l)
			}
			if limited {
				continue
			}
		}
		line, _ := json.Marshal([]any{text, v.String(), err != nil})
		in.Write(append(line, '\n'))
		texts, answers = append(texts, text), append(answers, answer)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", judgePython)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	wrong := 0
	for k := 0; lines.Scan(); k++ {
		var said string
		if err := json.Unmarshal(lines.Bytes(), &said); err != nil {
			t.Fatal(err)
		}
		if said != "" && wrong < 10 {
			wrong++
			t.Errorf("seed %d: %s here %s, in Python it %s", seed, texts[k], answers[k], said)
		}
		if k == len(texts)-1 {
			return
		}
	}
	t.Fatalf("seed %d: Python stopped early", seed)
}
