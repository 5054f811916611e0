package evaluate

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

const recordedPTX = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 to)
{
	.reg .b64 %rd<4>;
	.reg .b32 %r<4>;
	ld.param.u64 %rd1, [to];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
`

// Registers and spills that a launch record has of an assembler are taken for its target, unless an assembler is at hand or
// the model is asked for; the question is another one with each.
func TestRecordedResources(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "ptx"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ptx", "k.ptx"), []byte(recordedPTX), 0o600); err != nil {
		t.Fatal(err)
	}
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt", CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	ev, digests := New(compiler), map[string]string{}
	outcome := func(what, assembled string, change func(*Job)) tuner.Outcome {
		t.Helper()
		line := fmt.Sprintf(`{"kernel": "k", "params": {"B": 1}, "ptx": "k", "block": [256], "grid": [1320], "registers": 99, "args": [{"name": "to", "type": "int32", "vector": true, "count": 256}]%s}`, assembled)
		defs, _, err := kernel.Launches([]kernel.LaunchLine{{Number: 1, Text: []byte(line)}}, call.Dir(dir))
		if err != nil {
			t.Fatal(what, err)
		}
		job := Job{Kernel: defs[0], Config: defs[0].Default(), Arch: d, Level: simengine.Model, Check: simengine.CheckNone}
		change(&job)
		out, _, err := ev.Evaluate(t.Context(), job)
		if err != nil || out.Validity != tuner.Correct {
			t.Fatalf("%s: %s %s, %v", what, out.Validity, out.Message, err)
		}
		if digest, ok := ev.Digest(t.Context(), job); !ok || digest != out.Digest {
			t.Errorf("%s: the digest is foretold as %s, and is %s", what, digest, out.Digest)
		}
		digests[what] = out.Digest
		return out
	}
	asIs := func(*Job) {}
	const by128 = `, "assembled": {"by": "ptxas of Triton 3.6.0", "target": "sm_90a", "registers": 128, "spill_bytes": 8}`
	model := outcome("the model", "", asIs)
	said := outcome("128", by128, asIs)
	if said.Registers != 128 || said.SpillBytes != 8 || said.Occupancy >= model.Occupancy || said.Compiler != model.Compiler+", registers by ptxas of Triton 3.6.0" {
		t.Errorf("a record of 128 registers: %+v", said)
	}
	outcome("64", `, "assembled": {"by": "ptxas of Triton 3.6.0", "target": "sm_90a", "registers": 64, "spill_bytes": 8}`, asIs)
	for what, out := range map[string]tuner.Outcome{
		"another target": outcome("another target", `, "assembled": {"by": "ptxas", "target": "sm_80", "registers": 128, "spill_bytes": 0}`, asIs),
		"modelled":       outcome("modelled", by128, func(j *Job) { j.Modelled = true }),
	} {
		if out.Digest != model.Digest || out.Registers != model.Registers || out.Compiler != model.Compiler {
			t.Errorf("%s: %+v, the model %+v", what, out, model)
		}
	}
	other := outcome("an assembler", by128, func(j *Job) { j.Assembler = assemblerSaying(t, "1.0.0", 200, 0, 0) })
	if other.Registers != 200 || other.SpillBytes != 0 {
		t.Errorf("an assembler at hand: %+v", other)
	}
	if len(map[string]bool{digests["the model"]: true, digests["128"]: true, digests["64"]: true, digests["an assembler"]: true}) != 4 {
		t.Errorf("questions are the same: %v", digests)
	}
}
