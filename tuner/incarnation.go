package tuner

// A store may be replaced by an older copy of itself: a backup, a snapshot of
// its volume. Numbers of sweeps and fencing tokens are then given out a second
// time, for something else. So each start of a coordinator is an incarnation of
// the store with a name of its own, drawn at random, and the store lists those
// before with the greatest token that it knew of when the next began. What was
// granted by one of them under a token up to that is what the store knows of;
// all else is of a future that the store has lost.

// Incarnation is the time of one coordinator with a store.
type Incarnation struct {
	Name  string `json:"name"`  // drawn at random
	Token uint64 `json:"token"` // the greatest granted in its time or before
}

// MaxPast is how many incarnations are remembered.
const MaxPast = 64

// Fence returns the greatest token up to which leases that were granted by the
// incarnation of that name are leases of the store with this past; 0: none is.
func Fence(past []Incarnation, name string) uint64 {
	for _, i := range past {
		if i.Name == name {
			return i.Token
		}
	}
	return 0
}

// Below leaves of what a worker says only what it was granted under tokens up to
// fence.
func (s *Sync) Below(fence uint64) {
	held, reports := s.Held[:0], s.Reports[:0]
	for _, h := range s.Held {
		if h.Token <= fence {
			held = append(held, h)
		}
	}
	for _, r := range s.Reports {
		if r.Token <= fence {
			reports = append(reports, r)
		}
	}
	s.Held, s.Reports = held, reports
}
