package dram

// Fraction is the number of fixed-point steps of a cycle in which servers
// account for service: rates are rarely a whole number of cycles a request, and
// integers give the same bytes on every machine.
const Fraction = 256

// Ticks turns cycles into server time steps, rounding to nearest.
func Ticks(cycles float64) int64 { return int64(cycles*Fraction + 0.5) }

// Server is a resource that serves requests in order of arrival.
// Its zero value is idle.
//
// A server that stands for a share of something larger has Slack. What it did not use in the last Slack steps it can
// use at once later, because the others that share it are not busy at the same moments. A burst is served Burst times
// as fast as the share's rate until the slack is gone. Over longer times the server keeps to its rate.
type Server struct {
	Slack int64 // steps
	Burst int64 // with Slack; at least 1
	free  int64 // first idle step; behind the present when there is slack left
	quick int64 // first step at which a burst's next request can be served
	busy  int64 // steps of service so far
	first int64 // cycle of the first request
}

// drift is how many times a slack must have passed since the start before all of
// it can be used.
const drift = 8

// Serve queues a request that arrives at cycle at and needs cost steps. It
// returns the cycle at which service begins and the one at which it is over.
func (s *Server) Serve(at, cost int64) (begin, end int64) {
	now := at * Fraction
	if s.busy == 0 {
		s.first = at
	}
	s.busy += cost
	if s.Slack == 0 {
		t := max(now, s.free)
		s.free = t + cost
		return t / Fraction, (s.free + Fraction - 1) / Fraction
	}
	// CTAs start together and drift apart: slack comes with time.
	s.free = max(s.free, now-min(s.Slack, now/drift))
	t := max(now, s.free, s.quick)
	s.free += cost
	s.quick = t + cost/s.Burst
	return t / Fraction, (max(s.free, s.quick) + Fraction - 1) / Fraction
}

// Free is the first cycle at which the server is idle.
func (s *Server) Free() int64 { return (max(s.free, s.quick) + Fraction - 1) / Fraction }

// Span is the cycle of the first request and the one at which the server is done.
func (s *Server) Span() (first, free int64) { return s.first, s.Free() }

// Delay keeps the server from beginning anything before cycle at.
func (s *Server) Delay(at int64) { s.free = max(s.free, at*Fraction) }

// BusyCycles is how long the server has been serving.
func (s *Server) BusyCycles() float64 { return float64(s.busy) / Fraction }
