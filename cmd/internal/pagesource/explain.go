package pagesource

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"

	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/internal/explain"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/worker"
)

func sortUse(all []page.NamedNumber) {
	slices.SortFunc(all, func(a, b page.NamedNumber) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name))
	})
}

// Definition is the kernel of a sweep: the built-in one of its digest, else what the coordinator has.
func (s *Source) Definition(ctx context.Context, spec *tuner.Spec) (*kernel.Definition, error) {
	s.mu.Lock()
	known := s.kernels[spec.Bundle]
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	def, err := builtIn(spec)
	if err == nil && def == nil {
		def, err = s.fetched(ctx, spec.Bundle)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.kernels[spec.Bundle] = def
	s.mu.Unlock()
	return def, nil
}

// builtIn is the built-in kernel that a spec is of, nil if it is of none.
func builtIn(spec *tuner.Spec) (*kernel.Definition, error) {
	k, err := catalogue.Open(spec.Kernel)
	if err != nil {
		return nil, nil //nolint:nilerr // it is somebody's own
	}
	def, err := k.Definition()
	if err != nil {
		return nil, err
	}
	if _, digest, err := def.Bundle(); err != nil || digest != spec.Bundle {
		return nil, err
	}
	return def, nil
}

// fetched is the definition of a bundle that the coordinator has.
func (s *Source) fetched(ctx context.Context, digest string) (def *kernel.Definition, err error) {
	err = s.with(ctx, func(conn grpc.ClientConnInterface) error {
		content, err := worker.FetchBundle(ctx, warptunev1.NewWorkerServiceClient(conn), digest)
		if err != nil {
			return err
		}
		def, _, err = kernel.OpenBundle(content)
		return err
	})
	if kind := tuner.KindOf(err); kind == tuner.Denied || kind == tuner.Unauthenticated {
		return nil, tuner.Errorf(tuner.Mismatch, "explain", "the kernel's source is not on this machine, and this token may not fetch it from the coordinator: its own page (coordinator --page) has it (%w)", err)
	}
	return def, err
}

// Explain is in page.Source.
func (s *Source) Explain(ctx context.Context, sweep *tuner.Sweep, configs []search.Config) (*page.Explained, error) {
	spec := &sweep.Spec
	d, err := s.descriptor(ctx, sweep)
	if err != nil {
		return nil, err
	}
	def, err := s.Definition(ctx, spec)
	if err != nil {
		return nil, err
	}
	level := simengine.Cycle // explains what was measured, too
	if !spec.Measured() {
		if level, err = simengine.ParseLevel(spec.LastLevel()); err != nil {
			return nil, err
		}
	}
	depth, err := simengine.ParseDepth(spec.Check)
	if err != nil {
		return nil, err
	}
	compiler, err := compile.New(compile.Options{Compiler: spec.Compiler})
	if err != nil {
		return nil, &tuner.Error{Kind: tuner.Mismatch, Op: "explain", Err: err}
	}
	job := evaluate.Job{Kernel: def, Problem: spec.Problem, Arch: d, Level: level, Check: depth, Warn: spec.Faults == "warn", Answers: evaluate.NewAnswers()}
	ev := evaluate.New(compiler)
	cases := make([]explain.Case, len(configs))
	x := &page.Explained{}
	for i, config := range configs {
		job.Config = config
		study, err := ev.Study(ctx, job)
		var lacks *compile.UnavailableError
		if errors.As(err, &lacks) {
			return nil, &tuner.Error{Kind: tuner.Mismatch, Op: "explain", Err: err}
		} else if err != nil {
			return nil, err
		}
		if cases[i], err = explain.NewCase(def, d, config, spec.Problem, &study); err != nil {
			return nil, err
		}
		x.Details = append(x.Details, detail(ctx, &cases[i], d, compiler))
	}
	x.Document, err = json.Marshal(explain.NewDocument(def.Name, d.Name, level.String(), "", cases))
	return x, err
}

// detail is what is shown of a case beside its explanation.
func detail(ctx context.Context, c *explain.Case, d *arch.Descriptor, compiler evaluate.Compiler) page.Detail {
	o := page.Detail{Sources: []page.SourceFile{}, Sentences: []page.Statement{}}
	if c.Launch == nil {
		return o
	}
	l := c.Launch
	o.Grid, o.Block = l.Grid, l.Block
	o.Sources = append(o.Sources, page.SourceFile{Name: path.Base(l.Compile.SourceFile), Text: string(l.Compile.Source)})
	ptx, err := compiler.Compile(ctx, compile.Request{Compile: l.Compile, Target: compile.Target(d.CC[0], d.CC[1]), Lines: true})
	if err == nil { // as it did for the study
		o.PTX = string(ptx.PTX)
	}
	for i := range c.Explained.Findings {
		f := &c.Explained.Findings[i]
		o.Sentences = append(o.Sentences, page.Statement{Topic: f.Topic, Line: f.Line, Text: f.Sentence()})
	}
	o.Occupancy = occupancy(c, d)
	return o
}
