package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
	"github.com/warptune/warptune/tuner/kernel/compile/toolkit"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/store/disk"
)

// severity says what a finding means. The zero value is invalid.
type severity uint8

const (
	severityInvalid severity = iota
	fine                     // as it should be
	noted                    // worth knowing
	wrong                    // needs somebody
)

// String returns the severity's name.
func (s severity) String() string {
	return [...]string{"invalid", "ok", "note", "wrong"}[s%4]
}

// MarshalText is in encoding.TextMarshaler.
func (s severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// finding is one thing that doctor says.
type finding struct {
	Severity severity `json:"severity"`
	Subject  string   `json:"subject"`
	Text     string   `json:"text"`
}

// examination gathers findings about one data directory.
type examination struct {
	dir      string
	now      time.Time
	findings []finding
}

func (x *examination) say(s severity, subject, format string, args ...any) {
	x.findings = append(x.findings, finding{s, subject, fmt.Sprintf(format, args...)})
}

// DoctorCommand is warptune doctor.
func DoctorCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor DIR",
		Short: "Check a data directory: database, disk, backups; changes no data",
		Long: "Check a coordinator's data directory and say what is wrong. Every stored value is\n" +
			"read and its checksum compared. Nothing is repaired or migrated. A database that a\n" +
			"coordinator is using is not opened. Exit status 1 if something is wrong.",
		Args: cli.Exactly(1, "one directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			x := &examination{dir: args[0], now: time.Now()}
			if err := x.examine(); err != nil {
				return err
			}
			return printFindings(a, x)
		},
	}
}

func printFindings(a *cli.App, x *examination) error {
	bad := 0
	for _, f := range x.findings {
		if f.Severity == wrong {
			bad++
		}
	}
	if a.JSON {
		if err := a.PrintJSON(x.findings); err != nil {
			return err
		}
	} else {
		t := cli.NewTable(a.Stdout, "STATE", "OF", "FINDING")
		for _, f := range x.findings {
			t.Row(f.Severity.String(), f.Subject, cli.OneLineText(f.Text))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fmt.Errorf("%s: %d things are wrong", x.dir, bad)
	}
	return nil
}

// examine looks at everything. An error means that there is nothing to look at.
func (x *examination) examine() error {
	entries, err := os.ReadDir(x.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist: name the directory given to coordinator --data", x.dir)
	} else if err != nil {
		return err
	}
	x.disk()
	databases := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".db") {
			databases++
			x.database(e.Name())
		}
	}
	if databases == 0 {
		x.say(wrong, "database", "there is none: no file of %s ends in .db", x.dir)
	}
	// A check takes a while, and a coordinator replaces backups meanwhile.
	if entries, err = os.ReadDir(x.dir); err != nil {
		return err
	}
	x.companions(entries)
	x.standby()
	x.compilers()
	return nil
}

// compilers says which there are for kernels that have no PTX, and for --ptxas, or the line that installs one.
func (x *examination) compilers() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var found []string
	for _, driver := range []compile.Driver{compile.NewNVCC("", sandbox.DefaultLimits()), compile.NewClang("", sandbox.DefaultLimits())} {
		if name, err := driver.Identify(ctx); err == nil {
			name, _, _ = strings.Cut(name, " device ")
			found = append(found, name)
		}
	}
	if name, err := compile.NewPTXAS("", "", sandbox.DefaultLimits()).Identify(ctx, ""); err == nil {
		found = append(found, name)
	}
	if len(found) == 0 {
		x.say(noted, "compilers", "none is found; without root and GPU: %s", toolkit.NVCCInstall)
		return
	}
	x.say(fine, "compilers", "%s", strings.Join(found, ", "))
}

// lowSpace is how little free space, bytes, is worth a note: a coordinator
// pauses its sweeps when there is none.
const lowSpace = 1 << 30

func (x *examination) disk() {
	d, err := disk.Stat(x.dir)
	switch {
	case err != nil:
		x.say(noted, "disk", "the kind of file system is not known: %v", err)
		return
	case d.Network:
		x.say(wrong, "disk", "%s is a network file system, where locks and syncs cannot be relied on: move the directory to a local disk", d.Kind)
	case d.Volatile:
		x.say(noted, "disk", "%s is in memory: everything is lost when the machine restarts", d.Kind)
	default:
		x.say(fine, "disk", "%s", d.Kind)
	}
	s := fine
	if d.Free < lowSpace {
		s = noted
	}
	x.say(s, "space", "%s free of %s", cli.BytesText(float64(d.Free)), cli.BytesText(float64(d.Size)))
}

// database checks one database file and all it holds.
func (x *examination) database(name string) {
	path := filepath.Join(x.dir, name)
	info, err := os.Stat(path)
	if err != nil {
		x.say(wrong, name, "%v", err)
		return
	}
	found, err := store.Check(path)
	switch {
	case tuner.KindOf(err) == tuner.Locked:
		x.say(noted, name, "%s; in use, so not checked: %v", cli.BytesText(float64(info.Size())), err)
		return
	case errors.Is(err, store.ErrOlder):
		x.say(noted, name, "%v; an upgraded copy is checked", err)
		found, err = checkCopy(path)
	}
	if err != nil {
		x.say(wrong, name, "%v", err)
		return
	}
	x.say(fine, name, "%s, %s of it free for further results", cli.BytesText(float64(info.Size())), cli.BytesText(float64(found.Usage.Free)))
	x.say(fine, name, "%d sweeps, %d results, %d leases, %d answers, %d kernel bundles, %d acts", found.Sweeps, found.Results, found.Leases, found.Answers, found.Bundles, found.Acts)
	for _, p := range found.Problems {
		x.say(wrong, name, "%s", p)
	}
	if len(found.Problems) == 0 {
		x.say(fine, name, "every page, checksum and reference holds")
	}
}

// companions looks at the files beside databases: backups, and what a crash in
// the middle of making a database left behind.
func (x *examination) companions(entries []fs.DirEntry) {
	backups := 0
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(x.dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since, or a link to nothing
		}
		switch {
		case err != nil:
			x.say(wrong, e.Name(), "%v", err)
		case strings.HasSuffix(e.Name(), ".backup") && !info.Mode().IsRegular(): // a pipe would be waited for
			x.say(wrong, "backup", "%s: it is no regular file", e.Name())
		case strings.HasSuffix(e.Name(), ".backup"):
			backups++
			x.backup(e.Name(), info)
		case strings.Contains(e.Name(), ".db.new-"):
			x.say(noted, "leftover", "%s: a database that was never finished; it can be removed", e.Name())
		case strings.HasSuffix(e.Name(), ".db"+store.Partial):
			x.say(noted, "leftover", "%s: a backup that is being written, or was cut short; the next takes its place", e.Name())
		}
	}
	if backups == 0 {
		x.say(noted, "backup", "there is none here: see docs/OPERATIONS.md for making one")
	}
}

// backup checks a backup as a restore would use it: a copy of it, since opening
// one of an older schema changes it.
func (x *examination) backup(name string, info fs.FileInfo) {
	about := fmt.Sprintf("%s, %s, %s old", name, cli.BytesText(float64(info.Size())), x.now.Sub(info.ModTime()).Round(time.Minute))
	if d, err := disk.Stat(os.TempDir()); err == nil && info.Size() > int64(d.Free) {
		x.say(noted, "backup", "%s: not checked: its copy has no room in %s, where %s are free: set TMPDIR", about, os.TempDir(), cli.BytesText(float64(d.Free)))
		return
	}
	found, err := checkCopy(filepath.Join(x.dir, name))
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed since
	case err != nil:
		x.say(wrong, "backup", "%s: %v", about, err)
	case len(found.Problems) > 0:
		x.say(wrong, "backup", "%s: %s", about, strings.Join(found.Problems, "; "))
	default:
		x.say(fine, "backup", "%s; %d sweeps, %d results; every page, checksum and reference holds", about, found.Sweeps, found.Results)
	}
}

// checkCopy checks a copy of a database in a directory of its own.
func checkCopy(path string) (*store.Findings, error) {
	from, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	dir, err := os.MkdirTemp("", "warptune-doctor-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	to, err := os.Create(filepath.Join(dir, "warptune.db"))
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return nil, fmt.Errorf("copy it to be checked: %w", err)
	}
	return store.CheckUpgraded(to.Name())
}
