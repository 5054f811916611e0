package store

import (
	"os"

	"github.com/warptune/warptune/tuner"
)

// Present returns an error if the file is not under its name any more: it was
// deleted or replaced, or its volume is gone. What is written to it then is lost
// with this process.
func (b *Bolt) Present() error {
	now, err := os.Stat(b.path)
	switch {
	case err != nil:
		return tuner.Errorf(tuner.Internal, "use store", "%s is gone while it is used (%w): nothing more is acknowledged. Is its disk there? Put it back, or a backup, and start again", b.path, err)
	case !os.SameFile(b.file, now):
		return tuner.Errorf(tuner.Internal, "use store", "%s was replaced while it was used: nothing more is acknowledged. Start again to use what is there now; files are replaced while the coordinator is stopped", b.path)
	}
	return nil
}
