package asnvcc

import (
	"strings"
	"testing"
)

// copyMetadata names float4's elements (!1), an int and a float of 8 bytes in all (!2), a double
// and two floats (!3), char4's (!4), a struct with a gap (!5) two pointers (!6)
// and an array (!7).
const copyMetadata = `
!1 = !{i64 0, i64 4, !10, i64 4, i64 4, !10, i64 8, i64 4, !10, i64 12, i64 4, !10}
!2 = !{i64 0, i64 4, !11, i64 4, i64 4, !10}
!3 = !{i64 0, i64 8, !12, i64 8, i64 4, !10, i64 12, i64 4, !10}
!4 = !{i64 0, i64 1, !13, i64 1, i64 1, !13, i64 2, i64 1, !13, i64 3, i64 1, !13}
!5 = !{i64 0, i64 1, !13, i64 4, i64 4, !10}
!6 = !{i64 0, i64 8, !14, i64 8, i64 8, !14}
!7 = !{i64 0, i64 16, !13}
!10 = !{!20, !20, i64 0}
!11 = !{!21, !21, i64 0}
!12 = !{!22, !22, i64 0}
!13 = !{!23, !23, i64 0}
!14 = !{!24, !24, i64 0}
!20 = !{!"float", !23, i64 0}
!21 = !{!"int", !23, i64 0}
!22 = !{!"double", !23, i64 0}
!23 = !{!"omnipotent char", !25, i64 0}
!24 = !{!"any pointer", !23, i64 0}
`

func TestVectorCopies(t *testing.T) {
	memcpy := func(operands string) string {
		return "  call void @llvm.memcpy.p0.p0.i64(" + operands + "\n"
	}
	for _, tt := range []struct{ name, in, want string }{
		{
			"float4", memcpy("ptr align 16 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !1"),
			"  %warptune.copy0 = load <4 x float>, ptr %2, align 16\n  store <4 x float> %warptune.copy0, ptr %1, align 16\n",
		},
		{
			"address expression", memcpy("ptr align 16 getelementptr inbounds ([4 x %struct.float4], ptr addrspacecast (ptr addrspace(3) @s to ptr), i64 0, i64 1), ptr align 16 %2, i64 16, i1 false), !tbaa.struct !1"),
			"  %warptune.copy0 = load <4 x float>, ptr %2, align 16\n  store <4 x float> %warptune.copy0, ptr getelementptr inbounds ([4 x %struct.float4], ptr addrspacecast (ptr addrspace(3) @s to ptr), i64 0, i64 1), align 16\n",
		},
		{
			"each side keeps its alignment", memcpy("ptr align 4 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !1"),
			"  %warptune.copy0 = load <4 x float>, ptr %2, align 16\n  store <4 x float> %warptune.copy0, ptr %1, align 4\n",
		},
		{
			"typed pointers", "  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 8 %1, i8* align 8 %2, i64 8, i1 false), !tbaa.struct !2\n",
			"  %warptune.copy0.from = bitcast i8* %2 to <2 x i32>*\n  %warptune.copy0 = load <2 x i32>, <2 x i32>* %warptune.copy0.from, align 8\n" +
				"  %warptune.copy0.to = bitcast i8* %1 to <2 x i32>*\n  store <2 x i32> %warptune.copy0, <2 x i32>* %warptune.copy0.to, align 8\n",
		},
		{
			"bytes", memcpy("ptr align 4 %1, ptr align 4 %2, i64 4, i1 false), !tbaa.struct !4"),
			"  %warptune.copy0 = load <4 x i8>, ptr %2, align 4\n  store <4 x i8> %warptune.copy0, ptr %1, align 4\n",
		},
		{
			"in pieces", memcpy("ptr align 8 %1, ptr align 8 %2, i64 16, i1 false), !tbaa.struct !1"),
			"  %warptune.copy0 = load <2 x float>, ptr %2, align 8\n  store <2 x float> %warptune.copy0, ptr %1, align 8\n" +
				"  %warptune.copy1.from.at = getelementptr inbounds i8, ptr %2, i64 8\n  %warptune.copy1 = load <2 x float>, ptr %warptune.copy1.from.at, align 8\n" +
				"  %warptune.copy1.to.at = getelementptr inbounds i8, ptr %1, i64 8\n  store <2 x float> %warptune.copy1, ptr %warptune.copy1.to.at, align 8\n",
		},
		{"elements not alike", memcpy("ptr align 16 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !3"), ""},
		{"a gap", memcpy("ptr align 8 %1, ptr align 8 %2, i64 8, i1 false), !tbaa.struct !5"), ""},
		{"pointers", memcpy("ptr align 16 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !6"), ""},
		{"an array", memcpy("ptr align 16 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !7"), ""},
		{"aligned to an element", memcpy("ptr align 4 %1, ptr align 4 %2, i64 16, i1 false), !tbaa.struct !1"), ""},
		{"not all of the struct", memcpy("ptr align 16 %1, ptr align 16 %2, i64 32, i1 false), !tbaa.struct !1"), ""},
		{"volatile", memcpy("ptr align 16 %1, ptr align 16 %2, i64 16, i1 true), !tbaa.struct !1"), ""},
		{"of no known type", memcpy("ptr align 16 %1, ptr align 16 %2, i64 16, i1 false)"), ""},
		{
			"an address chosen", "define void @f() {\n5:\n  br label %7\n\n6:\n  br label %7\n\n7:\n  %8 = phi ptr [ %2, %5 ], [ %3, %6 ]\n  %9 = sext i32 %4 to i64\n" +
				memcpy("ptr align 16 %1, ptr align 16 %8, i64 16, i1 false), !tbaa.struct !1"),
			"define void @f() {\n5:\n  %warptune.copy0.0 = load <4 x float>, ptr %2, align 16\n  br label %7\n\n6:\n  %warptune.copy0.1 = load <4 x float>, ptr %3, align 16\n  br label %7\n\n7:\n" +
				"  %8 = phi ptr [ %2, %5 ], [ %3, %6 ]\n  %warptune.copy0 = phi <4 x float> [ %warptune.copy0.0, %5 ], [ %warptune.copy0.1, %6 ]\n  %9 = sext i32 %4 to i64\n" +
				"  store <4 x float> %warptune.copy0, ptr %1, align 16\n",
		},
		{
			"an address chosen before a store", "define void @f() {\n5:\n  br label %7\n\n6:\n  br label %7\n\n7:\n  %8 = phi ptr [ %2, %5 ], [ %3, %6 ]\n  store i32 1, ptr %2, align 4\n" +
				memcpy("ptr align 16 %1, ptr align 16 %8, i64 16, i1 false), !tbaa.struct !1"),
			"define void @f() {\n5:\n  br label %7\n\n6:\n  br label %7\n\n7:\n  %8 = phi ptr [ %2, %5 ], [ %3, %6 ]\n  store i32 1, ptr %2, align 4\n" +
				"  %warptune.copy0 = load <4 x float>, ptr %8, align 16\n  store <4 x float> %warptune.copy0, ptr %1, align 16\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				tt.want = tt.in
			}
			got := string(VectorCopies([]byte(tt.in + copyMetadata)))
			if got != tt.want+copyMetadata {
				t.Errorf("got\n%s", strings.TrimSuffix(got, copyMetadata))
			}
		})
	}
}
