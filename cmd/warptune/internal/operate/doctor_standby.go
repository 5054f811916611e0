package operate

import (
	"time"

	"github.com/warptune/warptune/tuner/standby"
)

// staleStanding is after how long what a coordinator wrote down of itself is old.
const staleStanding = 30 * time.Second

// standby says how it stands with a directory that is one of two coordinators'.
func (x *examination) standby() {
	n, err := standby.FindNode(x.dir)
	if err != nil {
		x.say(wrong, "standby", "%v", err)
		return
	}
	if n == nil {
		return
	}
	s, err := standby.LastStanding(x.dir)
	switch {
	case err != nil:
		x.say(wrong, "standby", "%s: how it stands cannot be read: %v", n.Name, err)
	case s == nil:
		x.say(noted, "standby", "this is %s, one of two coordinators, which has not run with the other yet", n.Name)
	case x.now.Sub(s.At) > staleStanding:
		x.say(noted, "standby", "its coordinator does not run; %v ago it said: %s", x.now.Sub(s.At).Round(time.Second), s)
	case s.InSync == "":
		x.say(wrong, "standby", "%s", s)
	case s.Problem != "":
		x.say(noted, "standby", "%s", s)
	default:
		x.say(fine, "standby", "%s", s)
	}
	if n.Superseded() {
		x.say(noted, "standby", "warptune.db.superseded is the database of before another coordinator took over: nothing that is in it alone was acknowledged, unless somebody accepted a loss; it can be removed")
	}
}
