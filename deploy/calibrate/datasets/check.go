package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/warptune/warptune/deploy/calibrate/results"
)

var (
	nameForm   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)
	sumForm    = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// check judges a set by itself, without its files.
func (s *Set) check() error {
	switch {
	case !nameForm.MatchString(s.Name):
		return fmt.Errorf("the name is not lower-case words with hyphens between them")
	case s.Holds == "" || s.GPU == "" || s.Arch == "" || s.Compiler == "":
		return fmt.Errorf("holds, gpu, arch and compiler are needed")
	case !slices.Contains([]Author{Project, Independent, Others}, s.Author):
		return fmt.Errorf("author %q: it is %q, %q or %q", s.Author, Project, Independent, Others)
	case !slices.Contains([]Role{Development, Seen, HeldOut}, s.Role):
		return fmt.Errorf("role %q: it is %q, %q or %q", s.Role, Development, Seen, HeldOut)
	case s.Files.Timings == "":
		return fmt.Errorf("files.timings is needed")
	case s.Configurations <= 0 || s.Kernels <= 0 || s.Groups <= 0 || (s.Profiled > 0) != (s.Files.Counters != ""):
		return fmt.Errorf("counts of configurations, kernels and groups are needed, and of profiled ones exactly if there are counters")
	}
	if s.Measured != "" {
		if _, err := time.Parse(time.DateOnly, s.Measured); err != nil {
			return fmt.Errorf("measured: %w", err)
		}
	}
	for _, f := range s.Fetch {
		if err := f.check(); err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
	}
	for _, b := range s.Blind {
		if b.Cycle == nil {
			return fmt.Errorf("blind: a score of level cycle is needed")
		}
		if err := errors.Join(b.Cycle.check(), b.Model.check()); err != nil {
			return fmt.Errorf("blind: %w", err)
		}
	}
	if s.Latest != nil {
		if err := errors.Join(s.Latest.Cycle.check(), s.Latest.Model.check()); err != nil {
			return fmt.Errorf("latest: %w", err)
		}
	}
	return nil
}

func (s *Score) check() error {
	if s != nil && (s.Regret1 < 1 || s.Worst != 0 && s.Worst < s.Regret1 || s.MAPE < 0 || math.IsNaN(s.MAPE)) {
		return fmt.Errorf("regret@1 %v, worst %v, MAPE %v %% cannot be", s.Regret1, s.Worst, s.MAPE)
	}
	return nil
}

// Check compares the manifest with the files of its directory: every file that it lists is there, every file that
// is there is listed, and the counts are those of the records. What is outside or to be fetched may be missing.
func (m *Manifest) Check(dir string) error {
	var errs []error
	listed := map[string]bool{"manifest.json": true, "README.md": true}
	for i := range m.Sets {
		s := &m.Sets[i]
		if s.Outside != "" {
			continue
		}
		if err := s.checkFiles(listed); err != nil {
			errs = append(errs, fmt.Errorf("set %s: %w", s.Name, err))
		}
	}
	for _, s := range []*Set{m.results(), m.programs()} {
		for _, f := range s.Fetch {
			if _, err := s.Fetched(f); err != nil {
				errs = append(errs, err)
			}
		}
	}
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(file, ".go") {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err == nil && !listed[filepath.ToSlash(rel)] {
			errs = append(errs, fmt.Errorf("%s is in no set of the manifest", rel))
		}
		return err
	})
	return errors.Join(append(errs, err)...)
}

// checkFiles compares a set with its files, and adds them to those listed.
func (s *Set) checkFiles(listed map[string]bool) error {
	files := append([]string{s.Files.Timings, s.Files.Counters, s.Files.PTX, "README.md"}, s.Files.Extra...)
	for _, f := range files {
		listed[path.Join(s.Name, f)] = f != ""
	}
	for _, f := range s.Fetch {
		switch there, err := s.Fetched(f); {
		case err != nil:
			return err
		case !there && f.File == "":
			return nil // nothing of the set is here
		case !there:
			files = slices.DeleteFunc(files, func(file string) bool { return file == f.File })
		}
	}
	for _, f := range files {
		if f == "" || f == "README.md" {
			continue
		}
		if _, err := os.Stat(s.Path(f)); err != nil {
			return err
		}
	}
	return s.checkRecords(listed)
}

// checkRecords compares the counts of a set with its records.
func (s *Set) checkRecords(listed map[string]bool) error {
	times, err := s.count(s.Files.Timings)
	if err != nil {
		return err
	}
	if times.records != s.Configurations || len(times.kernels) != s.Kernels || len(times.groups) != s.Groups {
		return fmt.Errorf("%s has %d configurations of %d kernels in %d groups, the manifest says %d, %d and %d",
			s.Files.Timings, times.records, len(times.kernels), len(times.groups), s.Configurations, s.Kernels, s.Groups)
	}
	if s.Files.Counters != "" {
		profiled, err := s.count(s.Files.Counters)
		if err != nil || profiled.records != s.Profiled {
			return cmp.Or(err, fmt.Errorf("%s has %d records, the manifest says %d", s.Files.Counters, profiled.records, s.Profiled))
		}
	}
	return s.checkKernels(times.kernels, listed)
}

// checkKernels compares the kernels that records name with the definitions.
func (s *Set) checkKernels(kernels map[string]bool, listed map[string]bool) error {
	if s.Files.Kernels == "" {
		return nil
	}
	entries, err := os.ReadDir(s.Path(s.Files.Kernels))
	if err != nil {
		return err
	}
	defined := map[string]bool{}
	for _, e := range entries {
		name, definition := strings.CutSuffix(e.Name(), ".json")
		if definition {
			defined[name] = true
		}
		stem := strings.TrimSuffix(e.Name(), path.Ext(e.Name()))
		listed[path.Join(s.Name, s.Files.Kernels, e.Name())] = kernels[stem]
	}
	for name := range kernels {
		if !defined[name] {
			return fmt.Errorf("no definition of %s in %s", name, s.Files.Kernels)
		}
	}
	return nil
}

type counts struct {
	records         int
	kernels, groups map[string]bool
}

func (s *Set) count(file string) (counts, error) {
	records, err := results.Read[struct{ Kernel, Group string }](s.Path(file))
	c := counts{len(records), map[string]bool{}, map[string]bool{}}
	for _, r := range records {
		c.kernels[r.Kernel], c.groups[r.Group] = true, true
	}
	return c, err
}
