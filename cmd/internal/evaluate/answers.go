package evaluate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/verify"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// mostFirst is how many configurations are tried, in their order, for one to compare others with.
const mostFirst = 8

// Answers executes configurations to compare others with, and keeps what they wrote. Which those
// are, and what is said, follows from the kernel, the problem and the architecture alone: any
// number of evaluators say the same. It is safe for concurrent use.
type Answers struct {
	mu     sync.Mutex
	engine *simengine.Engine
	kept   map[answerKey]*answerSet
	order  []answerKey // oldest first
}

// NewAnswers makes an Answers that knows nothing yet.
func NewAnswers() *Answers {
	return &Answers{engine: simengine.New(), kept: map[answerKey]*answerSet{}}
}

// keptAnswers is of how many kernels what configurations wrote is kept.
const keptAnswers = 4

type answerKey struct {
	kernel        *kernel.Definition
	problem, arch string
	depth         simengine.Depth
	peers         *Peers
	compiler      Compiler
}

// Peers are the configurations that have PTX of their own, where not every configuration of the
// kernel's space can be compiled.
type Peers struct {
	Configs []search.Config
	PTX     []Compiler // of each
}

func (p *Peers) add(cfg search.Config, ptx Compiler) {
	if !slices.ContainsFunc(p.Configs, cfg.Equal) {
		p.Configs, p.PTX = append(p.Configs, cfg), append(p.PTX, ptx)
	}
}

// answerSet is what is known of the configurations of one kernel, problem and architecture.
type answerSet struct {
	owner    *Answers
	def      *kernel.Definition
	problem  []int64
	arch     *arch.Descriptor
	depth    simengine.Depth
	compiler Compiler
	peers    *Peers
	space    *search.Space
	name     string // of the first candidate; "": not known
	first    int    // of candidate; -1: not looked for
	members  map[string]*member
	related  map[relationKey]relation
}

// member is a configuration that others may be compared with.
type member struct {
	cfg     search.Config
	outputs []verify.Output
	reason  string // why there are none
}

// of finds the set of a job; the caller holds the lock.
func (a *Answers) of(job *Job, compiler Compiler) (*answerSet, error) {
	key := answerKey{job.Kernel, fmt.Sprint(job.Problem), job.Arch.Digest, job.Check, job.Peers, compiler}
	if job.Peers != nil {
		key.compiler = nil
	}
	if s := a.kept[key]; s != nil {
		return s, nil
	}
	space, err := job.Kernel.Space(job.Problem, nil)
	if err != nil {
		return nil, err
	}
	s := &answerSet{
		owner: a, def: job.Kernel, problem: job.Problem, arch: job.Arch, depth: job.Check, compiler: compiler, peers: job.Peers,
		space: space, first: -1, members: map[string]*member{}, related: map[relationKey]relation{},
	}
	if len(a.order) == keptAnswers {
		delete(a.kept, a.order[0])
		a.order = append(a.order[:0], a.order[1:]...)
	}
	a.kept[key], a.order = s, append(a.order, key)
	return s, nil
}

// name is what identifies the first configuration, which a job's outputs are compared with, and how, and
// whether it is the job's: both are known without compiling it. Where it cannot be executed a later one takes its
// place; that is not part of the name, so that a value added to a parameter leaves earlier answers as they are.
func (a *Answers) name(job *Job, compiler Compiler) (name string, first bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, err := a.of(job, compiler)
	if err != nil {
		return "", false, err
	}
	cfg, ok := s.candidate(0)
	if ok && s.name == "" {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", cfg.String(), s.identity(cfg), s.def.Checking()))
		s.name = hex.EncodeToString(sum[:])
	}
	return s.name, ok && cfg.Equal(job.Config), nil
}

// identity is what tells a configuration's code from that of others.
func (s *answerSet) identity(cfg search.Config) string {
	if s.peers != nil {
		c, _ := s.compilerOf(cfg)
		made, _ := c.Made(context.Background(), compile.Request{})
		return made.Digest
	}
	key, err := s.def.CompileKey(cfg, s.problem)
	if err != nil {
		return err.Error()
	}
	return key
}

// compare compares what a job's configuration wrote with what others do.
func (a *Answers) compare(ctx context.Context, job *Job, compiler Compiler, launch *call.Launch, outputs []verify.Output) (comparison, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, err := a.of(job, compiler)
	if err != nil {
		return comparison{}, err
	}
	cfg, err := s.space.Conform(job.Config)
	if err != nil {
		return comparison{}, err
	}
	return s.compare(ctx, cfg, launch, outputs)
}

// candidate is the i-th configuration in the order in which they are tried.
func (s *answerSet) candidate(i int) (search.Config, bool) {
	if s.peers != nil {
		if i < len(s.peers.Configs) {
			return s.peers.Configs[i], true
		}
		return search.Config{}, false
	}
	if int64(i) < s.space.Size() {
		return s.space.At(int64(i)), true
	}
	return search.Config{}, false
}

// compilerOf is what makes the PTX of a configuration; false: there is none.
func (s *answerSet) compilerOf(cfg search.Config) (Compiler, bool) {
	if s.peers == nil {
		return s.compiler, true
	}
	for i := range s.peers.Configs {
		if s.peers.Configs[i].Equal(cfg) {
			return s.peers.PTX[i], true
		}
	}
	return nil, false
}

// reference is the first configuration that runs; nil: none of those tried does.
func (s *answerSet) reference(ctx context.Context) (*member, error) {
	for i := max(s.first, 0); i < mostFirst; i++ {
		cfg, ok := s.candidate(i)
		if !ok {
			break
		}
		m, err := s.member(ctx, cfg)
		if err != nil {
			return nil, err
		}
		if m.reason == "" {
			s.first = i
			return m, nil
		}
	}
	return nil, nil
}

// member executes a configuration. The error is this machine's fault, or the caller's cancellation.
func (s *answerSet) member(ctx context.Context, cfg search.Config) (*member, error) {
	text := cfg.String()
	if m := s.members[text]; m != nil {
		return m, nil
	}
	m := &member{cfg: cfg}
	var err error
	if m.outputs, m.reason, err = s.execute(ctx, cfg); err != nil {
		return nil, err
	}
	s.members[text] = m
	return m, nil
}

func (s *answerSet) execute(ctx context.Context, cfg search.Config) (outputs []verify.Output, reason string, err error) {
	compiler, ok := s.compilerOf(cfg)
	if !ok {
		return nil, "there is no PTX of it", nil
	}
	launch, err := s.def.Launch(cfg, s.problem)
	if err != nil {
		return nil, err.Error(), nil
	}
	ptx, err := compiler.Compile(ctx, compile.Request{Compile: launch.Compile, Target: compile.Target(s.arch.CC[0], s.arch.CC[1])})
	if err != nil {
		var refused *compile.Error
		if errors.As(err, &refused) {
			return nil, err.Error(), nil
		}
		return nil, "", err
	}
	req, err := request(launch, s.arch, simengine.Model)
	if err != nil {
		return nil, err.Error(), nil
	}
	req.Kernel = cmp.Or(ptx.Entry, req.Kernel)
	req.Check = simengine.Check{Depth: s.depth, Outputs: true}
	engine := s.owner.engine
	module, err := engine.Parse(launch.Compile.SourceFile, ptx.PTX)
	if err != nil {
		return nil, err.Error(), nil
	}
	x, err := engine.Execute(module, req)
	switch {
	case err != nil:
		return nil, err.Error(), nil
	case x.Skipped != "":
		return nil, x.Skipped, nil
	}
	return x.Outputs, "", ctx.Err()
}
