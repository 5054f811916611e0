package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/measure/standin"
)

// copyPTX adds one to the texels of a texture of rows of 32 floats, and stores them to a surface.
const copyPTX = `.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 t, .param .u64 s)
{
	.reg .f32 %f<6>;
	.reg .b32 %r<5>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [t];
	ld.param.u64 %rd2, [s];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2}];
	add.f32 %f5, %f1, 0f3F800000;
	mov.b32 %r4, %f5;
	shl.b32 %r3, %r1, 2;
	sust.b.2d.b32.trap [%rd2, {%r3, %r2}], {%r4};
	ret;
}
`

// measureDefinition measures the one configuration of a definition of a kernel of PTX.
func measureDefinition(t *testing.T, entry, ptx, specification string) result {
	t.Helper()
	dir := t.TempDir()
	definition := fmt.Sprintf(`{"General": {"FormatVersion": 1}, "ConfigurationSpace": {"TuningParameters": [{"Name": "B", "Type": "int", "Values": [32]}]},
		"KernelSpecification": {"Language": "PTX", "KernelName": %q, "KernelFile": "k.ptx", "LocalSize": {"X": 32}, %s}}`, entry, specification)
	for name, text := range map[string]string{"k.ptx": ptx, "k.json": definition} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return warptune(t, "measure", filepath.Join(dir, "k.json"), "--all", "--db", filepath.Join(dir, "w.db"), "--json")
}

// The one row of a document.
func oneRow(t *testing.T, r result) (row struct {
	MeasuredUS float64 `json:"measured_us"`
	FirstUS    float64 `json:"first_us"`
	Outcome    struct {
		Checked struct{ Compared, Outputs string }
	}
}) {
	t.Helper()
	var m struct{ Rows []json.RawMessage }
	if err := json.Unmarshal([]byte(r.ok(t).stdout), &m); err != nil || len(m.Rows) != 1 {
		t.Fatalf("%v: %d rows: %s%s", err, len(m.Rows), r.stdout, r.stderr)
	}
	if err := json.Unmarshal(m.Rows[0], &row); err != nil {
		t.Fatal(err)
	}
	return row
}

// What a kernel stores to a surface is compared with the simulator's execution.
func TestMeasureTexturesAndSurfaces(t *testing.T) {
	standin.Install(t, false)
	row := oneRow(t, measureDefinition(t, "copy", copyPTX, `"GlobalSize": {"X": 10}, "Arguments": [
		{"Name": "t", "Type": "float", "MemoryType": "Texture", "Shape": [32, 10], "FillType": "Random", "FillValue": 1},
		{"Name": "s", "Type": "float", "MemoryType": "Surface", "Shape": [32, 10], "FillType": "Constant", "FillValue": 0}]`))
	if row.MeasuredUS < 199 || row.FirstUS != 0 || row.Outcome.Checked.Compared == "" || !strings.HasPrefix(row.Outcome.Checked.Outputs, "agree") {
		t.Errorf("a launch of 200 us that stores to a surface came to %+v", row)
	}
}

// Managed memory's first launch is beside its warm ones; a cooperative launch is launched as one.
func TestMeasureManagedAndCooperative(t *testing.T) {
	standin.Install(t, false)
	arguments := `"GlobalSize": {"X": 32}, "Arguments": [{"Name": "p", "Type": "int32", "MemoryType": "Vector", "Size": 1000%s},
		{"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillType": "Constant", "FillValue": 1000},
		{"Name": "v", "Type": "int32", "MemoryType": "Scalar", "FillType": "Constant", "FillValue": 7}]`
	for _, c := range []struct{ entry, managed, more string }{
		{"fill_host", `, "Managed": true`, ""}, {"fill_nowhere", `, "Managed": "nowhere"`, ""}, {"fill_device", `, "Managed": "device"`, ""}, {"fill_together", "", `"Cooperative": 1, `},
	} {
		row := oneRow(t, measureDefinition(t, c.entry, fmt.Sprintf(standin.FillPTX, c.entry), c.more+fmt.Sprintf(arguments, c.managed)))
		migrates := c.entry == "fill_host" || c.entry == "fill_nowhere"
		if row.MeasuredUS < 199 || row.MeasuredUS > 300 || migrates && row.FirstUS < 1199 || !migrates && row.FirstUS != 0 || row.Outcome.Checked.Compared == "" {
			t.Errorf("%s: a launch of 200 us, 1200 the first, came to %+v", c.entry, row)
		}
	}
}

// meetPTX is a barrier of the grid in the workspace that cooperative launches have, as grid_group::sync
// is compiled, in front of what standin.FillPTX does.
const meetPTX = `	.reg .pred %q<4>;
	.reg .b32 %s<8>;
	.reg .b64 %sd<4>;
	mov.u32 %s0, %envreg2;
	cvt.u64.u32 %sd0, %s0;
	mov.u32 %s0, %envreg1;
	cvt.u64.u32 %sd1, %s0;
	bfi.b64 %sd2, %sd1, %sd0, 32, 32;
	add.s64 %sd3, %sd2, 4;
	bar.sync 0;
	mov.u32 %s1, %tid.x;
	setp.ne.u32 %q0, %s1, 0;
	@%q0 bra there;
	mov.u32 %s2, %nctaid.x;
	sub.u32 %s3, 0x80000001, %s2;
	mov.u32 %s4, %ctaid.x;
	setp.eq.u32 %q1, %s4, 0;
	selp.b32 %s3, %s3, 1, %q1;
	atom.add.release.gpu.u32 %s5, [%sd3], %s3;
look:
	ld.acquire.gpu.u32 %s6, [%sd3];
	xor.b32 %s6, %s6, %s5;
	setp.gt.s32 %q2, %s6, -1;
	@%q2 bra look;
there:
	bar.sync 0;
	ld.param.u64 %rd1, [p];
`

// A kernel that meets in its grid is launched cooperatively though nobody says so.
func TestMeasureGridBarrier(t *testing.T) {
	standin.Install(t, false)
	ptx := strings.Replace(fmt.Sprintf(standin.FillPTX, "fill_together"), "\tld.param.u64 %rd1, [p];\n", meetPTX, 1)
	row := oneRow(t, measureDefinition(t, "fill_together", ptx, `"GlobalSize": {"X": 32}, "Arguments": [{"Name": "p", "Type": "int32", "MemoryType": "Vector", "Size": 1000},
		{"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillType": "Constant", "FillValue": 1000},
		{"Name": "v", "Type": "int32", "MemoryType": "Scalar", "FillType": "Constant", "FillValue": 7}]`))
	if row.MeasuredUS < 199 || row.Outcome.Checked.Compared == "" {
		t.Errorf("a launch of 200 us came to %+v", row)
	}
}
