package assemble

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/ir"
)

// Leaving a rule out changes a program that it was made for, and what comes of it holds what
// every pass promises.
func TestEveryRuleChangesAProgram(t *testing.T) {
	verifying = true
	defer func() { verifying = false }()
	changed := map[string]bool{}
	for _, c := range []struct {
		rule   string
		kernel *ir.Kernel
		cap    int
	}{
		{"address-offsets", measuredKernel(t, "h100-2026-11-26-independent-c/spgemm_hash-fdecf3216540"), 0},
		{"saturation-folding", measuredKernel(t, "h100-2026-11-25-independent-b/heston_paths-2a471b841c98"), 0},
		{"half-vectors", measuredKernel(t, "h200-2026-11-23-project-e/hgemm_tile-6c790d7da781"), 32},
		{"sink-loads", inline(t, tiles(8, 200, "")), 0},
		{"absorbed-multiplies", measuredKernel(t, "h200-neural-networks/rotate_image-4d9838a827f3"), 0},
		{"uniform-induction", measuredKernel(t, "h200-2026-11-21-project-a/ray_spheres-a11585fd51a5"), 0},
		{"parameter-reuse", measuredKernel(t, "h200-neural-networks/rotate_image-4d9838a827f3"), 0},
		{"lanes-apart", asmtest.BuildKernel(t, "apart", []byte(behindArm("bar.warp.sync -1;\n"))), 0},
		{"constant-cse", measuredKernel(t, "h200-2026-11-21-project-a/heat_double-459622b5f346"), 0},
		{"bottom-up-order", asmtest.BuildKernel(t, "filtered", []byte(asmtest.Filtered(9, 4))), 0},
		{"pressure-list-order", measuredKernel(t, "h200-neural-networks/max_pool-1594d33b76f8"), 0},
		{"vector-load-order", asmtest.BuildKernel(t, "product", []byte(asmtest.Product(8, 32))), 32},
		{"constant-pressure", asmtest.BuildKernel(t, "filters", []byte(filters(104))), 0},
		{"mma-order", measuredKernel(t, "h200-tensor-cores/wmma_direct-f3fb7c094170"), 0},
		{"look-ahead", asmtest.BuildKernel(t, "gathers", []byte(asmtest.Gathers(12))), 24},
		{"loads-ahead", asmtest.BuildKernel(t, "elementwise", []byte(elementwise(16, ""))), 0},
		{"shared-load-queue", measuredKernel(t, "h200-2026-11-22-project-c/radix_count-f9a264b915f3"), 0},
		{"hoisted-parameters", measuredKernel(t, "h200-neural-networks/embedding_grad-88974f2fc4f9"), 0},
		{"remat-floor", measuredKernel(t, "h200-loops-and-doubles/charges_double-9ed7dbf60225"), 0},
		{"occupancy-overrun", measuredKernel(t, "h200-neural-networks/channel_norm-6f34c9585c3f"), 0},
		{"declared-sizes", measuredKernel(t, "h100-2026-11-26-independent-c/restrict_3d-777379cf847a"), 0},
		{"late-reads", measuredKernel(t, "h100-2026-11-25-independent-b/heston_paths-2a471b841c98"), 0},
		{"bank-conflicts", asmtest.BuildKernel(t, "wide", []byte(asmtest.WideKernel(20))), 0},
		{"coalesce-hints", measuredKernel(t, "h200-loops-and-doubles/band_rows-393f39607690"), 0},
		{"zero-pairs", measuredKernel(t, "h200-2026-11-24-project-f/md_forces-751fcd158c20"), 0},
		{"pipe-balance", measuredKernel(t, "h200-loops-and-doubles/band_rows-393f39607690"), 0},
	} {
		opt := Options{CC: hopper.CC, MaxRegisters: c.cap}
		with, err := Assemble(c.kernel, opt)
		if err != nil {
			t.Fatal(err)
		}
		opt.Without = []string{c.rule}
		without, err := Assemble(c.kernel, opt)
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		if with.Equal(without) {
			t.Errorf("%s without %s is the same program", c.kernel.Name, c.rule)
		}
		changed[c.rule] = true
	}
	for _, id := range rules.IDs() {
		if !changed[id] {
			t.Errorf("no program for rule %s", id)
		}
	}
}

// Every rule says what it does and what it is based on, and has an id of its own.
func TestRulesSayWhatTheyAreBasedOn(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if r.ID == "" || r.Does == "" || r.Microbenchmark+r.Corpus+r.Kernels == "" || seen[r.ID] {
			t.Errorf("%+v: want an id of its own, a sentence and a basis", r)
		}
		seen[r.ID] = true
	}
	if err := CheckRules([]string{"pipe-balance", "no-such-rule"}); err == nil || !strings.Contains(err.Error(), "no-such-rule") || !strings.Contains(err.Error(), "zero-pairs") {
		t.Errorf("an unknown rule gives %v, want an error that names it and lists the others", err)
	}
	if _, err := Assemble(asmtest.BuildKernel(t, "saxpy", []byte(asmtest.Saxpy)), Options{CC: hopper.CC, Without: []string{"no-such-rule"}}); err == nil {
		t.Error("a kernel is assembled without a rule that there is not")
	}
}

// A kernel prepared with all rules is not assembled without one.
func TestPreparedWithOtherRules(t *testing.T) {
	p, err := Prepare(asmtest.BuildKernel(t, "saxpy", []byte(asmtest.Saxpy)), hopper)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Assemble(Options{CC: hopper.CC, Without: []string{"pipe-balance"}}); err == nil {
		t.Error("assembled without a rule that the kernel was prepared with")
	}
}

// inline is the kernel of a PTX body as listingOf takes it.
func inline(t *testing.T, body string) *ir.Kernel {
	t.Helper()
	return asmtest.BuildKernel(t, "k", []byte(kernelText(body)))
}
