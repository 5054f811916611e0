package cli

import (
	"errors"
	"fmt"
	"strings"
)

// IncompleteError says that the answer, which is given, is of a sweep that had to
// give configurations up: exit status 3.
type IncompleteError struct{ error }

// Incomplete says so, if it is so.
func Incomplete(missing int64, sweep string) error {
	if missing == 0 {
		return nil
	}
	what := "1 configuration"
	if missing > 1 {
		what = fmt.Sprint(missing, " configurations")
	}
	return IncompleteError{fmt.Errorf("incomplete: %s of sweep %s given up, and the best may be among what is missing; \"warptune sweep status\" says why, \"warptune sweep retry\" tries again", what, ShortID(sweep))}
}

// shownDamaged is how many damaged trials a message names.
const shownDamaged = 10

// DamagedRows says, if there are some, that n trials' rows are damaged, of which
// some are named.
func DamagedRows(n int64, named []int64, sweep string) error {
	if n == 0 {
		return nil
	}
	var list strings.Builder
	for i, seq := range named[:min(len(named), shownDamaged)] {
		if i > 0 {
			list.WriteString(", ")
		}
		fmt.Fprint(&list, seq)
	}
	what := "the row of trial " + list.String() + " of sweep " + ShortID(sweep) + " is damaged in the database and left out"
	if n > 1 {
		if n > shownDamaged {
			list.WriteString(", …")
		}
		what = fmt.Sprintf("%d rows of sweep %s are damaged in the database and left out: trials %s", n, ShortID(sweep), &list)
	}
	return IncompleteError{errors.New("incomplete: " + what + "; \"warptune doctor\" looks through the database. Restore a backup, or evaluate them again: submit the sweep to a new database")}
}

// Incompletes joins what is to be said of incomplete answers.
func Incompletes(all ...error) error {
	if err := errors.Join(all...); err != nil {
		return IncompleteError{err}
	}
	return nil
}

// ShortID is enough of a sweep's identity to name it.
func ShortID(id string) string { return id[:min(12, len(id))] }
