package standin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FillPTX is a kernel that stores v to n elements of p. What else a launch of it does is what its
// name, which is to be put in, says to the driver: see cuda.c.txt.
const FillPTX = `.version 8.0
.target sm_80
.address_size 64
.visible .entry %s(.param .u64 p, .param .u32 n, .param .u32 v)
{
	.reg .pred %%p<2>;
	.reg .b32 %%r<7>;
	.reg .b64 %%rd<5>;
	ld.param.u64 %%rd1, [p];
	ld.param.u32 %%r1, [n];
	ld.param.u32 %%r2, [v];
	mov.u32 %%r3, %%ctaid.x;
	mov.u32 %%r4, %%ntid.x;
	mov.u32 %%r5, %%tid.x;
	mad.lo.s32 %%r6, %%r3, %%r4, %%r5;
	setp.ge.u32 %%p1, %%r6, %%r1;
	@%%p1 ret;
	cvta.to.global.u64 %%rd2, %%rd1;
	mul.wide.u32 %%rd3, %%r6, 4;
	add.s64 %%rd4, %%rd2, %%rd3;
	st.global.u32 [%%rd4], %%r2;
	ret;
}
`

// Fills writes a folder of launch records of one group, a configuration for each kind.
func Fills(t testing.TB, kinds ...string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var lines strings.Builder
	for _, kind := range kinds {
		write(filepath.Join("ptx", kind+".ptx"), fmt.Sprintf(FillPTX, kind))
		fmt.Fprintf(&lines, `{"kernel":"fill","group":"g","problem_size":[1000],"params":{"KIND":%q,"B":128},"ptx":%q,"entry":%q,"block":[128,1,1],"grid":[8,1,1],`+
			`"args":[{"name":"p","vector":true,"type":"int32","count":1000},{"name":"n","value":1000,"type":"int32"},{"name":"v","value":7,"type":"int32"}]}`+"\n", kind, kind, kind)
	}
	write("launches.jsonl", lines.String())
	return dir
}
