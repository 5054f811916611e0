// Command fetch takes the data sets, results and programs that a checkout does not carry out of the repository's history, by git. A clone with
// its history needs no network; a shallow one asks origin for the commit.
//
//	go run ./deploy/calibrate/datasets/fetch [NAME]...    # default: all
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
	sets := m.Fetchable()
	for _, name := range names {
		if !slices.ContainsFunc(sets, func(s *datasets.Set) bool { return s.Name == name }) {
			return fmt.Errorf("nothing of a data set %q is to be fetched", name)
		}
	}
	var errs []error
	for _, s := range sets {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		if err := fetch(s); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}

// fetch writes what entries of a set name, unless it is there.
func fetch(s *datasets.Set) error {
	for _, f := range s.Fetch {
		there, err := s.Fetched(f)
		if err == nil && !there {
			err = take(s, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take writes what one entry names: beside the set first, and where it belongs once its sum is right.
func take(s *datasets.Set, f datasets.Fetch) error {
	part, err := os.MkdirTemp(filepath.Dir(s.Path(".")), ".part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part)
	archive, err := history(f)
	if err != nil {
		return err
	}
	if err := unpack(archive, part); err != nil {
		return err
	}
	from, to := part, s.Path(".")
	if f.File != "" {
		from, to = filepath.Join(part, path.Base(f.Path)), s.Path(f.File)
	}
	if sum, err := datasets.Sum(from); err != nil || sum != f.SHA256 {
		return cmp.Or(err, fmt.Errorf("%s in commit %s has the sha256 %s, the manifest says %s", f.Path, f.Commit, sum, f.SHA256))
	}
	return move(from, to)
}

// move puts a file, or each file of a directory, where it belongs.
func move(from, to string) error {
	return filepath.WalkDir(from, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.Rename(file, target)
	})
}

// history is a tar of what an entry names: of a directory its files, of a file that alone. Where the commit is not here,
// origin is asked for it. Below the top of the repository git archive would leave files out.
func history(f datasets.Fetch) ([]byte, error) {
	top, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	args := []string{"-C", strings.TrimSpace(string(top)), "archive", "--format=tar"}
	if f.File == "" {
		args = append(args, f.Commit+":"+f.Path)
	} else {
		args = append(args, f.Commit+":"+path.Dir(f.Path), path.Base(f.Path))
	}
	content, err := git(args...)
	if err == nil {
		return content, nil
	}
	if _, fetching := git("fetch", "--quiet", "--depth=1", "origin", f.Commit); fetching != nil {
		return nil, errors.Join(err, fetching)
	}
	return git(args...)
}

// unpack writes the files of a tar below a directory.
func unpack(archive []byte, dir string) error {
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("git archive names the file %q", h.Name)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, h.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, content, 0o644)); err != nil {
			return err
		}
	}
}

func git(args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("git", args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}
