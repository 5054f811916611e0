package standby

import (
	"fmt"
	"io"
	"time"
)

// Standing is how it stands with the two, as one of them sees it.
type Standing struct {
	Role string `json:"role"` // primary or standby
	Node string `json:"node"`
	Term uint64 `json:"term"`
	// InSync is the standby that has everything acknowledged, and may take over by
	// itself; "": none may.
	InSync string `json:"in_sync,omitempty"`
	// Connected is the other side, "": it is not connected.
	Connected string `json:"connected,omitempty"`
	// Behind is how many writes the standby is behind, and Heard how long ago the other
	// side was heard of, where it is connected.
	Behind  uint64        `json:"behind,omitempty"`
	Heard   time.Duration `json:"heard,omitempty"`
	Problem string        `json:"problem,omitempty"`
	// Required says that answers wait for a standby for ever.
	Required bool      `json:"required,omitempty"`
	At       time.Time `json:"at"`
}

// Roles in Standing.
const (
	RolePrimary = "primary"
	RoleStandby = "standby"
)

// Standing returns how it stands.
func (p *Primary) Standing() Standing {
	r := p.keeper.Record()
	s := Standing{Role: RolePrimary, Node: p.node, Term: r.Term, InSync: r.Standby, Required: p.timing.Wait <= 0, At: time.Now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Problem = p.leaving
	if f := p.follower; f != nil {
		s.Connected, s.Behind, s.Heard = f.node, p.writes.last-p.acked, time.Since(f.heard)
		if f.problem != "" {
			s.Problem = f.problem
		}
	}
	return s
}

// String says it in one line.
func (s Standing) String() string {
	switch {
	case s.Role == RoleStandby && s.InSync == s.Node:
		return fmt.Sprintf("%s is the standby and has everything that was acknowledged; the lease is in term %d%s", s.Node, s.Term, s.tail())
	case s.Role == RoleStandby:
		return fmt.Sprintf("%s is a standby that may not take over by itself: %d writes behind; the lease is in term %d%s", s.Node, s.Behind, s.Term, s.tail())
	case s.InSync != "" && s.Connected == "":
		return fmt.Sprintf("%s serves in term %d; its standby %s has everything that was acknowledged, and is not connected%s", s.Node, s.Term, s.InSync, s.tail())
	case s.InSync != "":
		return fmt.Sprintf("%s serves in term %d; its standby %s has everything that was acknowledged%s", s.Node, s.Term, s.InSync, s.tail())
	case s.Connected != "":
		return fmt.Sprintf("%s serves in term %d alone: its standby %s is %d writes behind%s", s.Node, s.Term, s.Connected, s.Behind, s.tail())
	}
	return fmt.Sprintf("%s serves in term %d alone: no standby is connected%s", s.Node, s.Term, s.tail())
}

func (s Standing) tail() string {
	if s.Problem == "" {
		return ""
	}
	return "; " + s.Problem
}

// WriteMetrics writes it in Prometheus' text format.
func (s Standing) WriteMetrics(w io.Writer) {
	flag := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	gauge := func(name, help string, value any) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n%s %v\n", name, help, name, name, value)
	}
	gauge("warptune_primary", "1 at the coordinator that serves, 0 at a standby.", flag(s.Role == RolePrimary))
	gauge("warptune_lease_term", "Term of the lease: grows with each change of the record.", s.Term)
	gauge("warptune_standby_in_sync", "1 when a standby has everything acknowledged, and may take over.", flag(s.InSync != ""))
	gauge("warptune_standby_connected", "1 when the other coordinator is connected.", flag(s.Connected != ""))
	gauge("warptune_standby_behind_writes", "Writes that the connected standby does not have yet.", s.Behind)
	gauge("warptune_standby_heard_seconds", "Seconds since the other coordinator was heard of.", s.Heard.Seconds())
}
