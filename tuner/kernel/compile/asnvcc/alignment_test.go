package asnvcc

import (
	"strings"
	"testing"
)

func TestTrustCasts(t *testing.T) {
	const copy = "  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !1\n"
	const trusted = "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !1\n"
	const unaligned = "  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %1, ptr align 8 %2, i64 16, i1 false), !tbaa.struct !1\n"
	for _, tt := range []struct{ name, types, in, want string }{
		{"a vector", "%struct.float4 = type { float, float, float, float }\n", copy, trusted},
		{"one that nothing else is known of", "", copy, trusted},
		{"neither side is aligned", "", unaligned, unaligned},
		{"a struct of the program's", "%struct.point = type { float, float, float, float }\n", copy, copy},
		{"one of another shape", "%struct.point = type { float, float }\n%struct.pair = type { ptr, i32 }\n", copy, trusted},
		{"not all of it", "", strings.Replace(copy, "i64 16", "i64 8", 1), strings.Replace(copy, "i64 16", "i64 8", 1)},
	} {
		if got := string(trustCasts([]byte(tt.types + tt.in + copyMetadata))); got != tt.types+tt.want+copyMetadata {
			t.Errorf("%s became\n%s", tt.name, strings.TrimSuffix(got, copyMetadata))
		}
	}
}
