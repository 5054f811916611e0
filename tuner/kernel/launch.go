package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel/option"
)

// Launch is one configuration at one problem size, ready for a compiler and
// the simulator.
type Launch struct {
	KernelName    string
	Grid, Block   [3]int64 // CTAs; threads
	Cluster       [3]int64 // CTAs; zeros: what the PTX requires, else none
	Cooperative   bool     // all CTAs are resident together; kernels that call grid_group::sync are without it, too
	DynamicShared int      // bytes per CTA
	MaxRegisters  int      // per thread, 0: no cap
	CarveOut      int      // -1: the driver's choice, else percent of the maximum
	Args          []Arg    // kernel parameters in order
	Constants     []Arg    // __constant__ variables to fill, by name
	Compile       Compile
	Recorded      bool // it is of a launch record, not of a definition's expressions
}

// Compile is what a compiler is given for a configuration. Configurations with
// equal Key share their PTX.
type Compile struct {
	Language   Language
	SourceFile string   // name of the source relative to the definition; for PTX the expanded path
	Source     []byte   // its contents
	Missing    error    // why there is no Source; PTX made elsewhere needs none
	Macros     []Macro  // -D, in order; none for PTX
	Options    []string // CompilerOptions
	// Entry is the kernel to launch, as NVRTC takes names: k, ns::k, or k<float, TILE>,
	// in which macros count.
	Entry string
	// Fixed are the macros that the source must leave as they are: it would be another
	// configuration's otherwise.
	Fixed []string
	Files Files  // where #include "…" finds headers, relative to the definition
	Key   string // sha-256 over all of the above, hex
}

// Macro is one -D.
type Macro struct{ Name, Value string }

// maxShared bounds dynamic shared memory in bytes; what a GPU has is for the
// simulator to say.
const maxShared = 1 << 30

// Launch says how a configuration is launched on a problem size (nil: the
// definition's own). The configuration's parameters may be in any order; it
// need not meet the conditions. An error is the configuration's own, unless
// the definition's language is not CUDA or PTX.
func (d *Definition) Launch(cfg search.Config, problem []int64) (*Launch, error) {
	if err := d.launchable(); err != nil {
		return nil, err
	}
	if d.listed != nil {
		return d.launchListed(cfg, problem)
	}
	problem, err := d.resolveProblem(problem)
	if err != nil {
		return nil, err
	}
	if cfg, err = d.conform(cfg); err != nil {
		return nil, err
	}
	b := d.scope.bind(cfg, problem)
	l := &Launch{KernelName: d.KernelName}
	if err := d.launch.evaluate(l, b, problem); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", d.Name, err)
	}
	for i := range d.arguments {
		a, err := d.arguments[i].evaluate(b, problem)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", d.Name, err)
		}
		a.Position = i
		if d.arguments[i].constant {
			l.Constants = append(l.Constants, a)
		} else {
			l.Args = append(l.Args, a)
		}
	}
	if err := d.describe(l); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", d.Name, err)
	}
	l.Compile = d.compile(cfg, l)
	return l, nil
}

// CompileKey returns the key of the configuration's Compile.
func (d *Definition) CompileKey(cfg search.Config, problem []int64) (string, error) {
	l, err := d.Launch(cfg, problem)
	if err != nil {
		return "", err
	}
	return l.Compile.Key, nil
}

// conform gives a configuration the definition's order and kinds.
func (d *Definition) conform(cfg search.Config) (search.Config, error) {
	if slices.Equal(cfg.Names, d.defaults.Names) && len(cfg.Values) == len(cfg.Names) {
		ok := true
		for i, v := range cfg.Values {
			ok = ok && v.Kind == d.params[i].Kind()
		}
		if ok {
			return cfg, nil
		}
	}
	s, err := search.New(d.params, nil)
	if err != nil {
		return cfg, err
	}
	if cfg, err = s.Conform(cfg); err != nil {
		return cfg, fmt.Errorf("kernel %s: %w", d.Name, err)
	}
	return cfg, nil
}

func (s *launchSpec) evaluate(l *Launch, b *bindings, problem []int64) (err error) {
	if l.Block, err = s.blockSize(b); err != nil {
		return err
	}
	if l.Grid, err = s.gridSize(b, problem, l.Block); err != nil {
		return err
	}
	if err = s.clusterSize(l, b); err != nil {
		return err
	}
	cooperative := 0
	for _, x := range []struct {
		to                     *int
		from                   expression
		otherwise, least, most int64
	}{
		{&l.DynamicShared, s.shared, 0, 0, maxShared},
		{&l.MaxRegisters, s.maxRegisters, 0, 0, 255},
		{&l.CarveOut, s.carveOut, -1, -1, 100},
		{&cooperative, s.cooperative, 0, 0, 1},
	} {
		v, err := b.integer(x.from, x.otherwise, x.least, x.most)
		if err != nil {
			return err
		}
		*x.to = int(v)
	}
	l.Cooperative = cooperative == 1
	return nil
}

// compile says what the compiler is given for a launch.
func (d *Definition) compile(cfg search.Config, l *Launch) Compile {
	c := Compile{Language: d.Language, SourceFile: d.source.file, Options: d.Options, Files: d.files}
	if d.Language == PTX {
		c.SourceFile = clean(d.source.template.expand(cfg))
		text, err := d.files.ReadFile(c.SourceFile)
		if err != nil {
			c.Missing = fmt.Errorf("%s: %w", d.source.path, err)
		}
		c.Source, c.Options = text, nil
	} else {
		if d.source.missing != nil {
			c.Missing = fmt.Errorf("%s: %w", d.source.path, d.source.missing)
		}
		c.Source, c.Entry = d.withoutUnroll(cfg), d.entry(cfg)
		c.Macros = d.macros(cfg, l)
		c.Fixed = d.fixedMacros(cfg.Names)
	}
	c.Key = c.key(d.source.headers)
	return c
}

// macros are Kernel Tuner's own, those of the compiler's options, the constants,
// then the parameters, each name once. Parameters and Kernel Tuner's are left out where a source has their names for
// something else. What the sources never name is left out where it would cost compilations: the grid's size, and parameters that only cap
// registers or choose the carve-out.
func (d *Definition) macros(cfg search.Config, l *Launch) []Macro {
	list := []Macro{{"kernel_tuner", "1"}}
	add := func(name, value string) {
		if _, isParam := cfg.Get(name); !isParam && !d.source.owns[name] {
			list = append(list, Macro{name, value})
		}
	}
	for i, a := range axes {
		add(blockNames[i], fmt.Sprint(l.Block[i]))
		if name := "grid_size_" + strings.ToLower(a); d.source.mentions(name) {
			add(name, fmt.Sprint(l.Grid[i]))
		}
	}
	for _, m := range d.defines {
		list = append(list, Macro(m))
	}
	for _, c := range d.constants {
		defined := slices.ContainsFunc(d.defines, func(m option.Macro) bool { return m.Name == c.name })
		if !defined && d.named(c.name) {
			list = append(list, Macro{c.name, c.value.String()})
		}
	}
	for i, name := range cfg.Names {
		if !d.isLaunchOnly(name) && !d.source.owns[name] {
			list = append(list, Macro{name, cfg.Values[i].String()})
		}
	}
	return list
}

// isLaunchOnly reports whether a parameter is used by MaxRegisters or
// SharedMemoryCarveout and by nothing that the compiler sees.
func (d *Definition) isLaunchOnly(name string) bool {
	return (slices.Contains(d.launch.maxRegisters.names(), name) || slices.Contains(d.launch.carveOut.names(), name)) && !d.named(name)
}

// named reports whether the sources, or macros of the options, may name an identifier.
func (d *Definition) named(name string) bool {
	return d.source.mentions(name) || slices.ContainsFunc(d.defines, func(m option.Macro) bool {
		return slices.Contains(word.FindAllString(m.Value, -1), name)
	})
}

// key is the digest of all that the PTX depends on. JSON is canonical here:
// structs in order, map keys sorted.
func (c *Compile) key(headers map[string][]byte) string {
	text, err := json.Marshal(struct {
		Language string
		Source   []byte
		Headers  map[string][]byte
		Macros   []Macro
		Options  []string
		Entry    string
	}{c.Language.String(), c.Source, headers, c.Macros, c.Options, c.Entry})
	if err != nil {
		panic(err) // texts and bytes always have a JSON form
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// launchable reports a language that only the space can be read of.
func (d *Definition) launchable() error {
	if d.Language != CUDA && d.Language != PTX {
		return fmt.Errorf("kernel %s: KernelSpecification.Language: %s kernels cannot be simulated: CUDA or PTX is needed", d.Name, d.Language)
	}
	return nil
}

// Launchable says why no configuration can be launched, nil if some may. It is to
// be asked once, before many configurations are.
func (d *Definition) Launchable() error {
	if err := d.launchable(); err != nil {
		return err
	}
	if d.listed != nil {
		return d.launchableListed()
	}
	for i := range d.arguments {
		if err := d.arguments[i].refused(); err != nil {
			return fmt.Errorf("kernel %s: %w", d.Name, err)
		}
	}
	if err := d.checkTemplate(); err != nil {
		return fmt.Errorf("kernel %s: %w", d.Name, err)
	}
	if err := d.checkSignature(); err != nil {
		return fmt.Errorf("kernel %s: %w", d.Name, err)
	}
	return nil
}
