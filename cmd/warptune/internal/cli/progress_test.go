package cli

import (
	"testing"
	"time"
)

// The rate shown is the sweep's, however much was done before somebody looked; while a
// sweep is paused, or its rate not known, nobody says when it ends.
func TestProgressText(t *testing.T) {
	p := &Progress{what: "configurations", Rated: true, Rate: 2, Left: 50 * time.Second}
	if text := p.text(500, 600, time.Second, ""); text != "500 of 600 configurations, 2/s, about 50s left" {
		t.Errorf("attached late: %s", text)
	}
	p.Left = 0
	if text := p.text(5, 600, time.Minute, ""); text != "5 of 600 configurations, 2/s" {
		t.Errorf("too few to tell: %s", text)
	}
	p.Rate = 0
	if text := p.text(500, 600, time.Second, "paused"); text != "500 of 600 configurations, paused" {
		t.Errorf("paused: %s", text)
	}
	p = &Progress{what: "records"}
	if text := p.text(50, 100, 10*time.Second, ""); text != "50 of 100 records, 5/s, about 10s left" {
		t.Errorf("a batch of one's own: %s", text)
	}
	if text := p.text(3, 600, time.Minute, ""); text != "3 of 600 records, 0.05/s" {
		t.Errorf("a batch of which little is known: %s", text)
	}
}

// What may end at any time is foretold no end.
func TestProgressOfWhatEndsEarly(t *testing.T) {
	for atMost, want := range map[bool]string{
		false: "50 of 100 configurations, 10/s, about 5s left, note",
		true:  "50 of 100 configurations, 10/s, note",
	} {
		p := &Progress{what: "configurations", AtMost: atMost}
		if got := p.text(50, 100, 5*time.Second, "note"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
