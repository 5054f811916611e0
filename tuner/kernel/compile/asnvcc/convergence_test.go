package asnvcc

import (
	"bytes"
	"strings"
	"testing"
)

// Tokens are given to what threads do together, through functions too, and nothing else stays convergent.
func TestControlConvergence(t *testing.T) {
	const before = `define void @k() #0 {
  call void @together() #1
  %1 = call float @alone(float 1.0) #1, !srcloc !2
  %2 = call float asm "ex2.approx.f32 $0, $1;", "=f,f"(float %1) #1, !srcloc !2
  call void asm sideeffect "bar.sync 0;", "~{memory}"() #1, !srcloc !2
  ret void
}
define internal void @together() #0 {
  call void @llvm.nvvm.barrier0()
  ret void
}
define internal float @alone(float %0) #0 {
  ret float %0
}
declare void @llvm.nvvm.barrier0() #3
attributes #0 = { convergent nounwind }
attributes #1 = { convergent nounwind memory(none) }
attributes #3 = { convergent nocallback nounwind }
!2 = !{i64 7}
`
	const after = `define void @k() #0 {
  %warptune.converge1 = call token @llvm.experimental.convergence.anchor()
  call void @together() #1 [ "convergencectrl"(token %warptune.converge1) ]
  %1 = call float @alone(float 1.0) #1000000, !srcloc !2
  %2 = call float asm "ex2.approx.f32 $0, $1;", "=f,f"(float %1) #1000000, !srcloc !2
  %warptune.converge2 = call token @llvm.experimental.convergence.anchor()
  call void asm sideeffect "bar.sync 0;", "~{memory}"() #1 [ "convergencectrl"(token %warptune.converge2) ], !srcloc !2
  ret void
}
define internal void @together() #0 {
  %warptune.converge3 = call token @llvm.experimental.convergence.anchor()
  call void @llvm.nvvm.barrier0() [ "convergencectrl"(token %warptune.converge3) ]
  ret void
}
define internal float @alone(float %0) #0000000 {
  ret float %0
}
declare void @llvm.nvvm.barrier0() #3
attributes #0 = { convergent nounwind }
attributes #1 = { convergent nounwind memory(none) }
attributes #3 = { convergent nocallback nounwind }
!2 = !{i64 7}
declare token @llvm.experimental.convergence.anchor()
attributes #0000000 = { nounwind }
attributes #1000000 = { nounwind memory(none) }
`
	if got := controlConvergence([]byte(before)); string(got) != after {
		t.Errorf("became\n%s", got)
	}
	const none = "define void @k() {\n  ret void\n}\n"
	if got := controlConvergence([]byte(none)); !bytes.Equal(got, []byte(none)) {
		t.Errorf("became\n%s", got)
	}
}

// Of an optimised program calls lose their tokens that neither by themselves nor by what they call are convergent.
func TestIdleTokens(t *testing.T) {
	const before = `define void @k() #0 {
  %t = tail call token @llvm.experimental.convergence.anchor()
  call void @alone(ptr %0, i32 1) #2 [ "convergencectrl"(token %t) ], !dbg !9
  call void @together() #2 [ "convergencectrl"(token %t) ]
  call void @alone(ptr %0, i32 2) #0 [ "convergencectrl"(token %t) ]
  call void @llvm.nvvm.barrier0() [ "convergencectrl"(token %t) ]
  call void asm sideeffect "bar.sync 0;", "~{memory}"() #0 [ "convergencectrl"(token %t) ]
  ret void
}
define internal void @alone(ptr %0, i32 %1) local_unnamed_addr #2 {
  ret void
}
define internal void @together() #0 {
  ret void
}
declare void @llvm.nvvm.barrier0() #0
attributes #0 = { convergent nounwind }
attributes #2 = { nounwind }
`
	after := strings.Replace(before, ` #2 [ "convergencectrl"(token %t) ], !dbg`, " #2, !dbg", 1)
	if got := withoutIdleTokens([]byte(before)); string(got) != after {
		t.Errorf("became\n%s", got)
	}
	if got := withoutIdleTokens([]byte(after)); string(got) != after {
		t.Errorf("without any such call it became\n%s", got)
	}
}
