package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/option"
)

// Launch says how a configuration is launched on a problem size (nil: the
// definition's own). The configuration's parameters may be in any order; it
// need not meet the conditions. An error is the configuration's own, unless
// the definition's language is not CUDA or PTX.
func (d *Definition) Launch(cfg search.Config, problem []int64) (*call.Launch, error) {
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
	l := &call.Launch{KernelName: d.KernelName}
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

func (s *launchSpec) evaluate(l *call.Launch, b *bindings, problem []int64) (err error) {
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
		{&l.DynamicShared, s.shared, 0, 0, call.MaxShared},
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
func (d *Definition) compile(cfg search.Config, l *call.Launch) call.Compile {
	c := call.Compile{Language: d.Language, SourceFile: d.source.file, Options: d.Options, Files: d.files}
	if d.Language == call.PTX {
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
	c.Key = c.Digest(d.source.headers)
	return c
}

// macros are Kernel Tuner's own, those of the compiler's options, the constants,
// then the parameters, each name once. Parameters and Kernel Tuner's are left out where a source has their names for
// something else. What the sources never name is left out where it would cost compilations: the grid's size, and parameters that only cap
// registers or choose the carve-out.
func (d *Definition) macros(cfg search.Config, l *call.Launch) []call.Macro {
	list := []call.Macro{{Name: "kernel_tuner", Value: "1"}}
	add := func(name, value string) {
		if _, isParam := cfg.Get(name); !isParam && !d.source.owns[name] {
			list = append(list, call.Macro{Name: name, Value: value})
		}
	}
	for i, a := range call.Axes {
		add(blockNames[i], fmt.Sprint(l.Block[i]))
		if name := "grid_size_" + strings.ToLower(a); d.source.mentions(name) {
			add(name, fmt.Sprint(l.Grid[i]))
		}
	}
	for _, m := range d.defines {
		list = append(list, call.Macro(m))
	}
	for _, c := range d.constants {
		defined := slices.ContainsFunc(d.defines, func(m option.Macro) bool { return m.Name == c.name })
		if !defined && d.named(c.name) {
			list = append(list, call.Macro{Name: c.name, Value: c.value.String()})
		}
	}
	for i, name := range cfg.Names {
		if !d.isLaunchOnly(name) && !d.source.owns[name] {
			list = append(list, call.Macro{Name: name, Value: cfg.Values[i].String()})
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

// launchable reports a language that only the space can be read of.
func (d *Definition) launchable() error {
	if d.Language != call.CUDA && d.Language != call.PTX {
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
