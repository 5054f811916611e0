package evaluate

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// copyPTX copies 64 elements of so many bits.
const copyPTX = `.version 8.0
.target sm_90
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to)
{
  .reg .b16 %%h;
  .reg .b32 %%r;
  .reg .b64 %%d<8>;
  ld.param.u64 %%d1, [from];
  ld.param.u64 %%d2, [to];
  cvta.to.global.u64 %%d1, %%d1;
  cvta.to.global.u64 %%d2, %%d2;
  mov.u32 %%r, %%tid.x;
  mul.wide.u32 %%d3, %%r, %d;
  add.s64 %%d4, %%d1, %%d3;
  add.s64 %%d5, %%d2, %%d3;
  ld.global.u%[2]d %%h, [%%d4];
  st.global.u%[2]d [%%d5], %%h;
  ret;
}`

// Buffers of the short types hold what files say and constants encode, and what a kernel writes
// there is compared with a file within the type's tolerance.
func TestBuffersOfShortTypes(t *testing.T) {
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	c, err := compile.New(compile.Options{CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range []struct {
		name  string
		bytes int
		one   []byte // 1.5, little-endian
		near  []byte // the next number
		far   []byte // 3
	}{
		{"bfloat16", 2, []byte{0xc0, 0x3f}, []byte{0xc1, 0x3f}, []byte{0x40, 0x40}},
		{"float8_e4m3", 1, []byte{0x3c}, []byte{0x3d}, []byte{0x44}},
		{"float8_e5m2", 1, []byte{0x3e}, []byte{0x3f}, []byte{0x42}},
	} {
		raw := func(last []byte) *fstest.MapFile {
			text := strings.Repeat(string(typ.one), 63) + string(last)
			return &fstest.MapFile{Data: []byte(text)}
		}
		files := fstest.MapFS{
			"k.ptx": {Data: fmt.Appendf(nil, copyPTX, typ.bytes, 8*typ.bytes)}, "one.raw": raw(typ.one), "near.raw": raw(typ.near), "far.raw": raw(typ.far),
		}
		for _, tt := range []struct{ fill, expected, wrong string }{
			{`"FillValue": 1.5`, "one.raw", ""},
			{`"FillType": "BinaryRaw", "DataSource": "one.raw"`, "one.raw", ""},
			{`"FillType": "BinaryRaw", "DataSource": "far.raw"`, "far.raw", ""},
			{`"FillType": "Generator", "DataSource": "1.5 if i < 63 else 3"`, "far.raw", ""},
			{`"FillValue": 1.5`, "near.raw", ""},
			{`"FillValue": 1.5`, "far.raw", "argument to, element 63 is 1.5, and 3 in far.raw"},
		} {
			def, _, err := kernel.Parse("k", fmt.Appendf(nil, `{"ConfigurationSpace": {"TuningParameters": [{"Name": "B", "Type": "int", "Values": "[64]"}]},
				"KernelSpecification": {"Language": "PTX", "KernelName": "copy", "KernelFile": "k.ptx", "LocalSize": {"X": "B"}, "GlobalSize": {"X": 1}, "Arguments": [
				{"Name": "from", "Type": "%s", "Size": 64, %s}, {"Name": "to", "Type": "%[1]s", "Size": 64, "Expected": "%[3]s"}]}}`, typ.name, tt.fill, tt.expected), files)
			if err != nil {
				t.Fatal(err)
			}
			out, _, err := New(c).Evaluate(t.Context(), Job{Kernel: def, Config: def.Default(), Arch: d, Level: simengine.Model, Check: simengine.CheckAll, Answers: NewAnswers()})
			switch {
			case err != nil:
				t.Fatal(err)
			case tt.wrong == "" && (out.Validity != tuner.Correct || out.Checked.Compared != 64):
				t.Errorf("%s, %s, %s: %s: %s, %d compared", typ.name, tt.fill, tt.expected, out.Validity, out.Message, out.Checked.Compared)
			case tt.wrong != "" && (out.Validity != tuner.Correctness || !strings.Contains(out.Message, tt.wrong)):
				t.Errorf("%s, %s, %s: %s: %s", typ.name, tt.fill, tt.expected, out.Validity, out.Message)
			}
		}
	}
}
