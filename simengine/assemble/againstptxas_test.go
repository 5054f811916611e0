package assemble

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// ptxasProgram is what ptxas made of a PTX file (deploy/calibrate/ptxas/opcodes.py).
type ptxasProgram struct {
	Name      string         `json:"name"`
	Registers int            `json:"registers"`
	Spill     int            `json:"spill"`
	Ops       map[string]int `json:"ops"`
}

// opKinds are operations of machine code that the model has classes for, by the beginning of their names.
var opKinds = []struct{ op, kind string }{
	{"LDGSTS", ""}, {"IMAD.WIDE", "imadwide"}, {"IMAD.HI", "imadhigh"}, {"FADD", "fma"}, {"FMUL", "fma"}, {"FFMA", "fma"}, {"MUFU", "mufu"},
	{"LDG", "load.global"}, {"LDS", "load.shared"}, {"STG", "store.global"}, {"STS", "store.shared"}, {"SHFL", "shuffle"},
	{"HMMA", "mma"}, {"HGMMA", "mma"}, {"BAR", "barrier"},
}

// kindOf is the kind of an instruction of the model, "" where opKinds has none.
func kindOf(in *Instr) string {
	kind := in.Class.String()
	switch {
	case in.Class == mir.Load || in.Class == mir.Store:
		kind += "." + strings.ToLower(fmt.Sprint(in.Space))
	case in.Class == mir.Wgmma || strings.HasPrefix(kind, "tensor"):
		kind = "mma"
	}
	for _, k := range opKinds {
		if k.kind == kind {
			return kind
		}
	}
	return ""
}

// The assembler model beside ptxas, on PTX files that are not kept here: registers and spills, and instructions by kind
// of the programs that neither spills in.
func TestAgainstPtxas(t *testing.T) {
	file, dir := os.Getenv("ASSEMBLE_PTXAS"), os.Getenv("ASSEMBLE_PTX")
	if file == "" || dir == "" {
		t.Skip("ASSEMBLE_PTXAS and ASSEMBLE_PTX name no programs of ptxas")
	}
	programs, err := results.Read[ptxasProgram](file)
	if err != nil {
		t.Fatal(err)
	}
	var score registerScore
	theirs, ours := map[string]int{}, map[string]int{}
	for _, r := range programs {
		text, err := os.ReadFile(filepath.Join(dir, r.Name+".ptx"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Assemble(asmtest.BuildKernel(t, r.Name, text), hopper)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		score.add(hopperLaunch{Registers: r.Registers, LocalBytes: r.Spill}, p)
		if r.Spill == 0 && p.SpillBytes == 0 {
			countKinds(&r, p, theirs, ours)
		}
	}
	t.Log(&score)
	for _, k := range slices.SortedFunc(maps.Keys(theirs), func(a, b string) int { return cmp.Compare(theirs[b], theirs[a]) }) {
		t.Logf("%-13s %7d by ptxas, %7d here, %.2f times", k, theirs[k], ours[k], float64(ours[k])/float64(theirs[k]))
	}
}

// countKinds adds the instructions of a program by kind.
func countKinds(r *ptxasProgram, p *Program, theirs, ours map[string]int) {
	for op, n := range r.Ops {
		for _, k := range opKinds {
			if strings.HasPrefix(op, k.op) {
				if k.kind != "" {
					theirs[k.kind] += n
				}
				break
			}
		}
	}
	for b := range p.Blocks {
		for i := range p.Blocks[b].Instrs {
			if k := kindOf(&p.Blocks[b].Instrs[i]); k != "" {
				ours[k]++
			}
		}
	}
}
