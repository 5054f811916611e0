// Command fetch takes the PTX archives that a checkout does not carry out of the repository's history, by git. A clone
// with its history needs no network; a shallow one asks origin for the commit.
//
//	go run ./deploy/calibrate/datasets/fetch [NAME]...    # default: all
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/warptune/warptune/deploy/calibrate/datasets"
)

func main() {
	dir := flag.String("datasets", "deploy/calibrate/datasets", "directory of the data sets")
	flag.Parse()
	if err := fetchAll(*dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1)
	}
}

func fetchAll(dir string, names []string) error {
	m, err := datasets.Load(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := m.Find(name); err != nil {
			return err
		}
	}
	var errs []error
	for i := range m.Sets {
		s := &m.Sets[i]
		if s.Fetch == nil || len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		if err := fetch(s); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}

// fetch writes the archive of a set, unless it is there.
func fetch(s *datasets.Set) error {
	path := s.Path(s.Files.PTX)
	if _, err := os.Stat(path); err == nil {
		return s.Fetch.Verify(path)
	}
	content, err := show(s.Fetch)
	if err != nil {
		return err
	}
	part := path + ".part"
	defer os.Remove(part)
	if err := os.WriteFile(part, content, 0o644); err != nil {
		return err
	}
	if err := s.Fetch.Verify(part); err != nil {
		return err
	}
	return os.Rename(part, path)
}

// show is the file's content in the history, which is asked for where it is not here.
func show(f *datasets.Fetch) ([]byte, error) {
	content, err := git("show", f.Commit+":"+f.Path)
	if err == nil {
		return content, nil
	}
	if _, fetching := git("fetch", "--quiet", "--depth=1", "origin", f.Commit); fetching != nil {
		return nil, errors.Join(err, fetching)
	}
	return git("show", f.Commit+":"+f.Path)
}

func git(args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("git", args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}
