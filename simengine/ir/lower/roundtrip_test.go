package lower_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/irtest"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ptx"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// renamed is a copy of a kernel whose registers have names that differ and that PTX takes.
func renamed(k *ir.Kernel) *ir.Kernel {
	c := *k
	c.Regs = append([]ir.RegInfo(nil), k.Regs...)
	for i := range c.Regs {
		c.Regs[i].Name = fmt.Sprintf("%%v%d", i)
	}
	c.Vars = append([]ir.Var(nil), k.Vars...)
	for i := range c.Vars {
		c.Vars[i].Name = fmt.Sprintf("var%d", i)
	}
	return &c
}

// written is a kernel as a PTX module, each instruction as Kernel.Text gives it.
func written(k *ir.Kernel) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".version %s\n.target %s\n.address_size 64\n", k.Module.Version, k.Module.Target)
	module := len(k.Module.Vars)
	for i := range k.Vars[:module] {
		declare(&b, &k.Vars[i])
	}
	fmt.Fprintf(&b, ".visible .entry %s(", k.Name)
	for i, p := range k.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		if p.Size == p.Type.Size() {
			fmt.Fprintf(&b, ".param .%s %s", p.Type, p.Name)
		} else {
			fmt.Fprintf(&b, ".param .align %d .b8 %s[%d]", p.Align, p.Name, p.Size)
		}
	}
	b.WriteString(")\n")
	if c := k.Cluster; c[0] > 0 {
		fmt.Fprintf(&b, ".explicitcluster\n.reqnctapercluster %d, %d, %d\n", c[0], c[1], c[2])
	}
	b.WriteString("{\n")
	for _, r := range k.Regs {
		fmt.Fprintf(&b, ".reg .%s %s;\n", r.Type, r.Name)
	}
	for i := range k.Vars[module:] {
		declare(&b, &k.Vars[module+i])
	}
	for i := range k.Blocks {
		fmt.Fprintf(&b, "b%d:\n", i)
		for pc := k.Blocks[i].Start; pc < k.Blocks[i].End; pc++ {
			text := k.Text(pc)
			if k.Instrs[pc].Op == ir.Nop {
				text = strings.Replace(text, "nop", "griddepcontrol.wait", 1)
			}
			b.WriteString(text + "\n")
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func declare(b *strings.Builder, v *ir.Var) {
	size := fmt.Sprint(v.Size)
	if v.Size == 0 {
		b.WriteString(".extern ")
		size = ""
	}
	fmt.Fprintf(b, ".%s .align %d .b8 %s[%s];\n", v.Space, v.Align, v.Name, size)
}

// roundTrip writes a kernel as text, reads it again and compares the instructions.
func roundTrip(t *testing.T, k *ir.Kernel) {
	t.Helper()
	k = renamed(k)
	text := written(k)
	m, err := ptx.Parse(k.Name+".ptx", []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", k.Name, err)
	}
	out, err := lower.Build(m)
	if err != nil {
		t.Fatalf("%s: %v", k.Name, err)
	}
	again, err := out.Kernel("")
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Instrs) != len(k.Instrs) || again.Cluster != k.Cluster {
		t.Fatalf("%s: %d instructions and clusters of %v, want %d and %v", k.Name, len(again.Instrs), again.Cluster, len(k.Instrs), k.Cluster)
	}
	for pc := range k.Instrs {
		a, b := k.Instrs[pc], again.Instrs[pc]
		a.Pos, b.Pos = ptx.Pos{}, ptx.Pos{}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%s: %s is read as %s\n%+v\n%+v", k.Name, k.Text(pc), again.Text(pc), a, b)
		}
	}
}

// Every kernel that ran on an H100 is decoded, holds the invariants, and is the same when it is
// written as text and read again.
func TestHopperKernels(t *testing.T) {
	n := 0
	ptxtest.Hopper(t, "../../..", func(name string, src []byte) {
		n++
		k, err := build(t, name, string(src)).Kernel("")
		if err != nil {
			t.Fatal(err)
		}
		if err := irtest.Verify(k); err != nil {
			t.Error(name, err)
		}
		roundTrip(t, k)
	})
	if n < 400 {
		t.Errorf("only %d files", n)
	}
}
