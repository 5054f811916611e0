package simengine

// Report is what simulating one configuration gave. It owns its memory.
type Report struct {
	// Provenance: equal provenance means an equal report.
	Kernel string `json:"kernel"`
	Arch   string `json:"arch"`
	Level  string `json:"level"`
	Engine string `json:"engine"` // Version()
	Module string `json:"module"` // digest of the PTX
	Device string `json:"device"` // digest of the descriptor
	Digest string `json:"digest"` // of the whole question

	TimeUS float64 `json:"time_us"` // start to start of back-to-back launches, microseconds
	Cycles float64 `json:"cycles"`  // of the grid alone, SM clock
	// FloorUS is a time that TimeUS is not below at either level, microseconds.
	// It is the same at both, and known without clocking anything.
	FloorUS float64 `json:"floor_us"`
	// ErrorShare estimates the relative error that sampling the grid and its
	// loops adds to TimeUS; 0 when everything was simulated.
	ErrorShare float64 `json:"error_share"`

	Registers     int `json:"registers"`   // per thread
	SpillBytes    int `json:"spill_bytes"` // per thread
	LocalBytes    int `json:"local_bytes"` // per thread, spills included
	SharedStatic  int `json:"shared_static"`
	SharedDynamic int `json:"shared_dynamic"`
	CarveOut      int `json:"carve_out"` // bytes of shared memory the driver configures
	L1Bytes       int `json:"l1_bytes"`  // what that leaves to L1

	CTAsPerSM int     `json:"ctas_per_sm"`
	Occupancy float64 `json:"occupancy"` // theoretical, 0 to 1
	Limiter   string  `json:"limiter"`
	Waves     float64 `json:"waves"`

	Bound string `json:"bound"` // what bounds the time
	// Use is the busy share of each resource, 0 to 1, the highest first.
	Use []Share `json:"use"`
	// Slots accounts for every issue slot: cycles x schedulers of the
	// simulated SM = issued + the stalls.
	Slots []Share `json:"slots"`
	// Metrics are simulated counters under Nsight Compute's names.
	Metrics map[string]float64 `json:"metrics"`
	// NotModelled names what the kernel uses and the simulator leaves out.
	NotModelled []string `json:"not_modelled,omitempty"`

	Checked   Checked    `json:"checked"`
	Execution *Execution `json:"-"` // what Checked rests on; shared with other reports of the launch

	SampledCTAs         int   `json:"sampled_ctas"`
	SampledInstructions int64 `json:"sampled_instructions"` // warp instructions
}

// Share is a named part of a whole.
type Share struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}
