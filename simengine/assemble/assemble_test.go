package assemble

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/regalloc"
	"github.com/warptune/warptune/simengine/assemble/target"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// hopper are the options most tests assemble with.
var hopper = Options{CC: [2]int{9, 0}}

// must assembles a PTX text with the verifier on.
func must(t testing.TB, src string, opt Options) *Program {
	t.Helper()
	verifying = true
	defer func() { verifying = false }()
	p, err := Assemble(asmtest.BuildKernel(t, "test", []byte(src)), opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mustTarget is the target of a compute capability.
func mustTarget(t testing.TB, cc [2]int) *target.Target {
	t.Helper()
	tg, err := target.For(cc)
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

// selected takes a kernel as far as machine instructions over virtual registers.
func selected(k *ir.Kernel, tg *target.Target) (*mir.Func, error) {
	base, err := prepared(k, tg, new(Workspace))
	if err != nil {
		return nil, err
	}
	u, err := base.selected(0, false)
	if err != nil {
		return nil, err
	}
	return u.mir, nil
}

// Registers that are computed from themselves alone, or from each other, and that
// nothing ever wrote before have any value: their kernels assemble all the same.
func TestNeverWritten(t *testing.T) {
	for _, body := range []string{
		"add.u32 %r3, %r3, 1; st.global.u32 [%rd1], %r3;",
		"shl.b32 %r3, %r3, 2; cvt.u64.u32 %rd2, %r3; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r3;",
		"add.s64 %rd2, %rd2, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r2;",
		"mul.wide.s32 %rd2, %r3, 4; cvt.u32.u64 %r3, %rd2; st.global.u32 [%rd1], %r3;",
		"fma.rn.f32 %f1, %f1, %f1, %f2; fma.rn.f32 %f2, %f1, %f2, %f2; st.global.f32 [%rd1], %f2;",
		"add.u32 %r3, %r4, 1; xor.b32 %r4, %r3, %r4; setp.lt.u32 %p1, %r3, %r4; selp.u32 %r5, %r3, %r4, %p1; st.global.u32 [%rd1], %r5;",
		"setp.lt.and.u32 %p1, %r2, 3, %p1; @%p1 add.u32 %r3, %r3, 1; st.global.u32 [%rd1], %r3;",
		"ld.global.u64 %rd2, [%rd2]; st.global.u64 [%rd1], %rd2;",
	} {
		straight := strings.ReplaceAll(body, "; ", ";\n")
		for _, text := range []string{straight, "again:\n" + straight + "\nsetp.lt.u32 %p2, %r2, 9;\n@%p2 bra again;"} {
			listingOf(t, text)
		}
	}
}

// stripped is a program without what names and declarations could change.
func stripped(p *Program) Program {
	q := *p
	q.Kernel = nil
	return q
}

func TestRenamingChangesNothing(t *testing.T) {
	for _, src := range []string{asmtest.Saxpy, asmtest.WideKernel(20)} {
		want := stripped(must(t, src, hopper))
		renamed := regexp.MustCompile(`%(f|rd|r|p)(\d|<)`).ReplaceAllString(src, "%renamed_$1$2")
		renamed = strings.NewReplacer("$L__BB0_", "LABEL_", "LOOP", "AROUND").Replace(renamed)
		if got := stripped(must(t, renamed, hopper)); !reflect.DeepEqual(got, want) {
			t.Errorf("renaming registers and labels changed the program: %d registers, were %d", got.Registers, want.Registers)
		}
	}
}

func TestDeclarationOrderChangesNoCount(t *testing.T) {
	want := must(t, asmtest.Saxpy, hopper)
	lines := "\t.reg .pred %p<3>;\n\t.reg .f32 %f<6>;\n\t.reg .b32 %r<6>;\n\t.reg .b64 %rd<8>;\n"
	swapped := "\t.reg .b64 %rd<8>;\n\t.reg .b32 %r<6>;\n\t.reg .f32 %f<6>;\n\t.reg .pred %p<3>;\n"
	got := must(t, strings.Replace(asmtest.Saxpy, lines, swapped, 1), hopper)
	if got.Registers != want.Registers || got.CodeBytes != want.CodeBytes {
		t.Errorf("registers %d, code %d bytes; were %d and %d", got.Registers, got.CodeBytes, want.Registers, want.CodeBytes)
	}
}

func TestAssemblyIsDeterministic(t *testing.T) {
	src := asmtest.WideKernel(60)
	want := stripped(must(t, src, Options{CC: hopper.CC, MaxRegisters: 40}))
	for range 5 {
		if got := stripped(must(t, src, Options{CC: hopper.CC, MaxRegisters: 40})); !reflect.DeepEqual(got, want) {
			t.Fatal("two assemblies of one kernel differ")
		}
	}
}

func TestLowerCapNeverSpillsLess(t *testing.T) {
	for _, n := range []int{12, 40, 90} {
		src := asmtest.WideKernel(n)
		spilled := 1 << 30
		for cap := 24; cap <= 128; cap += 8 {
			p := must(t, src, Options{CC: hopper.CC, MaxRegisters: cap})
			if p.Registers > cap {
				t.Errorf("%d accumulators under cap %d: %d registers", n, cap, p.Registers)
			}
			if p.SpillBytes > spilled {
				t.Errorf("%d accumulators: cap %d spills %d bytes, a lower cap %d", n, cap, p.SpillBytes, spilled)
			}
			if (p.SpillBytes > 0) != (p.SpillStores > 0) || (p.SpillStores > 0) != (p.SpillLoads > 0) {
				t.Errorf("cap %d: %d bytes, %d stores and %d loads of spills do not agree", cap, p.SpillBytes, p.SpillStores, p.SpillLoads)
			}
			spilled = p.SpillBytes
		}
		if n <= 40 && spilled > 0 {
			t.Errorf("%d accumulators spill %d bytes under a cap of 128", n, spilled)
		}
	}
}

func TestCapComesFromDirectives(t *testing.T) {
	src := asmtest.WideKernel(90)
	for _, c := range []struct {
		directive string
		most      int
	}{
		{".maxnreg 32", 32},
		{".maxntid 1024, 1, 1", 64},
		{".reqntid 512, 1, 1\n.minnctapersm 2", 64},
		{".maxntid 128, 1, 1\n.minnctapersm 8", 64},
	} {
		p := must(t, strings.Replace(src, ".param .u32 n)", ".param .u32 n)\n"+c.directive, 1), hopper)
		if p.Registers > c.most {
			t.Errorf("%s: %d registers, at most %d allowed", c.directive, p.Registers, c.most)
		}
	}
}

// A least number of CTAs offers registers, where a largest CTA only bounds them.
func TestLeastCTAsOfferRegisters(t *testing.T) {
	for _, c := range []struct {
		directive string
		limit     int
	}{
		{"", 0},
		{".maxntid 128, 1, 1", 0},
		{".maxntid 128, 1, 1\n.minnctapersm 1", target.MaxRegisters},
		{".maxntid 64, 1, 1\n.minnctapersm 4", target.MaxRegisters},
		{".maxntid 128, 1, 1\n.minnctapersm 4", 128},
	} {
		k := asmtest.BuildKernel(t, "k", []byte(strings.Replace(asmtest.WideKernel(9), ".param .u32 n)", ".param .u32 n)\n"+c.directive, 1)))
		if got := registerCap(k, mustTarget(t, hopper.CC), hopper); got != c.limit {
			t.Errorf("%q: %d registers are offered, want %d", c.directive, got, c.limit)
		}
	}
}

// kernelText is a kernel of a PTX body over %r, %rd, %f and %p.
func kernelText(body string) string {
	return asmtest.Header + ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n.reg .pred %p<9>;\n.reg .f32 %f<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" +
		"ld.param.u64 %rd1, [a];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n" + body + "\nret;\n}\n"
}

// listingOf is the machine code of a PTX body over %r, %rd, %f and %p.
func listingOf(t *testing.T, body string) string {
	t.Helper()
	tg, err := target.For(hopper.CC)
	if err != nil {
		t.Fatal(err)
	}
	f, err := selected(asmtest.BuildKernel(t, "k", []byte(kernelText(body))), tg)
	if err != nil {
		t.Fatal(err)
	}
	return asmtest.Listing(f)
}

func TestSelection(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       map[string]int // occurrences of operations
	}{
		{"index times four plus base is one multiply-add",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3]; st.global.u32 [%rd3], %r3;",
			map[string]int{"IMAD.WIDE": 1, "IADD3": 0, "LDC": 2, "LDG": 1, "STG": 1}},
		{"constant offsets cost nothing",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; add.s64 %rd4, %rd3, 64; st.global.u32 [%rd4+4], %r2;",
			map[string]int{"IMAD.WIDE": 1, "IADD3": 0, "IADD3.X": 0}},
		{"shift and add is one instruction",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; shl.b32 %r3, %r2, 3; add.s32 %r4, %r3, %r2; st.global.u32 [%rd3], %r4;",
			map[string]int{"LEA": 1, "SHF": 0, "IADD3": 0}},
		{"three addends are one instruction",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r5, [%rd3+4]; ld.global.u32 %r6, [%rd3+8]; add.s32 %r3, %r2, %r5; add.s32 %r4, %r3, %r6; st.global.u32 [%rd3], %r4;",
			map[string]int{"IADD3": 1}},
		{"three addends of 64 bits are two, and a sign among them is a shift",
			"ld.global.u64 %rd2, [%rd1]; ld.global.u64 %rd3, [%rd1+8]; ld.global.u32 %r3, [%rd1+16]; cvt.s64.s32 %rd4, %r3; add.s64 %rd5, %rd2, %rd4; add.s64 %rd6, %rd3, %rd5; st.global.u64 [%rd1+24], %rd6;",
			map[string]int{"IADD3": 1, "IADD3.X": 1, "SHF": 1, "LEA": 0}},
		{"a sign among two addends of 64 bits is none",
			"ld.global.u64 %rd2, [%rd1]; ld.global.u32 %r3, [%rd1+16]; cvt.s64.s32 %rd4, %r3; add.s64 %rd5, %rd2, %rd4; st.global.u64 [%rd1+24], %rd5;",
			map[string]int{"LEA": 1, "LEA.HI.X": 1, "SHF": 0, "IADD3": 0}},
		{"a product among three addends of 64 bits is taken in",
			"ld.global.u64 %rd2, [%rd1]; ld.global.u64 %rd3, [%rd1+8]; mul.wide.s32 %rd4, %r2, 12; add.s64 %rd5, %rd2, %rd4; add.s64 %rd6, %rd3, %rd5; st.global.u64 [%rd1+24], %rd6;",
			map[string]int{"IMAD.WIDE": 1, "IADD3": 1, "IADD3.X": 1}},
		{"two logic operations are one",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; and.b32 %r3, %r2, 15; xor.b32 %r4, %r3, %r2; st.global.u32 [%rd3], %r4;",
			map[string]int{"LOP3": 1}},
		{"the majority of three is one instruction",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3+4]; ld.global.u32 %r4, [%rd3+8]; xor.b32 %r5, %r3, %r4; and.b32 %r6, %r2, %r5; and.b32 %r7, %r3, %r4; xor.b32 %r8, %r6, %r7; st.global.u32 [%rd3], %r8;",
			map[string]int{"LOP3": 1}},
		{"the choice between two is one instruction",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3+4]; ld.global.u32 %r4, [%rd3+8]; and.b32 %r5, %r2, %r3; not.b32 %r6, %r2; and.b32 %r7, %r6, %r4; or.b32 %r8, %r5, %r7; st.global.u32 [%rd3], %r8;",
			map[string]int{"LOP3": 1}},
		{"a test of bits is one instruction",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3]; and.b32 %r4, %r3, 3; setp.eq.s32 %p1, %r4, 0; selp.b32 %r5, %r1, %r2, %p1; st.global.u32 [%rd3], %r5;",
			map[string]int{"LOP3": 1, "ISETP": 0}},
		{"also where the bits are read",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3]; and.b32 %r4, %r3, 3; setp.ne.s32 %p1, %r4, 0; selp.b32 %r5, %r4, %r2, %p1; st.global.u32 [%rd3], %r5;",
			map[string]int{"LOP3": 1, "ISETP": 0}},
		{"a comparison of bits with another number is not",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3]; and.b32 %r4, %r3, 3; setp.eq.s32 %p1, %r4, 1; selp.b32 %r5, %r1, %r2, %p1; st.global.u32 [%rd3], %r5;",
			map[string]int{"LOP3": 1, "ISETP": 1}},
		{"logic of four operands is two instructions",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3+4]; ld.global.u32 %r4, [%rd3+8]; xor.b32 %r5, %r2, %r3; or.b32 %r6, %r5, %r4; and.b32 %r7, %r6, %r1; st.global.u32 [%rd3], %r7;",
			map[string]int{"LOP3": 2}},
		{"what is read twice stays an instruction",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3+4]; and.b32 %r4, %r2, %r3; xor.b32 %r5, %r4, %r2; st.global.u32 [%rd3], %r5; st.global.u32 [%rd3+4], %r4;",
			map[string]int{"LOP3": 2}},
		{"what is predicated in an arm keeps its own predicate",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3+4]; ld.global.u32 %r4, [%rd3+8]; setp.ge.s32 %p1, %r3, %r4; @%p1 bra L1; " +
				"setp.ge.s32 %p2, %r3, %r1; mov.u32 %r5, %r4; @%p2 bra L2; mov.u32 %r4, %r3; L2:\nmov.u32 %r3, %r5; L1:\nshl.b32 %r6, %r3, %r4; st.global.u32 [%rd3], %r6;",
			map[string]int{"ISETP": 2}},
		{"sine and cosine share the range reduction",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3]; sin.approx.f32 %f2, %f1; cos.approx.f32 %f3, %f1; add.f32 %f4, %f2, %f3; st.global.f32 [%rd3], %f4;",
			map[string]int{"FMUL": 1, "MUFU": 2, "FADD": 1}},
		{"comparisons combine without predicate logic",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; setp.lt.s32 %p1, %r2, 5; setp.gt.s32 %p2, %r2, %r1; or.pred %p3, %p1, %p2; selp.u32 %r3, 1, 2, %p3; st.global.u32 [%rd3], %r3;",
			map[string]int{"ISETP": 2, "PLOP3": 0, "SEL": 1}},
		{"a widened parameter has no upper word to multiply",
			"cvt.u64.u32 %rd2, %r1; cvt.s64.s32 %rd3, %r2; mul.lo.s64 %rd4, %rd2, %rd3; shl.b64 %rd5, %rd4, 2; add.s64 %rd6, %rd1, %rd5; st.global.u32 [%rd6], %r2;",
			map[string]int{"IMAD.WIDE": 1, "IMAD": 1, "MOV": 0}},
		{"an address shifted once for two arrays is computed once",
			"cvt.s64.s32 %rd2, %r2; shl.b64 %rd3, %rd2, 2; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r3, [%rd4]; setp.eq.s32 %p1, %r3, 9; @%p1 bra L; st.global.u32 [%rd4], %r2; L:\nadd.s64 %rd5, %rd4, %rd3; st.global.u32 [%rd5], %r2;",
			map[string]int{"LEA": 1, "LEA.HI.X": 1, "SHF": 3}},
		{"a warp's count of something is summed before one lane adds it",
			"atom.global.add.u32 %r3, [%rd1], %r2;", map[string]int{"REDUX": 1, "RED": 1}},
		{"a count that is read is not",
			"atom.global.add.u32 %r3, [%rd1], %r2; st.global.u32 [%rd1+4], %r3;", map[string]int{"REDUX": 0, "ATOM": 1}},
		{"counts in places of their own are not",
			"mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; red.global.add.u32 [%rd3], %r2;", map[string]int{"REDUX": 0, "RED": 1}},
		{"sums of floating point keep their order",
			"ld.global.f32 %f1, [%rd1]; red.global.add.f32 [%rd1+4], %f1;", map[string]int{"REDUX": 0, "RED": 1}},
		{"what nobody reads is not computed",
			"mul.lo.s32 %r3, %r2, %r1; add.s32 %r4, %r3, 1;",
			map[string]int{"IMAD": 0, "IADD3": 0, "S2R": 0}},
	} {
		text := listingOf(t, strings.ReplaceAll(c.body, "; ", ";\n"))
		for op, want := range c.want {
			got := len(regexp.MustCompile(`(?m)^\t(@!?\S+ )?`+regexp.QuoteMeta(op)+`( |$)`).FindAllString(text, -1))
			if op == "LDC" {
				got-- // the stack pointer's
				want--
			}
			if got != want {
				t.Errorf("%s: %d %s, want %d\n%s", c.name, got, op, want, text)
			}
		}
	}
}

func TestShortArmIsPredicatedAndEarlyReturnIsAnExit(t *testing.T) {
	p := must(t, asmtest.Saxpy, hopper)
	merged, guarded, exits := 0, 0, 0
	for _, b := range p.Blocks {
		if b.Merged >= 0 {
			merged++
		}
		for _, in := range b.Instrs {
			if in.Class == mir.Branch {
				t.Errorf("a branch is left: %+v", in)
			}
			if in.Guarded && in.Class == mir.FMA && in.Carried >= 0 {
				guarded++
			}
			if in.Class == mir.Exit && in.Guarded {
				exits++
			}
		}
	}
	if merged != 2 || guarded != 1 || exits != 1 {
		t.Errorf("%d merged blocks, %d guarded multiplies, %d guarded exits; want 2, 1 and 1", merged, guarded, exits)
	}
}

func TestEveryGenerationAssembles(t *testing.T) {
	for _, cc := range [][2]int{{3, 5}, {5, 2}, {6, 1}, {7, 0}, {7, 5}, {8, 0}, {8, 6}, {8, 9}, {9, 0}, {12, 0}} {
		p := must(t, asmtest.Saxpy, Options{CC: cc})
		if p.Registers < 6 || p.Registers > 32 {
			t.Errorf("compute capability %v: %d registers", cc, p.Registers)
		}
	}
	for _, cc := range [][2]int{{0, 0}, {2, 0}, {99, 0}} {
		if _, err := Assemble(asmtest.BuildKernel(t, "k", []byte(asmtest.Saxpy)), Options{CC: cc}); err == nil {
			t.Errorf("compute capability %v is accepted", cc)
		}
	}
	if _, err := Assemble(asmtest.BuildKernel(t, "k", []byte(asmtest.Saxpy)), Options{CC: hopper.CC, MaxRegisters: -1}); err == nil {
		t.Error("a negative cap is accepted")
	}
}

// TestVerifierFindsDamage swaps dependent instructions and moves a value onto
// another's register: the verifier must object.
func TestVerifierFindsDamage(t *testing.T) {
	tg, _ := target.For(hopper.CC)
	base, err := prepared(asmtest.BuildKernel(t, "k", []byte(asmtest.WideKernel(8))), tg, new(Workspace))
	if err != nil {
		t.Fatal(err)
	}
	u, err := base.selected(0, false)
	if err != nil {
		t.Fatal(err)
	}
	u.budget = 64
	if err := u.allocate(); err != nil {
		t.Fatal(err)
	}
	f := u.mir
	if err := regalloc.VerifyRegisters(f, &u.scratch.allocating); err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for _, b := range f.Order {
		insts := f.Blocks[b].Insts
		for i := 0; i+1 < len(insts); i++ {
			insts[i], insts[i+1] = insts[i+1], insts[i]
			if f.VerifyOrder() != nil {
				damaged++
			}
			insts[i], insts[i+1] = insts[i+1], insts[i]
		}
	}
	if damaged < 5 {
		t.Errorf("only %d exchanges of neighbours were noticed", damaged)
	}
	if err := f.VerifyOrder(); err != nil {
		t.Fatal(err)
	}
	for v := range f.Regs {
		if f.Values[v].File == vreg.General && f.Regs[v] > 4 {
			f.Regs[v] = 4
		}
	}
	if regalloc.VerifyRegisters(f, &u.scratch.allocating) == nil {
		t.Error("values on one register were not noticed")
	}
}

// TestRealKernelsVerify runs the verifier after every pass over a seeded
// sample of real kernels, caps and generations.
func TestRealKernelsVerify(t *testing.T) {
	dir := sharedDir(t)
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, seed))
	ccs := [][2]int{{9, 0}, {8, 0}, {7, 0}, {5, 2}}
	for _, set := range [][2]string{{"timings.jsonl.gz", "ptx.zip"}, {"timings-clang.jsonl.gz", "ptx-clang.zip"}} {
		c := openCorpus(t, filepath.Join(dir, set[1]))
		records := readRecords(t, filepath.Join(dir, set[0]))
		verifying = true
		defer func() { verifying = false }()
		for range 15 {
			r := records[rng.IntN(len(records))]
			cc := ccs[rng.IntN(len(ccs))]
			if _, err := Assemble(c.Kernel(t, r.PTX), Options{CC: cc, MaxRegisters: r.cap()}); err != nil {
				t.Errorf("seed %d: %s cap %d on %v: %v", seed, r.PTX, r.cap(), cc, err)
			}
		}
	}
}

// rotate sums the rotated and the counted bits of a word, and a rotation in a
// constant's place.
const rotate = asmtest.Header + `
.visible .entry rotate(.param .u64 a)
{
	.reg .b32 %r<10>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [a];
	cvta.to.global.u64 %rd2, %rd1;
	ld.global.u32 %r1, [%rd2];
	shl.b32 %r2, %r1, 7;
	shr.u32 %r3, %r1, 25;
	or.b32 %r4, %r2, %r3;
	popc.b32 %r5, %r1;
	add.s32 %r6, %r5, %r4;
	shl.b32 %r7, %r6, 13;
	shr.u32 %r8, %r6, 19;
	or.b32 %r9, %r8, %r7;
	st.global.u32 [%rd2], %r9;
	ret;
}
`

// A rotation is one funnel shift, and one that is added to is LEA.HI, as in ptxas'
// code for sm_90: two shifts and an OR for each otherwise.
func TestRotationsAreFunnelShifts(t *testing.T) {
	count := func(src string) (n int) {
		for _, b := range must(t, src, hopper).Blocks {
			for _, in := range b.Instrs {
				if in.Class == mir.ALU || in.Class == mir.FMAHeavy {
					n++
				}
			}
		}
		return n
	}
	if n := count(rotate); n != 2 {
		t.Errorf("two rotations, one of them added to: %d instructions, want 2", n)
	}
	if n := count(strings.Replace(rotate, "25", "24", 1)); n != 5 {
		t.Errorf("one of them no rotation: %d instructions, want 5", n)
	}
}

// Of sums that the integer pipe alone would make every second goes to the
// multiplier's; beside as many products none does.
func TestIntegerSumsShareTwoPipes(t *testing.T) {
	const sums = 20
	for _, c := range []struct {
		product         string
		alu, multiplier int
	}{
		{"", sums / 2, sums / 2},
		{"mul.lo.s32 %r50, %r50, %r1;\n", sums, sums},
	} {
		var sb strings.Builder
		sb.WriteString(asmtest.Header + ".visible .entry sums(.param .u64 a)\n{\n.reg .b32 %r<60>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [a];\ncvta.to.global.u64 %rd2, %rd1;\n" +
			"ld.global.u32 %r0, [%rd2];\nld.global.u32 %r1, [%rd2+4];\nld.global.u32 %r50, [%rd2+8];\n")
		for i := range sums { // each is read twice, so that none becomes part of the next
			fmt.Fprintf(&sb, "add.s32 %%r%d, %%r%d, %%r%d;\n%s", i+2, i+1, i, c.product)
		}
		fmt.Fprintf(&sb, "st.global.u32 [%%rd2], %%r%d;\nst.global.u32 [%%rd2+4], %%r%d;\nst.global.u32 [%%rd2+8], %%r50;\nret;\n}\n", sums, sums+1)
		var count [mir.NumClasses]int
		for _, b := range must(t, sb.String(), hopper).Blocks {
			for _, in := range b.Instrs {
				count[in.Class]++
			}
		}
		if count[mir.ALU] != c.alu || count[mir.FMAHeavy] != c.multiplier {
			t.Errorf("%d sums, each with %q: %d instructions for the integer pipe and %d for the multiplier's, want %d and %d", sums, c.product, count[mir.ALU], count[mir.FMAHeavy], c.alu, c.multiplier)
		}
	}
}
