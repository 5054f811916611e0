package kernel

import (
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/expr"
	"github.com/warptune/warptune/tuner/kernel/option"
)

// Warning is something odd in a definition that could be read nevertheless.
type Warning struct {
	Field   string // e.g. "ConfigurationSpace.TuningParameters[2].Default"
	Message string
}

// String returns the warning as one line.
func (w Warning) String() string { return w.Field + ": " + w.Message }

// Definition is a kernel: its parameters, conditions, launch, arguments and
// files. It is immutable after loading and safe for concurrent use.
type Definition struct {
	Name       string   // General.BenchmarkName, else the file's name
	KernelName string   // of the function in the source
	Language   Language // of the kernel's source
	Problem    []int64  // KernelSpecification.ProblemSize, nil when the file has none
	Options    []string // CompilerOptions that a compiler is given
	Group      string   // of launch records: which of them compete; else ""

	text       []byte // the definition as it was read
	files      Files
	params     []search.Param
	defaults   search.Config
	given      bool // some parameter has a Default; else defaults are the first values
	constants  []constant
	defines    []option.Macro // -D of CompilerOptions
	conditions []condition
	scope      *scope
	launch     launchSpec
	answer     Answer  // of arguments that do not say
	tolerance  float64 // the same
	source     sourceSpec
	arguments  []argument
	raws       map[string]*Raw // files of the arguments, by name
	listed     *listing        // launch records; nil: the fields above say what there is
}

// Params returns the tuning parameters in order. Do not modify.
func (d *Definition) Params() []search.Param { return d.params }

// Default returns the configuration of the parameters' Default values, or
// their first ones. It may break a condition: loading warns then.
func (d *Definition) Default() search.Config { return d.defaults.Clone() }

func (d *Definition) parameterNames() string { return strings.Join(d.defaults.Names, ", ") }

// maxDefinition bounds the size of a definition's text in bytes.
const maxDefinition = 8 << 20

func tooLarge(size int64) error {
	return fmt.Errorf("%d bytes are more than the %d MiB that a T1 definition may have", size, maxDefinition>>20)
}

// Load reads a definition and the files it names, which must lie in its
// directory or below. Errors are one line that starts with the path.
func Load(name string) (*Definition, []Warning, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("kernel definition: %w", err)
	case info.IsDir():
		return nil, nil, fmt.Errorf("%s: is a directory; name the definition's JSON file in it", name)
	case info.Size() > maxDefinition:
		return nil, nil, fmt.Errorf("%s: %w", name, tooLarge(info.Size()))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, fmt.Errorf("kernel definition: %w", err)
	}
	stem := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	d, warnings, err := Parse(stem, text, Dir(filepath.Dir(name)))
	if err != nil {
		return nil, warnings, fmt.Errorf("%s: %w", name, err)
	}
	return d, warnings, nil
}

// Parse reads a definition from text; name is the kernel's unless the text has
// a BenchmarkName; files gives the kernel's source, headers and PTX. Sources
// and headers are read at once, PTX when it is needed.
func Parse(name string, text []byte, files Files) (*Definition, []Warning, error) {
	if len(text) > maxDefinition {
		return nil, nil, tooLarge(int64(len(text)))
	}
	doc, err := parseDocument(text)
	if err != nil {
		return nil, nil, err
	}
	r := &reader{}
	d := &Definition{Name: name, text: text, files: files}
	d.read(r, doc)
	if r.err != nil {
		return nil, r.warnings, r.err
	}
	return d, r.warnings, nil
}

func (d *Definition) read(r *reader, doc document) {
	root := r.record(doc, []string{"General", "ConfigurationSpace", "KernelSpecification", "BenchmarkConfig"}, "Search", "Budget", "$schema")
	general := &record{r, "General", nil}
	if g, ok := root.get("General"); ok {
		general = r.record(g, []string{"BenchmarkName"}, "FormatVersion", "LoggingLevel", "TimeUnit", "OutputFile", "OutputFormat")
	}
	listed := lists(root)
	if !listed {
		if space, ok := root.need("ConfigurationSpace"); ok {
			d.readSpace(r, space, root)
		}
	}
	spec, ok := root.need("KernelSpecification")
	if !ok || r.err != nil {
		return
	}
	k := r.record(spec, []string{"Launches", "ClusterSize", "Language", "KernelName", "KernelFile", "GlobalSize", "LocalSize", "GlobalSizeType", "CompilerOptions",
		"SharedMemory", "Arguments", "ProblemSize", "GridDivX", "GridDivY", "GridDivZ", "BenchmarkName", "MaxRegisters", "SharedMemoryCarveout", "Cooperative", "Answer", "Tolerance"},
		"Device", "Profiling", "SimulationInput", "Misc", "Stream", "ReferenceArguments")
	if n := general.text("BenchmarkName", k.text("BenchmarkName", "")); n != "" {
		d.Name = n
	}
	if launches, ok := k.get("Launches"); ok && listed {
		d.readListed(r, k, launches)
		return
	}
	d.readKernel(r, k)
}

// readSpace reads parameters and conditions, and of the whole definition the
// constants that conditions may name.
func (d *Definition) readSpace(r *reader, doc document, root *record) {
	rec := r.record(doc, []string{"TuningParameters", "Conditions", "Constraints"})
	if _, ok := rec.need("TuningParameters"); !ok {
		return
	}
	for _, p := range rec.list("TuningParameters") {
		param, value := r.parameter(p)
		o, _ := p.value.(*object)
		d.given = d.given || o != nil && o.fields["Default"] != nil
		if i := slices.Index(d.defaults.Names, param.Name); r.err == nil && i >= 0 {
			if slices.Equal(d.params[i].Values, param.Values) {
				r.warn(p.path+".Name", "parameter %s is declared twice, alike: the second is left out", param.Name)
				continue
			}
			r.fail(p.path+".Name", "parameter %s is declared twice, with other values", param.Name)
		}
		d.params = append(d.params, param)
		d.defaults.Names = append(d.defaults.Names, param.Name)
		d.defaults.Values = append(d.defaults.Values, value)
	}
	if r.err != nil {
		return
	}
	d.constants = d.readConstants(r, root)
	d.scope = newScope(d.params, d.constants)
	if old, ok := rec.get("Constraints"); ok { // BAT's name of them in older files
		r.warn(old.path, "read as Conditions, which is their name in T1")
	}
	for _, c := range slices.Concat(rec.list("Conditions"), rec.list("Constraints")) {
		d.conditions = append(d.conditions, d.readCondition(r, c))
	}
}

// readKernel reads what KernelSpecification says besides its name.
func (d *Definition) readKernel(r *reader, k *record) {
	if r.err != nil {
		return
	}
	d.Language = r.language(k)
	k.need("KernelName")
	d.KernelName = k.text("KernelName", "")
	given := d.readOptions(r, k)
	d.Problem = r.problem(k)
	if r.err != nil {
		return
	}
	d.checkDefaults(r)
	d.launch = d.readLaunch(r, k)
	d.capRegisters(r, given)
	d.answer, d.tolerance = k.answer(), k.tolerance()
	for i, a := range k.list("Arguments") {
		d.arguments = append(d.arguments, d.readArgument(r, a, i))
	}
	d.resolveTensors(r)
	d.readSource(r, k)
}

// condition is one of ConfigurationSpace.Conditions.
type condition struct {
	path string
	expr *expr.Expr
}

func (d *Definition) readCondition(r *reader, doc document) condition {
	rec := r.record(doc, []string{"Parameters", "Expression"})
	for _, p := range rec.list("Parameters") {
		if name := r.text(p); !slices.Contains(d.defaults.Names, name) {
			r.fail(p.path, "condition on the unknown parameter %s; there are %s", name, d.parameterNames())
		}
	}
	field, ok := rec.need("Expression")
	if !ok {
		return condition{}
	}
	x := r.expression(field)
	if r.err != nil {
		return condition{}
	}
	if name, unknown := d.scope.unknown(x); unknown {
		r.fail(x.path, "%q uses the unknown parameter %s; there are %s", x.expr.Text, name, d.parameterNames())
	}
	return condition{x.path, d.scope.listed(x).expr}
}

// checkDefaults warns of conditions that the parameters' own defaults break.
func (d *Definition) checkDefaults(r *reader) {
	b := d.scope.bind(d.defaults, d.Problem)
	for _, c := range d.conditions {
		p, err := expr.Compile(c.expr, d.scope.vars)
		if err != nil {
			r.fail(c.path, "%v", err)
			return
		}
		if holds, err := p.Truth(b.env); d.given && (err != nil || !holds) {
			used := search.Config{}
			for _, n := range c.expr.Names() {
				if v, ok := d.defaults.Get(n); ok {
					used.Names, used.Values = append(used.Names, n), append(used.Values, v)
				}
			}
			r.warn(c.path, "the parameters' own defaults (%s) break it", used)
		}
	}
}

// maxProblem bounds a number of a problem size, so that sizes computed from it
// are far from overflow.
const maxProblem = 1 << 40

// problem reads ProblemSize: a list of integers, or one.
func (r *reader) problem(k *record) []int64 {
	d, ok := k.get(problemName)
	if !ok {
		return nil
	}
	items := []document{d}
	if _, isList := d.value.([]any); isList {
		items = r.list(d)
	}
	var problem []int64
	for _, it := range items {
		x := r.expression(it)
		if r.err != nil {
			return nil
		}
		p, err := expr.Compile(x.expr, nil)
		if err != nil {
			r.fail(it.path, "%v", err)
			return nil
		}
		n, err := p.Int(expr.NewEnv(0))
		if err != nil || n < 1 || n > maxProblem {
			r.fail(it.path, "a number from 1 to %d is expected, not %s", int64(maxProblem), what(it.value))
			return nil
		}
		problem = append(problem, n)
	}
	return problem
}

// UsesProblem reports whether a problem size makes a difference to the space or to
// a launch.
func (d *Definition) UsesProblem() bool {
	var all []expression
	for _, x := range d.launch.expressions() {
		all = append(all, *x)
	}
	for i := range d.arguments {
		all = append(all, d.arguments[i].size, d.arguments[i].value)
		all = append(all, d.arguments[i].fieldExpressions()...)
		all = append(all, d.arguments[i].tensor.expressions()...)
		all = append(all, d.arguments[i].texture.expressions()...)
	}
	for _, c := range d.conditions {
		all = append(all, expression(c))
	}
	divided := func(l []expression) bool { return l != nil }
	return slices.ContainsFunc(d.launch.divisors[:], divided) ||
		slices.ContainsFunc(all, func(x expression) bool { return slices.Contains(x.names(), problemName) })
}

// resolveProblem returns the problem size to use: the one given, or the
// definition's own for nil.
func (d *Definition) resolveProblem(problem []int64) ([]int64, error) {
	if len(problem) == 0 {
		return d.Problem, nil
	}
	if d.Problem != nil && len(problem) != len(d.Problem) {
		return nil, fmt.Errorf("kernel %s: a problem size of %d numbers is needed, as in its own %v, not %v", d.Name, len(d.Problem), d.Problem, problem)
	}
	for _, n := range problem {
		if n < 1 || n > maxProblem {
			return nil, fmt.Errorf("kernel %s: problem size %v: numbers from 1 to %d are needed", d.Name, problem, int64(maxProblem))
		}
	}
	return problem, nil
}

// Space returns the search space for a problem size (nil: the definition's
// own), with the parameters named in set restricted to the values given.
func (d *Definition) Space(problem []int64, set map[string][]string) (*search.Space, error) {
	return d.SpaceUntil(problem, set, nil)
}

// SpaceUntil is Space that calls stop now and then while it solves the conditions,
// and ends with its error (see search.NewUntil).
func (d *Definition) SpaceUntil(problem []int64, set map[string][]string, stop func() error) (*search.Space, error) {
	if d.listed != nil {
		if err := d.checkListed(problem); err != nil {
			return nil, err
		}
		return d.listed.space(d, set)
	}
	problem, err := d.resolveProblem(problem)
	if err != nil {
		return nil, err
	}
	params, err := d.restricted(set)
	if err != nil {
		return nil, err
	}
	var constraints []search.Constraint
	for _, c := range d.conditions {
		constraints = append(constraints, search.Constraint{Expr: withProblem(c.expr, problem), Where: c.path})
	}
	s, err := search.NewUntil(params, constraints, stop)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", d.Name, err)
	}
	return s, nil
}

// restricted returns the parameters with only the values that set allows.
func (d *Definition) restricted(set map[string][]string) ([]search.Param, error) {
	params := slices.Clone(d.params)
	for _, name := range sortedKeys(set) {
		i := slices.Index(d.defaults.Names, name)
		if i < 0 {
			return nil, fmt.Errorf("kernel %s has no parameter %s; it has %s", d.Name, name, d.parameterNames())
		}
		keep := map[search.Value]bool{}
		for _, text := range set[name] {
			v, err := search.ParseValue(params[i].Kind(), text)
			if err != nil || !slices.Contains(d.params[i].Values, v) {
				return nil, fmt.Errorf("kernel %s: parameter %s has no value %s; it has %s", d.Name, name, text, texts(d.params[i].Values))
			}
			keep[v] = true
		}
		params[i].Values = slices.DeleteFunc(slices.Clone(params[i].Values), func(v search.Value) bool { return !keep[v] })
		if len(keep) == 0 {
			return nil, fmt.Errorf("kernel %s: parameter %s is restricted to no value; it has %s", d.Name, name, texts(d.params[i].Values))
		}
	}
	return params, nil
}

func texts(values []search.Value) string {
	var list []string
	for _, v := range values {
		list = append(list, v.Text())
	}
	return strings.Join(list, ", ")
}

// language reads KernelSpecification.Language.
func (r *reader) language(k *record) Language {
	d, ok := k.need("Language")
	if !ok {
		return LanguageInvalid
	}
	text := r.text(d)
	for l := CUDA; l <= Hypertuner; l++ {
		if strings.EqualFold(text, l.String()) {
			return l
		}
	}
	r.fail(d.path, "unknown language %q; known are CUDA, PTX, OpenCL, Vulkan, Hypertuner", text)
	return LanguageInvalid
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

// clean returns the slash-separated name of a file beside the definition.
func clean(name string) string { return path.Clean(strings.ReplaceAll(name, `\`, "/")) }

// maxExtent bounds a grid dimension, as CUDA does (x: 2^31 - 1).
const maxExtent = math.MaxInt32
