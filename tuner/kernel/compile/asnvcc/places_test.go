package asnvcc

import "testing"

func TestForgetPlaces(t *testing.T) {
	const before = "define void @k() {\n  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %2 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.nctaid.z() #3\n" +
		"  %3 = call i32 @llvm.nvvm.read.ptx.sreg.laneid()\n  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y(), !range !2\n  ret void\n}\n\n!2 = !{i32 0, i32 7}\n"
	const after = "define void @k() {\n  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !3\n  %2 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.nctaid.z() #3, !range !3\n" +
		"  %3 = call i32 @llvm.nvvm.read.ptx.sreg.laneid()\n  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y(), !range !2\n  ret void\n}\n\n!2 = !{i32 0, i32 7}\n\n!3 = !{i32 0, i32 -1}\n"
	if got := string(forgetPlaces([]byte(before))); got != after {
		t.Errorf("became\n%s", got)
	}
	const none = "define void @k() {\n  ret void\n}\n"
	if got := string(forgetPlaces([]byte(none))); got != none {
		t.Errorf("became\n%s", got)
	}
}
