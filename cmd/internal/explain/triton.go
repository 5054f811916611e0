package explain

import "fmt"

// Parameters that every configuration of Triton's has.
const (
	numWarps  = "num_warps"
	numStages = "num_stages"
)

// ofTriton reports whether the configuration is one of Triton's, whose remedies are parameters of triton.Config.
func (s *Subject) ofTriton() bool {
	_, warps := s.Config.Get(numWarps)
	_, stages := s.Config.Get(numStages)
	return warps && stages
}

// stated is advice with the parameter that it is of, and what that is now.
func (s *Subject) stated(advice, name string) string {
	v, _ := s.Config.Get(name)
	return fmt.Sprintf("%s (%s, now %s)", advice, name, v)
}
