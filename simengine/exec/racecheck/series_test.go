package racecheck

import "testing"

// thread is a lane whose CTA has nothing in order, and that stores a value.
type thread struct{ value uint32 }

func (thread) Before(*Touch) bool                    { return false }
func (t thread) Stores(uint64, int) (uint32, bool)   { return t.value, true }
func (thread) Holds(uint64, int) (v uint32, ok bool) { return 0, true }

// stores notes a store by the first thread of the current CTA, and reports whether it races.
func stores(s *Series, value uint32, addr uint64, width int) bool {
	old, _ := s.Write(Touch{Run: s.Run(), Tick: 1}, &Clock{}, thread{value}, addr, width)
	return old != nil
}

// What a series keeps is bounded, and what it forgot is said.
func TestLimit(t *testing.T) {
	const pages = 4
	s := New(pages * pageSize / 4 * cellBytes)
	s.Begin(0, 4)
	for i := range uint64(pages + 2) {
		stores(s, 1, i*pageSize, 4)
	}
	if len(s.pages) != pages || s.Dropped() != 2 {
		t.Errorf("%d pages are kept and %d forgotten, want %d and 2", len(s.pages), s.Dropped(), pages)
	}
	s.Begin(1, 4)
	for i, want := range []bool{false, false, true} { // of the last page, a store that races; each page that comes back takes another's place
		if at := []uint64{0, pageSize, (pages + 1) * pageSize}[i]; stores(s, 2, at, 4) != want {
			t.Errorf("a store to page %d races: %v, want %v", at/pageSize, !want, want)
		}
	}
}

// A series that is reset knows of nothing.
func TestReset(t *testing.T) {
	s := New(0)
	for i := range int64(3) {
		s.Begin(i, 4)
		if stores(s, uint32(i), 64, 4) {
			t.Errorf("run %d races with what was before Reset", i)
		}
		s.Exchange(128, 0, 2, &Clock{})
		s.Reset()
	}
	s.Begin(0, 4)
	s.Begin(1, 4)
	if s.Run() != 2 {
		t.Errorf("run %d, want 2", s.Run())
	}
}

// Cells are as fine as the finest access.
func TestGranule(t *testing.T) {
	for granule, races := range map[int]bool{1: false, 2: true, 4: true, 8: true} {
		s := New(0)
		s.Begin(0, granule)
		stores(s, 1, 64, 1)
		s.Begin(1, granule)
		if got := stores(s, 2, 65, 1); got != races {
			t.Errorf("cells of %d bytes: stores to neighbouring bytes race: %v, want %v", granule, got, races)
		}
	}
}

// A chain of releases leads from any CTA to all that come later: each hears of those before from the one before it.
func TestOrderIsTransitive(t *testing.T) {
	const ctas = 2000
	s := New(0)
	for i := range int64(ctas) {
		s.Begin(i, 4)
		if i > 0 {
			s.Exchange(uint64(8*(i-1)), 0, 1, &Clock{})
		}
		old, _ := s.Write(Touch{Run: s.Run(), Tick: 2}, &Clock{0: 2}, thread{uint32(i)}, 1<<20, 4)
		if old != nil {
			t.Fatalf("CTA %d races with CTA %d", i, s.CTA(old))
		}
		s.Exchange(uint64(8*i), 0, 3, &Clock{0: 3})
	}
	s.Begin(ctas, 4)
	s.Exchange(8*(ctas/2), 0, 1, &Clock{})
	if !stores(s, 1, 1<<20, 4) {
		t.Error("what hears of the middle CTA alone does not race with the last")
	}
}
