package cost

import (
	"testing"

	"github.com/warptune/warptune/simengine/arch"
)

// L2 looks up all that a CTA asks for alone, and of shared data less the more CTAs read it, the nearer they are launched,
// the fewer waves they are in and the fewer CTAs an SM has; never less than each line once.
func TestSharersLookedUp(t *testing.T) {
	for _, copied := range []bool{false, true} {
		base := Sharers{CTAs: 16, Apart: 2, Waves: 2, PerSM: 2, Copied: copied}
		share := func(change func(*Sharers)) float64 {
			s := base
			change(&s)
			return s.LookedUp()
		}
		if got := share(func(s *Sharers) { s.CTAs = 1 }); got != 1 {
			t.Errorf("%+v alone: %v looked up, want all", base, got)
		}
		if got := share(func(s *Sharers) { s.CTAs = 2 }); got <= base.LookedUp() || got >= 1 {
			t.Errorf("%+v, two of them: %v looked up, want more than of all and less than all", base, got)
		}
		for name, change := range map[string]func(*Sharers, float64){
			"launched farther apart": func(s *Sharers, by float64) { s.Apart *= by },
			"in more waves":          func(s *Sharers, by float64) { s.Waves *= by },
			"with more an SM":        func(s *Sharers, by float64) { s.PerSM *= by },
			"fewer":                  func(s *Sharers, by float64) { s.CTAs /= by },
		} {
			last := base.LookedUp()
			for _, by := range []float64{2, 4, 8} {
				got := share(func(s *Sharers) { change(s, by) })
				if got <= last || got > 1 {
					t.Errorf("%+v, %s by %v: %.3f looked up, %.3f before", base, name, by, got, last)
				}
				last = got
			}
		}
		if got := share(func(s *Sharers) { s.Waves, s.PerSM, s.Apart = 0, 0, 0 }); got < 1.0/16 {
			t.Errorf("%+v: %v of the lines looked up, less than each once", base, got)
		}
	}
}

// Where nothing is known of requests that become one, each is looked up.
func TestJoins(t *testing.T) {
	for gpu, want := range map[string]bool{"h100": true, "h200": true, "a100": false} {
		d, err := arch.Load(gpu)
		if err != nil {
			t.Fatal(err)
		}
		if Joins(d) != want {
			t.Errorf("%s: requests join %v, want %v", gpu, !want, want)
		}
	}
}
