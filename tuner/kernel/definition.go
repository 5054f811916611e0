// Package kernel reads kernel definitions (T1, the tuning community's JSON,
// with our extensions) and says what they mean: the search space, and for one
// configuration and problem size the launch, the arguments and what the
// compiler is given.
//
// It does not compile (package compile does), and does not know GPUs.
package kernel

import (
	"errors"

	"github.com/warptune/warptune/search"
)

// Warning is something odd in a definition that could be read nevertheless.
type Warning struct {
	Field   string // e.g. "ConfigurationSpace.TuningParameters[2].Default"
	Message string
}

// Definition is a kernel: its parameters, conditions, launch, arguments and files.
// It is immutable after loading and safe for concurrent use.
type Definition struct {
	Name     string   // General.BenchmarkName, else the file's name
	Language Language // of the kernel's source
	Problem  []int64  // KernelSpecification.ProblemSize, nil when the file has none
}

// Load reads a definition and the files it names, which must lie in its
// directory or below.
func Load(path string) (*Definition, []Warning, error) { return nil, nil, errors.New("not built yet") }

// Parse reads a definition from text; files gives the contents of the kernel's
// source, headers and PTX by slash-separated name relative to the definition.
func Parse(name string, text []byte, files Files) (*Definition, []Warning, error) {
	return nil, nil, errors.New("not built yet")
}

// Files reads files by slash-separated name relative to the definition.
type Files interface {
	ReadFile(name string) ([]byte, error) // errors.Is(err, fs.ErrNotExist) when missing
}

// Space returns the search space for a problem size (nil: the definition's
// own), with the parameters named in set restricted to the values given.
func (d *Definition) Space(problem []int64, set map[string][]string) (*search.Space, error) {
	return nil, errors.New("not built yet")
}

// Launch says how a configuration is launched.
func (d *Definition) Launch(cfg search.Config, problem []int64) (*Launch, error) {
	return nil, errors.New("not built yet")
}

// Bundle returns the canonical bytes of the definition and all its files, and
// their digest (sha-256, hex).
func (d *Definition) Bundle() (bundle []byte, digest string, err error) {
	return nil, "", errors.New("not built yet")
}

// OpenBundle reads what Bundle wrote.
func OpenBundle(bundle []byte) (*Definition, []Warning, error) {
	return nil, nil, errors.New("not built yet")
}
