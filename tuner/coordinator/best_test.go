package coordinator_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// partsOf takes a bundle's window for the function's name and its size for a parameter.
func partsOf(content []byte) (tuner.Parts, error) {
	var b tunertest.Bundle
	err := json.Unmarshal(content, &b)
	function := "f"
	if b.Growing {
		function = "g"
	}
	return tuner.Parts{tuner.PartFunction: function, "parameter N": string(rune('a' + b.Size%26))}, err
}

// What is stored answers for the definition it was found for. Another one of the same
// function answers only where nothing else does, with what has changed; another
// kernel of the name never; another descriptor of the name is said.
func TestBestIsOfTheDefinition(t *testing.T) {
	c := start(t, store.NewMemory(), func(o *coordinator.Options) { o.Parts = partsOf })
	first, second := tunertest.Bundle{Size: 30}, tunertest.Bundle{Size: 31}
	other := tunertest.Bundle{Size: 30, Batch: 2, Growing: true}
	for _, b := range []tunertest.Bundle{first, second, other} {
		put(t, c, b)
		spec := b.Spec("kernel")
		spec.Problem = []int64{1000}
		submit(t, c, spec)
		work(t, c, 1e6)
	}
	ask := func(b tunertest.Bundle, descriptor string, problem int64) (coordinator.BestAnswer, error) {
		content, digest := b.Content()
		parts, err := partsOf(content)
		if err != nil {
			t.Fatal(err)
		}
		return c.Best(t.Context(), coordinator.BestQuery{
			Kernel: "kernel", Arch: tunertest.Arch, ArchDigest: descriptor, Problem: []int64{problem}, Bundle: digest, Parts: parts,
		})
	}
	_, firstDigest := first.Content()
	_, secondDigest := second.Content()
	for _, q := range []struct {
		of         tunertest.Bundle
		descriptor string
		problem    int64
		bundle     string
		match      coordinator.Match
		changed    string
	}{
		{first, tunertest.ArchDigest, 1000, firstDigest, coordinator.MatchExact, ""},
		{second, tunertest.ArchDigest, 1000, secondDigest, coordinator.MatchExact, ""},
		{first, tunertest.ArchDigest, 7, firstDigest, coordinator.MatchOtherProblem, ""},
		{first, "descriptor-2", 1000, firstDigest, coordinator.MatchExact, "the architecture descriptor"},
		{tunertest.Bundle{Size: 32}, tunertest.ArchDigest, 1000, secondDigest, coordinator.MatchExact, "parameter N"},
	} {
		best, err := ask(q.of, q.descriptor, q.problem)
		if err != nil || best.Spec.Bundle != q.bundle || best.Match != q.match || strings.Join(best.Changed, ",") != q.changed {
			t.Errorf("%+v: bundle %.6s, %v, changed %v (%v)", q, best.Spec.Bundle, best.Match, best.Changed, err)
		}
	}
	_, err := ask(tunertest.Bundle{Size: 32, Growing: true, Batch: 3}, tunertest.ArchDigest, 1000)
	if err != nil {
		t.Errorf("another definition of function g: %v", err)
	}
	for _, s := range c.Sweeps(t.Context()) {
		if s.Spec.Bundle == firstDigest || s.Spec.Bundle == secondDigest {
			if err := c.Delete(t.Context(), s.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := ask(first, tunertest.ArchDigest, 1000); tuner.KindOf(err) != tuner.NotFound || !strings.Contains(err.Error(), "function g instead of f") {
		t.Errorf("where only another kernel of the name is stored: %v", err)
	}
}

// What a worker finds stored for another sweep counts as reused, and answers the
// sweeps of its own scope from then on without a worker.
func TestFoundOutcomesAreReused(t *testing.T) {
	c := start(t, store.NewMemory(), nil)
	b := tunertest.Bundle{Size: 40}
	put(t, c, b)
	submit(t, c, b.Spec("one"))
	work(t, c, 1e6)
	submit(t, c, b.Spec("two"))
	in := &tuner.Sync{Worker: tunertest.Worker("finder", 2, 64), Want: 64}
	var found []bool
	for len(found) < 40 {
		reply, err := c.Synchronize(t.Context(), in, 0)
		if err != nil || len(reply.Grants) == 0 {
			t.Fatal(reply, err)
		}
		in.Reports = nil
		for _, g := range reply.Grants {
			o := tunertest.Oracle(g.Index)
			_, known, _ := c.Lookup(t.Context(), o.Digest)
			o.Found = known
			found = append(found, known)
			in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &o})
		}
		if _, err := c.Synchronize(t.Context(), in, 0); err != nil {
			t.Fatal(err)
		}
		in.Reports = nil
	}
	want := int64(len(slices.DeleteFunc(found, func(f bool) bool { return !f })))
	all := c.Sweeps(t.Context())
	if n := all[0].Counts; all[0].Spec.Kernel != "two" || n.Done != 40 || n.Reused != want || want < 20 {
		t.Errorf("%s: %+v, want %d reused", all[0].Spec.Kernel, n, want)
	}
	again := b.Spec("two")
	again.Seed = 2
	if out := submit(t, c, again); out.Sweep.Counts.Reused != 40 {
		t.Errorf("the next sweep of it: %+v", out.Sweep.Counts)
	}
}
