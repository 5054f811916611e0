package timing

// Shape is how the CTAs of a grid fall on the SMs.
type Shape struct {
	CTAs     int64
	PerSM    int64   // CTAs of the SM that has most
	Resident int64   // CTAs it holds at a time
	Active   float64 // SMs' worth of CTAs: CTAs / PerSM
}

// NewShape is the shape of a launch.
func NewShape(in *Input) Shape {
	n := in.CTAs()
	sms := int64(in.ActiveSMs())
	s := Shape{CTAs: n, PerSM: (n + sms - 1) / sms}
	s.Resident = min(int64(in.CTAsPerSM), s.PerSM)
	s.Active = float64(n) / float64(s.PerSM)
	return s
}
