package compile

import (
	"bytes"
	"testing"
)

// The variable that says a kernel's name, and the declaration that it comes with, leave nothing behind in nvcc's PTX
// (nvcc 13.5): it is what the source gives without them.
func TestTakeNVCCEntry(t *testing.T) {
	const head = ".version 9.5\n.target sm_90a\n.address_size 64\n\n"
	const rest = ".global .align 8 .u64 other = 3;\n\n.visible .entry _Z2kkILi1ELi2EEvPi(\n\t.param .u64 _Z2kkILi1ELi2EEvPi_param_0\n)\n.maxntid 128\n{\n\tret;\n\n}\n"
	const declared = "\t// .globl\t_Z2kkILi1ELi2EEvPi\n.visible .entry _Z2kkILi1ELi2EEvPi\n(\n\t.param .u64 _Z2kkILi1ELi2EEvPi_param_0\n)\n.maxntid 128\n;\n"
	const named = ".global .align 8 .u64 warptune_entry = _Z2kkILi1ELi2EEvPi;\n"
	for text, entry := range map[string]string{head + declared + named + "\n" + rest: "_Z2kkILi1ELi2EEvPi", head + named + "\n" + rest: "_Z2kkILi1ELi2EEvPi", head + rest: ""} {
		got, name := takeNVCCEntry([]byte(text))
		if name != entry || !bytes.Equal(got, []byte(head+rest)) {
			t.Errorf("entry %q, want %q, in:\n%s", name, entry, got)
		}
	}
}
