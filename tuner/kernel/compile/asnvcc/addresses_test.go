package asnvcc

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

const body = `define void @k(ptr noalias noundef readonly %%0, ptr noalias %%1, i32 %%2, i32 %%3) {
  %%5 = mul nsw i32 %%3, %%2
  %%6 = sext i32 %%5 to i64
  %%7 = getelementptr inbounds float, ptr %%0, i64 %%6
  %%8 = add nsw i32 %%3, 1
  %%9 = mul %si32 %%8, %%2
  %%10 = sext i32 %%9 to i64
  %%11 = getelementptr inbounds float, ptr %%%s, i64 %%10
  %%12 = load %sfloat, ptr %%11, align 4
  ret void
}
!0 = !{ptr @k, !"kernel", i32 1}
`

// Only what is known to be a stride beyond another address of the same array, without overflow, is computed from it, and
// only what a kernel's pointers to const lead to is invariant.
func TestAddresses(t *testing.T) {
	for _, tt := range []struct {
		nsw, array, volatile string
		chained, invariant   bool
	}{
		{"nsw ", "0", "", true, true},
		{"", "0", "", false, true},
		{"nsw ", "1", "", false, false},
		{"nsw ", "0", "volatile ", true, false},
	} {
		got := string(Optimised(fmt.Appendf(nil, body, tt.nsw, tt.array, tt.volatile)))
		if chained := strings.Contains(got, "%11 = getelementptr float, ptr %7, i64 %warptune"); chained != tt.chained {
			t.Errorf("%+v: chained %v:\n%s", tt, chained, got)
		}
		if invariant := strings.Contains(got, "align 4, !invariant.load !1\n"); invariant != tt.invariant {
			t.Errorf("%+v: invariant %v:\n%s", tt, invariant, got)
		}
	}
}

// Texts with typed pointers are read, too.
func TestAddressesTyped(t *testing.T) {
	typed := regexp.MustCompile(`ptr (noalias|%)`).ReplaceAllString(fmt.Sprintf(body, "nsw ", "0", ""), "float* $1")
	typed = strings.Replace(typed, "ptr @k", "void (float*, float*, i32, i32)* @k", 1)
	got := string(Optimised([]byte(typed)))
	for _, want := range []string{"%11 = getelementptr float, float* %7, i64 %warptune", "!invariant.load"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s:\n%s", want, got)
		}
	}
}

// What clang's optimiser brought down to 32 bits is taken apart, what the source computes so is not: nvcc leaves that.
func TestAddressesApart(t *testing.T) {
	const body = `define void @k(ptr %%0, i32 %%1) {
  %%3 = shl nuw nsw i32 %%1, 7
  %%4 = %[1]s i32 %%3 to i64
  %%5 = getelementptr inbounds float, ptr %%0, i64 %%4
  %%6 = add nuw nsw i32 %%1, 1
  %%7 = shl nuw nsw i32 %%6, 7
  %%8 = %[1]s i32 %%7 to i64
  %%9 = getelementptr inbounds float, ptr %%0, i64 %%8
  ret void
}
`
	for extension, want := range map[string]bool{"zext nneg": true, "sext": false, "zext": false} {
		got := string(chainAddresses(fmt.Appendf(nil, body, extension)))
		if apart := strings.Contains(got, ", i64 128\n"); apart != want {
			t.Errorf("%s: apart %v:\n%s", extension, apart, got)
		}
	}
}
