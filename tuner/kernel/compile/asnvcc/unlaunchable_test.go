package asnvcc

import "testing"

// TestUnlaunchable: of arrays of shared memory, those count that the kernel names.
func TestUnlaunchable(t *testing.T) {
	const program = `@a = internal addrspace(3) global [100 x [120 x float]] undef, align 4
@_ZZ1kvE1b = internal addrspace(3) global [1152 x i8] undef, align 1
@big = internal addrspace(3) global [99999 x i32] undef, align 4
@s = internal addrspace(3) global %struct.S undef, align 4

define dso_local void @k(ptr %x) #0 {
  store float 0.0, ptr addrspacecast (ptr addrspace(3) @a to ptr), align 4
  store i8 0, ptr addrspacecast (ptr addrspace(3) @_ZZ1kvE1b to ptr), align 1
  store i8 0, ptr addrspacecast (ptr addrspace(3) @_ZZ1kvE1b to ptr), align 1
}

define dso_local void @l(ptr %x) #0 {
  store i32 0, ptr addrspacecast (ptr addrspace(3) @big to ptr), align 4
}
`
	for kernel, want := range map[string]bool{"k": false, "l": true, "m": false} {
		if got := Unlaunchable([]byte(program), kernel); got != want {
			t.Errorf("%s: %v", kernel, got)
		}
	}
}
