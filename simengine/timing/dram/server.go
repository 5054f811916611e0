package dram

// Fraction is the number of fixed-point steps of a cycle in which servers
// account for service: rates are rarely a whole number of cycles a request, and
// integers give the same bytes on every machine.
const Fraction = 256

// Ticks turns cycles into server time steps, rounding to nearest.
func Ticks(cycles float64) int64 { return int64(cycles*Fraction + 0.5) }

// Server is a resource that serves requests in order of arrival.
// Its zero value is idle.
type Server struct {
	free int64 // first idle step
	busy int64 // steps of service so far
}

// Serve queues a request that arrives at cycle at and needs cost steps. It
// returns the cycle at which service begins and the one at which it is over.
func (s *Server) Serve(at, cost int64) (begin, end int64) {
	t := max(at*Fraction, s.free)
	s.free = t + cost
	s.busy += cost
	return t / Fraction, (s.free + Fraction - 1) / Fraction
}

// Free is the first cycle at which the server is idle.
func (s *Server) Free() int64 { return (s.free + Fraction - 1) / Fraction }

// Delay keeps the server from beginning anything before cycle at.
func (s *Server) Delay(at int64) { s.free = max(s.free, at*Fraction) }

// BusyCycles is how long the server has been serving.
func (s *Server) BusyCycles() float64 { return float64(s.busy) / Fraction }
