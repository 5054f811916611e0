package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
)

// backupSuffix ends the names of backups; what is between the database's name
// and it is when the backup was made, so that names sort by age.
const (
	backupSuffix = ".backup"
	backupTime   = "20060102T150405Z"
)

// source is what can be copied while it is used.
type source interface{ Backup(w io.Writer) error }

// backUp copies the database beside itself every so often until ctx ends, and
// removes all copies but the newest. A backup that fails is logged: sweeps are
// worth more than it.
func (o *options) backUp(ctx context.Context, from source, database string, c *coordinator.Coordinator, log hclog.Logger) {
	if o.backupEvery <= 0 {
		return
	}
	tick := time.NewTicker(o.backupEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			name, err := writeBackup(from, database, now)
			if err != nil {
				log.Error("the backup failed", "error", err)
				continue
			}
			log.Info("backed up", "file", name, "took", time.Since(now))
			if err := pruneBackups(database, o.backupKeep); err != nil {
				log.Warn("old backups could not be removed", "error", err)
			}
			if err := c.Note(ctx, tuner.Act{What: tuner.ActBackUp, Detail: filepath.Base(name)}); err != nil && ctx.Err() == nil {
				log.Warn("the backup could not be recorded in the audit log", "file", name, "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// writeBackup makes a copy that is complete, and on disk, whenever it has its name.
// Until then it has one that the next takes over, if this one is cut short.
func writeBackup(from source, database string, now time.Time) (name string, err error) {
	name = database + "." + now.UTC().Format(backupTime) + backupSuffix
	f, err := os.OpenFile(database+store.Partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	err = from.Backup(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("write a copy of %s: %w", database, err)
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return "", err
	}
	return name, store.SyncDir(filepath.Dir(name))
}

// pruneBackups removes all backups of a database but the newest keep.
func pruneBackups(database string, keep int) error {
	dir, base := filepath.Split(database)
	entries, err := os.ReadDir(filepath.Clean(dir)) // by name
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		if match, _ := filepath.Match(base+".????????T??????Z"+backupSuffix, e.Name()); match {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	for len(names) > keep {
		err = errors.Join(err, os.Remove(names[0]))
		names = names[1:]
	}
	return err
}
