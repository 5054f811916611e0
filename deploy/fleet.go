package deploy

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Engine is what starts the workers. The zero value is invalid.
type Engine uint8

// Engines.
const (
	EngineInvalid Engine = iota
	Slurm
	Kubernetes
	SSH
	Local // this machine: nothing to render
)

// String returns the engine's name on the command line.
func (e Engine) String() string {
	switch e {
	case Slurm:
		return "slurm"
	case Kubernetes:
		return "kubernetes"
	case SSH:
		return "ssh"
	case Local:
		return "local"
	}
	return "invalid"
}

// restarts is how often a worker that ends with a fault is started again.
const restarts = 20

// Fleet says which workers to start.
type Fleet struct {
	// Coordinator is HOST:PORT as the workers reach it, several separated by
	// commas, or @FILE with such a line, an absolute path that they all see.
	Coordinator string
	Workers     int           // processes; over ssh: on each host
	Slots       int           // configurations each evaluates at a time
	Lifetime    time.Duration // drain after it; 0: no limit
	Program     string        // the worker program; "": "worker", from PATH
	Flags       []string      // further flags of the worker
	Prologue    string        // shell lines before the worker starts; not for Kubernetes
	// Settings are the engine's: any option of sbatch for Slurm; name,
	// namespace, image, cpu and memory for Kubernetes; log for ssh.
	Settings []Setting
}

// Setting is one of an engine's own options.
type Setting struct{ Key, Value string }

var (
	settingKey = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	dnsName    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
)

// ParseSetting reads KEY=VALUE.
func ParseSetting(text string) (Setting, error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok || !settingKey.MatchString(key) {
		return Setting{}, fmt.Errorf("setting %q: want KEY=VALUE with a key of lower-case letters, digits and dashes", text)
	}
	if strings.ContainsFunc(value, unicode.IsControl) {
		return Setting{}, fmt.Errorf("setting %s: the value has control characters", key)
	}
	return Setting{key, value}, nil
}

// Check returns what is wrong with a fleet for an engine, if anything.
func (f *Fleet) Check(e Engine) error {
	if err := f.checkAddress(e); err != nil {
		return err
	}
	switch {
	case f.Workers < 1:
		return fmt.Errorf("want at least 1 worker, got %d", f.Workers)
	case f.Slots < 1:
		return fmt.Errorf("want at least 1 slot, got %d", f.Slots)
	case f.Lifetime < 0:
		return fmt.Errorf("a lifetime of %v is negative", f.Lifetime)
	case e == Kubernetes && f.Prologue != "":
		return fmt.Errorf("containers have no shell to run a prologue: build it into the image")
	case strings.HasPrefix(f.Program, "-"):
		return fmt.Errorf("worker program %q starts with a dash", f.Program)
	}
	for i, s := range f.Settings {
		if slices.ContainsFunc(f.Settings[:i], func(o Setting) bool { return o.Key == s.Key }) {
			return fmt.Errorf("setting %s is given twice", s.Key)
		}
		if err := checkSetting(e, s); err != nil {
			return err
		}
	}
	return nil
}

// checkAddress says what is wrong with the coordinator's address.
func (f *Fleet) checkAddress(e Engine) error {
	if path, ok := strings.CutPrefix(f.Coordinator, "@"); ok {
		switch {
		case !strings.HasPrefix(path, "/") || strings.ContainsFunc(path, notIn("/.-_")):
			return fmt.Errorf("coordinator address %q: want @FILE with an absolute path of letters, digits and /.-_", f.Coordinator)
		case e == Kubernetes:
			return fmt.Errorf("coordinator address %q: workers in containers see no such file; the service's name follows the coordinator", f.Coordinator)
		}
		return nil
	}
	for _, a := range strings.Split(f.Coordinator, ",") {
		host, port, err := net.SplitHostPort(a)
		if err != nil || host == "" || port == "" || strings.ContainsFunc(a, notIn(".-_:[]%")) {
			return fmt.Errorf("coordinator address %q: want HOST:PORT as the workers reach it, e.g. login1:7070", a)
		}
	}
	return nil
}

// notIn returns whether a rune is none of a set, nor a letter or a digit.
func notIn(set string) func(rune) bool {
	return func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(set, r))
	}
}

// known are the settings of engines that take only some.
var known = map[Engine][]string{
	Kubernetes: {"name", "namespace", "image", "cpu", "memory"},
	SSH:        {"log"},
}

// ours are options of sbatch that other flags of launch decide.
var ours = []string{"array", "ntasks", "cpus-per-task", "wrap"}

func checkSetting(e Engine, s Setting) error {
	if names, limited := known[e]; limited && !slices.Contains(names, s.Key) {
		return fmt.Errorf("%s has no setting %s: want one of %s", e, s.Key, strings.Join(names, ", "))
	}
	if e == Slurm && slices.Contains(ours, s.Key) {
		return fmt.Errorf("setting %s follows from --workers and --slots", s.Key)
	}
	if (s.Key == "name" || s.Key == "namespace") && e == Kubernetes && !dnsName.MatchString(s.Value) {
		return fmt.Errorf("%s %q is no DNS label", s.Key, s.Value)
	}
	if strings.ContainsAny(s.Value, "\"\\") || strings.ContainsFunc(s.Value, unicode.IsControl) {
		return fmt.Errorf("setting %s: the value %q has quotes, backslashes or control characters", s.Key, s.Value)
	}
	return nil
}

// Args are the flags every worker of the fleet gets.
func (f *Fleet) Args() []string {
	args := []string{"--coordinator", f.Coordinator, "--slots", strconv.Itoa(f.Slots)}
	if f.Lifetime > 0 {
		// A tenth spreads the leaving, so that a fleet does not go all at once.
		args = append(args, "--lifetime", f.Lifetime.String(), "--lifetime-stagger", (f.Lifetime / 10).String())
	}
	return append(args, f.Flags...)
}

func (f *Fleet) program() string {
	if f.Program == "" {
		return "worker"
	}
	return f.Program
}

// setting returns an engine's setting, or a default.
func (f *Fleet) setting(key, otherwise string) string {
	for _, s := range f.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return otherwise
}
