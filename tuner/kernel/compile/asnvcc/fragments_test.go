package asnvcc

import (
	"strings"
	"testing"
)

func TestShareFragments(t *testing.T) {
	const head = "define void @k() {\n"
	const load = `  %9 = call { i32, i32 } asm sideeffect "wmma.load.a.sync.aligned.row.m16n16k16.f16 {$0,$1}, [$2], $3;", "=r,=r,l,r,~{memory}"(POINTER, i32 24) #5, !srcloc !9` + "\n"
	const loaded = `  %9 = call { i32, i32 } asm sideeffect "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {$0,$1}, [$2], $3;", "=r,=r,r,r,~{memory}"(POINTER, i32 24) #5, !srcloc !9` + "\n"
	const store = `  call void asm sideeffect "wmma.store.d.sync.aligned.row.m16n16k16.f32 [$0], {$2,$3}, $1;", "l,r,f,f,~{memory}"(POINTER, i32 24, float %1, float %2) #5` + "\n"
	const stored = `  call void asm sideeffect "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [$0], {$2,$3}, $1;", "r,r,f,f,~{memory}"(POINTER, i32 24, float %1, float %2) #5` + "\n"
	by := func(line, pointer string) string { return strings.Replace(line, "POINTER", pointer, 1) }
	const cast, typedCast = "ptr addrspacecast (ptr addrspace(3) @s to ptr)", "[64 x half]* addrspacecast ([64 x half] addrspace(3)* @s to [64 x half]*)"
	for _, tt := range []struct{ name, in, want string }{
		{
			"a variable", by(load, "ptr nonnull addrspacecast (ptr addrspace(3) @s to ptr)"),
			"  %warptune.fragment0 = addrspacecast " + cast + " to ptr addrspace(3)\n" + by(loaded, "ptr addrspace(3) %warptune.fragment0"),
		},
		{
			"places in one",
			"  %3 = getelementptr inbounds [64 x half], " + cast + ", i64 0, i64 %2\n  %4 = getelementptr i8, ptr %3, i64 32\n" + by(load, "ptr %4") + by(store, "ptr noundef %3"),
			"  %3 = getelementptr inbounds [64 x half], " + cast + ", i64 0, i64 %2\n  %4 = getelementptr i8, ptr %3, i64 32\n" +
				"  %warptune.fragment0 = addrspacecast ptr %4 to ptr addrspace(3)\n" + by(loaded, "ptr addrspace(3) %warptune.fragment0") +
				"  %warptune.fragment1 = addrspacecast ptr %3 to ptr addrspace(3)\n" + by(stored, "ptr addrspace(3) %warptune.fragment1"),
		},
		{
			"pointers with types",
			"  %3 = getelementptr inbounds [64 x half], " + typedCast + ", i64 0, i64 %2\n" + by(load, "half* %3"),
			"  %3 = getelementptr inbounds [64 x half], " + typedCast + ", i64 0, i64 %2\n" +
				"  %warptune.fragment0 = addrspacecast half* %3 to half addrspace(3)*\n" + by(loaded, "half addrspace(3)* %warptune.fragment0"),
		},
		{
			"a place made generic",
			"  %3 = addrspacecast %struct.h addrspace(3)* %2 to %struct.h*\n" + by(load, "half* %3"),
			"  %3 = addrspacecast %struct.h addrspace(3)* %2 to %struct.h*\n" +
				"  %warptune.fragment0 = addrspacecast half* %3 to half addrspace(3)*\n" + by(loaded, "half addrspace(3)* %warptune.fragment0"),
		},
		{"an argument", by(load, "ptr %0"), by(load, "ptr %0")},
		{
			"one that is stored there", "  store ptr %0, " + cast + ", align 8\n  %3 = load ptr, " + cast + ", align 8\n" + by(load, "ptr %3"),
			"  store ptr %0, " + cast + ", align 8\n  %3 = load ptr, " + cast + ", align 8\n" + by(load, "ptr %3"),
		},
		{"another function's", "  %3 = getelementptr i8, " + cast + ", i64 4\n}\ndefine void @l(ptr %3) {\n" + by(load, "ptr %3"), "  %3 = getelementptr i8, " + cast + ", i64 4\n}\ndefine void @l(ptr %3) {\n" + by(load, "ptr %3")},
	} {
		if got := string(shareFragments([]byte(head + tt.in + "}\n"))); got != head+tt.want+"}\n" {
			t.Errorf("%s became\n%s\nwant\n%s", tt.name, got, head+tt.want)
		}
	}
}
