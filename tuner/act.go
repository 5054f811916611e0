package tuner

import (
	"strings"
	"time"
	"unicode"
)

// Act is an entry of the audit log: who changed what, when, and what came of it.
// It becomes durable with the change, in one transaction. An act that changed
// nothing is none; one that was refused is. No act has a token or a key in it.
type Act struct {
	Num uint64    `json:"-"` // ascending, no two alike in a store, given by it
	At  time.Time `json:"at"`
	By  *Caller   `json:"by,omitempty"` // nil: the coordinator, by itself
	// What was done: ActSubmit and so on.
	What   string `json:"what"`
	Sweep  string `json:"sweep,omitempty"`  // its identity
	Number uint64 `json:"number,omitempty"` // Sweep.Num
	Owner  string `json:"owner,omitempty"`  // Sweep.Owner
	Worker string `json:"worker,omitempty"`
	// Refused is the kind of the error that it ended in; "": it was done.
	Refused string `json:"refused,omitempty"`
	Detail  string `json:"detail,omitempty"` // in words
}

// What is done, by callers and by the coordinator.
const (
	ActSubmit    = "submit"
	ActPause     = "pause"
	ActResume    = "resume"
	ActRetry     = "retry" // what was given up; by itself when another worker has come
	ActCancel    = "cancel"
	ActDelete    = "delete"
	ActPutBundle = "put bundle"
	ActCall      = "call" // what changes nothing: only refusals of it are recorded

	ActComplete  = "complete"
	ActFail      = "fail"
	ActStartOver = "start over" // under a new number
	ActSetAside  = "set aside"  // a worker that fails at everything
	ActPutBack   = "put back"   // that works again
	ActDistrust  = "not believed"

	ActStart   = "start"   // of a coordinator
	ActRestore = "restore" // the store is an older copy of what a worker knows
	ActUpgrade = "upgrade" // of the schema
	ActBackUp  = "back up"

	ActTakeOver = "take over" // of a standby
	ActStandby  = "standby"   // is in sync, or is not any more
)

// Caller is who calls a coordinator, as far as it knows.
type Caller struct {
	// Name is what stands beside the token, or the certificate's common name. "": the
	// coordinator asks for no credential.
	Name string `json:"name,omitempty"`
	Role string `json:"role,omitempty"`
	// Certificate is the certificate's subject; "": it is a token.
	Certificate string `json:"certificate,omitempty"`
	Address     string `json:"address,omitempty"` // the host; "": this one, by the socket beside the store or in the process
	// Anything says that the role may do anything to anybody's sweeps.
	Anything bool `json:"-"`
}

// Bounds in bytes on what an act keeps of names and of words.
const (
	maxActName   = 256
	maxActDetail = 512
)

// clean bounds what an act says, and takes line breaks and the like out of it.
func (a *Act) clean() {
	for _, s := range []*string{&a.Sweep, &a.Owner, &a.Worker} {
		*s = oneLine(*s, maxActName)
	}
	a.Detail = oneLine(a.Detail, maxActDetail)
	if a.By != nil {
		by := *a.By
		for _, s := range []*string{&by.Name, &by.Role, &by.Certificate, &by.Address} {
			*s = oneLine(*s, maxActName)
		}
		a.By = &by
	}
}

func oneLine(s string, n int) string {
	return Clip(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s), n)
}

// Note records an act, with what else the ledger has changed.
func (l *Ledger) Note(a Act) { l.changes.Acts = append(l.changes.Acts, l.Dated(a)) }

// Dated returns an act as it is recorded: done now, if it does not say when, and within
// the bounds on what an act says.
func (l *Ledger) Dated(a Act) Act {
	if a.At.IsZero() {
		a.At = l.now.Add(-l.behind).UTC()
	}
	a.clean()
	return a
}

// noteSweep records what the ledger did to a sweep.
func (l *Ledger) noteSweep(what string, s *Sweep, detail string) {
	l.Note(Act{What: what, Sweep: s.ID, Number: s.Num, Owner: s.Owner, Detail: detail})
}
