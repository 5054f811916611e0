package kernel

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel/call"
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
	Name       string        // General.BenchmarkName, else the file's name
	KernelName string        // of the function in the source
	Language   call.Language // of the kernel's source
	Problem    []int64       // KernelSpecification.ProblemSize, nil when the file has none
	Options    []string      // CompilerOptions that a compiler is given
	Group      string        // of launch records: which of them compete; else ""

	text       []byte // the definition as it was read
	files      call.Files
	params     []search.Param
	defaults   search.Config
	given      bool // some parameter has a Default; else defaults are the first values
	constants  []constant
	defines    []option.Macro // -D of CompilerOptions
	conditions []condition
	scope      *scope
	launch     launchSpec
	answer     call.Answer // of arguments that do not say
	tolerance  float64     // the same
	source     sourceSpec
	arguments  []argument
	raws       map[string]*call.Raw // files of the arguments, by name
	listed     *listing             // launch records; nil: the fields above say what there is
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
	d, warnings, err := Parse(stem, text, call.Dir(filepath.Dir(name)))
	if err != nil {
		return nil, warnings, fmt.Errorf("%s: %w", name, err)
	}
	return d, warnings, nil
}

// Parse reads a definition from text; name is the kernel's unless the text has
// a BenchmarkName; files gives the kernel's source, headers and PTX. Sources
// and headers are read at once, PTX when it is needed.
func Parse(name string, text []byte, files call.Files) (*Definition, []Warning, error) {
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

// language reads KernelSpecification.Language.
func (r *reader) language(k *record) call.Language {
	d, ok := k.need("Language")
	if !ok {
		return call.LanguageInvalid
	}
	text := r.text(d)
	for l := call.CUDA; l <= call.Hypertuner; l++ {
		if strings.EqualFold(text, l.String()) {
			return l
		}
	}
	r.fail(d.path, "unknown language %q; known are CUDA, PTX, OpenCL, Vulkan, Hypertuner", text)
	return call.LanguageInvalid
}

// clean returns the slash-separated name of a file beside the definition.
func clean(name string) string { return path.Clean(strings.ReplaceAll(name, `\`, "/")) }
