package standby

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Record says who may serve. The zero value: there is none yet.
type Record struct {
	Term    uint64 // grows by one with each change; at least 1
	Holder  string // the node that may serve
	Standby string // the node that has everything acknowledged on disk; "": none has
	Process string // drawn at random by the process that wrote it
}

// noStandby stands for an empty Record.Standby.
const noStandby = "-"

// String returns the record as arbiters keep it: four words between dots.
func (r Record) String() string {
	standby := r.Standby
	if standby == "" {
		standby = noStandby
	}
	return fmt.Sprintf("%d.%s.%s.%s", r.Term, r.Holder, standby, r.Process)
}

// ParseRecord reads what String wrote; false if it did not.
func ParseRecord(text string) (r Record, ok bool) {
	words := strings.Split(text, ".")
	if len(words) != 4 {
		return Record{}, false
	}
	term, err := strconv.ParseUint(words[0], 10, 64)
	r = Record{Term: term, Holder: words[1], Standby: words[2], Process: words[3]}
	if r.Standby == noStandby {
		r.Standby = ""
	}
	return r, err == nil && term > 0 && isName(r.Holder) && (r.Standby == "" || isName(r.Standby)) && isName(r.Process) && r.String() == text
}

// isName reports whether a text is the name of a node or a process.
func isName(s string) bool {
	if s == "" || s == noStandby || len(s) > 64 {
		return false
	}
	return s == strings.Map(nameRune, s)
}

// nameRune is a rune as names have it.
func nameRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
		return r
	}
	return '-'
}

// newNode returns a name for the node that a data directory is: the host's, for
// people, and something random.
func newNode() string {
	host, _ := os.Hostname()
	host, _, _ = strings.Cut(host, ".")
	host = strings.Map(nameRune, host)
	return host[:min(len(host), 40)] + "_" + strings.ToLower(rand.Text()[:8])
}

// Arbiter keeps the record. Whatever can compare and swap will do.
type Arbiter interface {
	// Read returns the record; the zero Record when there is none yet.
	Read(ctx context.Context) (Record, error)
	// Create makes the first record; false: there is one.
	Create(ctx context.Context, first Record) (bool, error)
	// Swap puts next in the place of old, durably; false: there is another than old.
	// After an error it is unknown whether it did.
	Swap(ctx context.Context, old, next Record) (bool, error)
}
