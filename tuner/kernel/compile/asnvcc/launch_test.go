package asnvcc

import (
	"strings"
	"testing"
)

const annotated = `
@.str = private unnamed_addr constant [23 x i8] c"warptune_grid_constant\00", section "llvm.metadata"
@.str1 = private unnamed_addr constant [5 x i8] c"a.cu\00", section "llvm.metadata"
@.str2 = private unnamed_addr constant [22 x i8] c"warptune_cluster_dims\00", section "llvm.metadata"
@.args = private unnamed_addr constant { i32, i32 } { i32 2, i32 4 }, section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @k, ptr @.str2, ptr @.str1, i32 2, ptr @.args }], section "llvm.metadata"

define dso_local void @k(ptr noundef byval(%struct.TM) align 64 %0, ptr noundef %1, ptr noundef byval(%struct.S) align 4 %2, ptr noundef byval(%struct.TM) align 128 %3) #0 {
  %4 = alloca i32, align 4
  call void @llvm.var.annotation.p0.p0(ptr %0, ptr @.str, ptr @.str1, i32 3, ptr null)
  call void @llvm.var.annotation.p0.p0(ptr %2, ptr @.str, ptr @.str1, i32 3, ptr null)
  call void @llvm.var.annotation.p0.p0(ptr %3, ptr @.str, ptr @.str1, i32 3, ptr null)
  call void @llvm.var.annotation.p0.p0(ptr %4, ptr @.str, ptr @.str1, i32 3, ptr null)
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"kernel", i32 1}
`

// Parameters of tensor maps' alignment stay where they are, and clusters go to the PTX. No annotation is left.
func TestLaunch(t *testing.T) {
	for _, major := range []int{18, 19} {
		out, clusters := Launch([]byte(annotated), major)
		got := string(out)
		if strings.Contains(got, "call void @llvm.var") || strings.Contains(got, "global.annotations") {
			t.Errorf("an annotation is left:\n%s", got)
		}
		noted := strings.Contains(got, "!1 = !{i32 1, i32 4}\n!2 = !{ptr @k, !\"grid_constant\", !1}\n") && strings.Contains(got, "!nvvm.annotations = !{!0, !2}")
		if noted != (major >= stayingSince) {
			t.Errorf("clang %d: noted %v:\n%s", major, noted, got)
		}
		if len(clusters) != 1 || clusters[0] != (Cluster{"k", [3]string{"2", "4", "1"}}) {
			t.Errorf("clusters %v", clusters)
		}
	}
	ptx := Clustered([]byte(".visible .entry k(\n\t.param .u64 k_param_0\n)\n.maxntid 128, 1, 1\n{\n"), []Cluster{{"k", [3]string{"2", "4", "1"}}, {"other", [3]string{"1", "1", "1"}}})
	if want := ".visible .entry k(\n\t.param .u64 k_param_0\n)\n.maxntid 128, 1, 1\n.explicitcluster\n.reqnctapercluster 2, 4, 1\n{\n"; string(ptx) != want {
		t.Errorf("%s", ptx)
	}
	if out, clusters := Launch([]byte("define void @k() {\n"), 19); string(out) != "define void @k() {\n" || clusters != nil {
		t.Error("text without annotations is changed")
	}
}
