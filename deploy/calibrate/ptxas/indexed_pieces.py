"""PTX of a piece of code around an array in local memory, for indexed.py.

A piece is a dictionary of what it is to have (see PARAMETERS): the array is filled, words of it
are loaded and stored at places chosen at run time, in straight code or in loops, and
at the end it is stored to global memory.
"""
PARAMETERS = {
    "n": None,  # words that are accessed at run time
    "w": 1,  # words by which an access is further than the one before: n / w places
    "vec": 1,  # words that one instruction moves; a load or store of a step has w / vec
    "lds": 1, "sts": 1,  # steps that are loaded, stored; both of one number are of the same place
    "idx": "mask",  # how the place is found: data and a mask, data and "min", data as it is ("raw"), a parameter
    # ("uniform"), data once for all ("same"), a pointer that walks ("iv")
    "loop": "none",  # "loop": all of it in a loop of an unknown number of iterations
    "outer": 1,  # of "iv": loops around it
    "trips": "const",  # of "iv": whether its number of iterations is known, or "run"
    "nounroll": 1,  # whether loops have .pragma "nounroll"
    "init": "zero", "final": "const",  # filled with zeros (in vectors) or from "global"; stored whole or "one" word
    "extra": 0, "op": "fma",  # further instructions at each step
    "condA": 0, "condT": 0,  # the accesses, or those, behind a branch
    "base": 0, "pad": 0,  # words of the array before and after
    "al": 16, "esz": 4,  # alignment of the array, bytes of a word
    "maxnreg": 0, "setup": 0,  # cap of registers; values that some of OPS want
}
OPS = {
    "fma": "fma.rn.f32 %f1,%f1,%f2,%f3;", "ex2ftz": "ex2.approx.ftz.f32 %f1,%f1;", "ex2": "ex2.approx.f32 %f1,%f1;",
    "rsqrt": "rsqrt.approx.f32 %f1,%f1;", "rsqrtftz": "rsqrt.approx.ftz.f32 %f1,%f1;", "rcpftz": "rcp.approx.ftz.f32 %f1,%f1;",
    "rcprn": "rcp.rn.f32 %f1,%f1;", "sqrtrn": "sqrt.rn.f32 %f1,%f1;", "divrn": "div.rn.f32 %f1,%f1,%f2;",
    "divfullftz": "div.full.ftz.f32 %f1,%f1,%f2;", "divfull": "div.full.f32 %f1,%f1,%f2;",
    "sin": "sin.approx.f32 %f1,%f1;", "lg2": "lg2.approx.f32 %f1,%f1;", "mullo": "mul.lo.s32 %r13,%r13,%r14;",
    "mulhi": "mul.hi.u32 %r13,%r13,%r14;", "mad": "mad.lo.s32 %r13,%r13,%r14,%r15;",
    "add64": "add.s64 %rd15,%rd15,%rd14; xor.b64 %rd15,%rd15,%rd13;", "mul64": "mul.lo.s64 %rd15,%rd15,%rd14;",
    "dfma": "fma.rn.f64 %d2,%d2,%d3,%d4;", "shl64": "shl.b64 %rd15,%rd15,%r14;",
    "ldg": "ld.global.f32 %f5,[%rd7+@J]; add.f32 %f1,%f1,%f5;",
    "ldgv4": "ld.global.v4.f32 {%f5,%f6,%f7,%f8},[%rd7+64]; fma.rn.f32 %f1,%f5,%f6,%f1; fma.rn.f32 %f1,%f7,%f8,%f1; add.s64 %rd7,%rd7,64;",
    "stg": "st.global.f32 [%rd6+@J],%f1;", "lds": "ld.shared.f32 %f5,[%r16+@J]; add.f32 %f1,%f1,%f5;", "sts": "st.shared.f32 [%r16+@J],%f1;",
    "bar": "bar.sync 0;", "selp": "setp.gt.f32 %p5,%f1,%f2; selp.f32 %f1,%f3,%f1,%p5;",
    "cvt": "cvt.rn.f32.s32 %f1,%r13; cvt.rzi.s32.f32 %r13,%f1;", "popc": "popc.b32 %r13,%r13;", "shfl": "shfl.sync.bfly.b32 %r13,%r13,1,31,-1;",
    "lop": "xor.b32 %r13,%r13,%r14; shr.u32 %r13,%r13,1; add.s32 %r13,%r13,%r15;", "rems": "rem.s32 %r13,%r13,%r14;", "divu": "div.u32 %r13,%r14,%r13;",
    "atom": "atom.global.add.u32 %r13,[%rd6],%r14;", "red": "red.global.add.u32 [%rd6],%r14;",
    "madwide": "mad.wide.s32 %rd15,%r13,%r14,%rd15; cvt.u32.u64 %r13,%rd15;", "min": "min.s32 %r13,%r13,%r14; add.s32 %r13,%r13,%r15;",
    "neg": "neg.f32 %f1,%f1; add.f32 %f1,%f1,%f2;", "mulc": "mul.f32 %f1,%f1,0f3F8CCCCD;", "addc": "add.s32 %r13,%r13,77; xor.b32 %r13,%r13,12345;",
    "fence": "membar.gl;", "ldv": "ld.volatile.global.f32 %f5,[%rd7+@J]; add.f32 %f1,%f1,%f5;", "guard": "@%p6 add.f32 %f1,%f1,%f2;",
    "setpand": "setp.gt.and.f32 %p5,%f1,%f2,%p6; selp.f32 %f1,%f3,%f1,%p5;", "ftz": "fma.rn.ftz.f32 %f1,%f1,%f2,%f3;",
    "brx": "setp.gt.f32 %p5,%f1,%f2; @%p5 bra @L; ld.volatile.global.f32 %f5,[%rd7]; add.f32 %f1,%f1,%f5;\n@L:",
}
# By bytes of an element: type, registers, and how a zero is made.
TYPES = {4: ("f32", "%f", "mov.f32 {},0f00000000;"), 8: ("f64", "%d", "mov.f64 {},0d0000000000000000;"), 2: ("b16", "%h", "mov.b16 {},0;"), 1: ("b8", "%h", "mov.b16 {},0;")}


def head(arch):
    return f".version 8.5\n.target {arch}\n.address_size 64\n"


class Piece:
    """The text of one kernel, as it is written."""

    def __init__(self, name, parameters):
        self.name, self.p = name, {**PARAMETERS, **parameters}
        self.words = self.p["n"] + self.p["base"] + self.p["pad"]
        self.type, self.file, self.zero = TYPES[self.p["esz"]]
        self.lines, self.values, self.integers, self.addresses, self.places = [], 10, 20, 20, 0

    def put(self, text):
        self.lines.append(text)

    def value(self):
        self.values += 1
        return f"{self.file}{self.values}"

    def integer(self):
        self.integers += 1
        return f"%r{self.integers}"

    def pointer(self):
        self.addresses += 1
        return f"%rd{self.addresses}"

    def place(self):
        """Another place of global memory, from the thread's own."""
        self.places += 1
        return 4096 * self.places

    def load(self):
        x = self.value()
        self.put(f"ld.global.{self.type} {x},[%rd7+{self.place()}];")
        return x

    def store(self, x):
        self.put(f"st.global.{self.type} [%rd6+{self.place()}],{x};")

    def move(self, op, address, registers, width):
        """Loads or stores registers at an address of the array, width at a time."""
        for i in range(0, len(registers), width):
            some = registers[i : i + width]
            vector, text = (f".v{width}", "{" + ",".join(some) + "}") if width > 1 else ("", some[0])
            at = f"[{address}+{i * self.p['esz']}]"
            self.put(f"{op}.local{vector}.{self.type} " + (f"{text},{at};" if op == "ld" else f"{at},{text};"))

    def fill(self):
        if self.p["init"] == "global":
            for i in range(self.words):
                x = self.load()
                self.put(f"st.local.{self.type} [%rd10+{i * self.p['esz']}],{x};")
            return
        z, size = self.value(), self.p["esz"]
        self.put(self.zero.format(z))
        width = 4 if size == 4 and self.words % 4 == 0 else 2 if size in (4, 8) and self.words % 2 == 0 else 1
        self.move("st", "%rd10", [z] * self.words, width)

    def address(self, k):
        """The register that holds the address of step k."""
        form, most, a = self.p["idx"], self.p["n"] // self.p["w"] - 1, self.pointer()
        if form == "iv":
            return "%rd11"
        x = self.integer()
        if form == "uniform":
            self.put(f"add.s32 {x},%r9,{k};")
        elif form == "same":
            if k == 0:
                self.put(f"ld.global.u32 %r19,[%rd7+128]; and.b32 %r19,%r19,{most};")
            x = "%r19"
        else:
            self.put(f"ld.global.u32 {x},[%rd7+{self.place()}];")
        y, b = self.integer(), self.pointer()
        if form in ("mask", "uniform"):
            self.put(f"and.b32 {y},{x},{most};")
        elif form == "min":
            self.put(f"min.u32 {y},{x},{most};")
        else:
            y = x
        base = "%rd12" if self.p["base"] else "%rd10"
        self.put(f"mul.wide.u32 {b},{y},{self.p['w'] * self.p['esz']}; add.s64 {a},{base},{b};")
        return a

    def skip(self, k):
        self.put(f"ld.global.u32 %r12,[%rd7+{64 + 4 * k}]; setp.eq.s32 %p4,%r12,7; @%p4 bra {self.name}_S{k};")

    def step(self, k):
        """One load, one store, or both of a place, and what else is to be there."""
        p, got = self.p, []
        if p["condA"]:
            self.skip(k)
        a = self.address(k)
        if k < p["lds"]:
            got = [self.value() for _ in range(p["w"])]
            self.move("ld", a, got, p["vec"])
        if p["condT"]:
            self.skip(k)
        for j in range(p["extra"]):
            self.put(OPS[p["op"]].replace("@L", f"{self.name}_x{k}_{j}").replace("@J", str(j * 4)))
        if p["condT"]:
            self.put(f"{self.name}_S{k}:")
        if k < p["sts"]:
            self.move("st", a, [self.next(got[j] if got else None) for j in range(p["w"])], p["vec"])
            if p["condA"]:
                self.put(f"{self.name}_S{k}:")
        elif p["loop"] == "none" and p["idx"] != "iv" or p["esz"] != 4:
            for x in got:
                self.store(x)
        else:
            for x in got:
                self.put(f"add.f32 %f1,%f1,{x};")

    def next(self, old):
        """A value to be stored where another was loaded, None: nothing was."""
        size = self.p["esz"]
        if size != 4 and not old:
            return self.load()
        x = self.value()
        if size == 4:
            self.put(f"fma.rn.f32 {x},%f1,%f2,{old or '%f3'};")
            self.put("add.f32 %f1,%f1,%f4;")
        elif size == 8:
            self.put(f"add.f64 {x},{old},%d2;")
        else:
            self.put(f"add.s16 {x},{old},3;")
        return x

    def steps(self):
        for k in range(max(self.p["lds"], self.p["sts"])):
            self.step(k)

    def loops(self):
        p = self.p
        pragma = '.pragma "nounroll";' if p["nounroll"] else ""
        if p["idx"] == "iv":
            if p["outer"] == 2:
                self.put("mov.u32 %r17,0;\n" + self.name + "_P:")
                self.put("ld.global.f32 %f3,[%rd7+4];")
            if p["outer"]:
                self.put("mov.u32 %r2,0;\n" + self.name + "_O:")
                self.put("ld.global.f32 %f2,[%rd7]; add.s64 %rd7,%rd7,16; add.f32 %f1,%f2,%f3;")
            self.put(f"mov.u64 %rd11,{'%rd12' if p['base'] else '%rd10'}; mov.u32 %r3,0;")
            self.put(f"{self.name}_I: {pragma}")
            self.steps()
            self.put(f"add.s64 %rd11,%rd11,{p['w'] * p['esz']}; add.s32 %r3,%r3,{p['w']};")
            self.put(f"setp.ne.s32 %p1,%r3,{p['n']};" if p["trips"] == "const" else "setp.lt.s32 %p1,%r3,%r8;")
            self.put(f"@%p1 bra {self.name}_I;")
            if p["outer"]:
                self.put(f"add.s32 %r2,%r2,1; setp.lt.s32 %p2,%r2,%r9; @%p2 bra {self.name}_O;")
            if p["outer"] == 2:
                self.put(f"add.s32 %r17,%r17,1; setp.lt.s32 %p3,%r17,%r8; @%p3 bra {self.name}_P;")
        elif p["loop"] == "loop":
            self.put(f"mov.u32 %r2,0;\n{self.name}_O: {pragma}")
            self.steps()
            self.put(f"add.s64 %rd7,%rd7,1024; add.s32 %r2,%r2,1; setp.lt.s32 %p2,%r2,%r9; @%p2 bra {self.name}_O;")
        else:
            self.steps()

    def finish(self):
        for i in range(self.words if self.p["final"] == "const" else 1):
            x = self.value()
            self.put(f"ld.local.{self.type} {x},[%rd10+{i * self.p['esz']}];")
            self.store(x)
        if self.p["setup"]:
            self.put("st.global.u32 [%rd6+60],%r13; st.global.u64 [%rd6+64],%rd15; st.global.f64 [%rd6+72],%d2;")
        self.put("st.global.f32 [%rd6],%f1; ret;")

    def text(self):
        p, name = self.p, self.name
        self.put(f"ld.param.u64 %rd1,[{name}_p0]; ld.param.u64 %rd2,[{name}_p1]; ld.param.u32 %r9,[{name}_p2]; ld.param.u32 %r8,[{name}_p3];")
        self.put("cvta.to.global.u64 %rd3,%rd1; cvta.to.global.u64 %rd4,%rd2; mov.u32 %r1,%tid.x; mul.wide.u32 %rd5,%r1,4; add.s64 %rd6,%rd3,%rd5; add.s64 %rd7,%rd4,%rd5;")
        self.put("mov.u64 %rd10, depot;" + (f" add.s64 %rd12,%rd10,{4 * p['base']};" if p["base"] else ""))
        self.fill()
        self.put("ld.global.f32 %f1,[%rd7]; ld.global.f32 %f2,[%rd7+4]; ld.global.f32 %f3,[%rd7+8]; ld.global.f32 %f4,[%rd7+12]; ld.global.f64 %d2,[%rd7+16];")
        if p["setup"]:
            self.put("ld.global.u32 %r13,[%rd7+24]; ld.global.u32 %r14,[%rd7+28]; ld.global.u32 %r15,[%rd7+32]; ld.global.u64 %rd15,[%rd7+40]; ld.global.u64 %rd14,[%rd7+48]; ld.global.u64 %rd13,[%rd7+56]; ld.global.f64 %d3,[%rd7+64]; ld.global.f64 %d4,[%rd7+72]; mov.u32 %r16,sh; setp.eq.s32 %p6,%r15,3;")
        self.loops()
        self.finish()
        count = {f: self.values + 1 if f == self.file else 16 for f in ("%f", "%d", "%h")}
        return f""".visible .entry {name}(.param .u64 {name}_p0,.param .u64 {name}_p1,.param .u32 {name}_p2,.param .u32 {name}_p3) {f".maxnreg {p['maxnreg']}" if p["maxnreg"] else ""}
{{
.shared .align 16 .b8 sh[4096]; .local .align {p["al"]} .b8 depot[{self.words * p["esz"]}];
.reg .pred %p<8>; .reg .b32 %r<{self.integers + 1}>; .reg .f32 %f<{count["%f"]}>; .reg .f64 %d<{count["%d"]}>; .reg .b16 %h<{count["%h"]}>; .reg .b64 %rd<{self.addresses + 1}>;
""" + "\n".join(self.lines) + "\n}\n"
