// Command identity compares what two builds of warptune predict of the measured data sets: every field of every
// prediction but the version of the simulator and the digest that names it. It fails where one differs.
//
//	go run ./deploy/calibrate/datasets/identity -base old/warptune -new bin/warptune -sample 20 [NAME]...
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/warptune/warptune/deploy/calibrate/datasets"
	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
)

func main() {
	var c comparison
	flag.StringVar(&c.base, "base", "", "the program to compare with")
	flag.StringVar(&c.new, "new", "bin/warptune", "the program that is compared")
	flag.IntVar(&c.sample, "sample", 0, "configurations of each data set, drawn by warptune's fixed seed; 0: all")
	levels := flag.String("levels", "model,cycle", "levels to compare")
	dir := flag.String("datasets", "deploy/calibrate/datasets", "directory of the data sets")
	flag.Parse()
	c.levels = strings.Split(*levels, ",")
	if c.base == "" {
		fmt.Fprintln(os.Stderr, "identity: -base is needed: a warptune to compare with")
		os.Exit(2)
	}
	if err := c.run(*dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "identity:", err)
		os.Exit(1)
	}
}

// comparison is one run of the command.
type comparison struct {
	base, new string
	sample    int
	levels    []string
}

func (c *comparison) run(dir string, names []string) error {
	m, err := datasets.Load(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		s, err := m.Find(name)
		if err == nil {
			err = s.Missing()
		}
		if err != nil {
			return err
		}
	}
	var errs []error
	for i := range m.Sets {
		s := &m.Sets[i]
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		if err := s.Missing(); err != nil {
			fmt.Println("left out:", err)
			continue
		}
		if err := c.compare(s); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}

// compare compares the predictions of one data set at each level.
func (c *comparison) compare(s *datasets.Set) error {
	work, err := os.MkdirTemp("", "identity")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	args := []string{"--arch", s.Arch, "--timings", s.Path(s.Files.Timings), "--sample", strconv.Itoa(c.sample)}
	if s.Files.PTX != "" { // as files: an older program may not read the archive
		ptx := filepath.Join(work, "ptx")
		if err := unpack(s.Path(s.Files.PTX), ptx); err != nil {
			return err
		}
		args = append(args, "--kernels", s.Path(s.Files.Kernels), "--ptx-dir", ptx)
	}
	for _, level := range c.levels {
		var both [2][]prediction
		for i, program := range []string{c.base, c.new} {
			out := filepath.Join(work, fmt.Sprint(level, i))
			if both[i], err = predict(program, out, append(args, "--level", level)); err != nil {
				return err
			}
		}
		if err := same(both[0], both[1]); err != nil {
			return fmt.Errorf("level %s: %w", level, err)
		}
		fmt.Printf("%s, level %s: %d predictions are the same\n", s.Name, level, len(both[0]))
	}
	return nil
}

// unpack writes the files of an archive into a directory.
func unpack(archive, dir string) error {
	files, done, err := ptxfiles.Open(archive)
	if err != nil {
		return err
	}
	defer done()
	names, err := ptxfiles.Names(files)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
