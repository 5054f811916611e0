package dram

import "math"

// Spec is what one SM gets of the memory system. Rates are bytes a cycle of
// this SM's share, latencies cycles from the SM and back on an idle machine.
type Spec struct {
	Granule int     // bytes of the unit stores and DRAM move: a request takes whole granules
	L2Read  float64 // bytes a cycle that the slices deliver in whole lines
	L2Write float64 // bytes a cycle of the way to the slices
	Port    float64 // bytes a cycle into this SM, a limit of its own
	DRAM    float64
	// L2Latency is that of the nearer half of L2, FarLatency of the other;
	// equal where there is one.
	L2Latency, FarLatency int64
	Waits                 Waits // for an idle DRAM
	// Turnaround and Queue are the mean cycles that turnarounds between reads and writes, and queues at some of
	// DRAM's channels, hold up a read when DRAM is fully busy; see Contention.
	Turnaround, Queue float64
	// Slack is the cycles over which a burst of this SM can use what it left
	// of its share before; see Server.
	Slack, Burst int64
	// InStep: all SMs ask L2 at the same moments, so that none can use what others leave: it has no slack.
	InStep bool
	// WriteBack is how long DRAM takes for a granule that stores are written back of, in
	// those it takes for one in a stream; less than 1 counts as 1.
	WriteBack float64
	// WriteBacklog is the cycles of DRAM work that stores may have queued in
	// L2 before further stores wait.
	WriteBacklog int64
	// Contended is the cycles for which a granule from DRAM, of a line of which another
	// request stores another part meanwhile, holds the slices; see Share.Contend.
	Contended float64
	// Crossing is the share of the requests that miss L2 which a slice of the other half looks up as well.
	Crossing float64
	// Apart is the share of stores of parts of sectors that L2 has nothing of; see Share.stored.
	Apart float64
}

// A read of one line occupies the slices for what its sectors take, and for LeastRead of what a whole line takes at
// least. Of one, two and four sectors of lines drawn at random an H100 reads 134, 229 and 226 billion sectors a
// second from L2, whichever two they are (deploy/calibrate bandwidth.sectors). A store of sectors in part holds them
// for a part of its own and one for each sector. Lines of which one, two and four are written take 3.7, 5.4 and 9.2
// cycles of the SM in the mean, where a whole line takes 8.0 (deploy/calibrate stores.partial, 32 warps).
const (
	LeastRead   = 0.42
	partRequest = 1.91 / 8.0 // of what a whole line takes,
	partSector  = 1.81 / 8.0 // and for each sector
	lineSectors = 4
)

// cost is how many steps sectors of one line take: least in any case.
type cost struct{ line, sector, least int64 }

// newCost is that of lines that take so many cycles whole, of which part is the line's own.
func newCost(line, part float64) cost {
	return cost{line: Ticks(line * part), sector: Ticks(line * (1 - part) / lineSectors)}
}

// Part is of how many of its sectors a store writes a part alone.
type Part int64

// Of none, of some, of all.
const (
	Whole Part = iota
	SomeInPart
	AllInPart
	Parts int64 = iota
)

// PartOf is that of a store to sectors of a line, to those in full wholly.
func PartOf(sectors, full uint8) Part {
	switch sectors &^ full {
	case 0:
		return Whole
	case sectors:
		return AllInPart
	}
	return SomeInPart
}

// stored are the costs of what is stored whole, and in part.
func stored(line float64) [Parts]cost {
	inPart := cost{line: Ticks(line * partRequest), sector: Ticks(line * partSector)}
	return [...]cost{Whole: newCost(line, 0), SomeInPart: inPart, AllInPart: inPart}
}

// apart is how many times as long the slices and the way to them are held by a store to part of a sector of which
// L2 has nothing, as by one to part of a sector that is there: each of the one and a half lookups that a store takes
// then holds a slice for two cycles. Slices are not held for less than the way. A store of 16 bytes, two SMs to each
// sector, takes 3.2 to 3.9 cycles of a slice of an H100 where such stores go through 67 MB. It takes 2.0 where they stay
// within 8 MB. Stores of whole sectors through 67 MB take 1.8. Reads beside them take as long more as by themselves (deploy/calibrate
// pieces.scan).
const apart = 1.5

// apart is the cost of stores in part of which a share is to what L2 has nothing of: those take what way says.
func (c cost) apart(way cost, share float64) cost {
	mix := func(a, b int64) int64 { return int64((1-share)*float64(a) + share*apart*float64(b)) }
	return cost{mix(c.line, way.line), mix(c.sector, way.sector), c.least}
}

func (c cost) of(sectors int64) int64 { return max(c.line+sectors*c.sector, c.least) }

// WriteSlices is how long a store holds the slices beside the way to them, of the time that a read of as many sectors
// does. Copies within L2 reach 6.88 TB/s where reads reach 8.0 and stores 4.3 (deploy/calibrate
// bandwidth.copy_divided, read_divided, write_divided).
const WriteSlices = 1.33

// Share is one SM's share of L2 and DRAM. Make it with New.
type Share struct {
	spec                   Spec
	port, l2, out, dram    Server
	atomics                [AtomicBuffers]Server // by buffer, the slices that atomics fall on
	read                   cost                  // of the slices
	writeSlice, writeOut   [Parts]cost
	dramOne, dramBack      int64 // steps a granule, one that is written back
	contended              int64 // steps for a granule of a line that others store to
	crossing               int64 // steps for a request that misses
	portCost               int64 // steps a sector
	windowFrom, windowBusy int64 // DRAM occupancy is measured over windows
	wait                   int64 // mean contention delay at the present occupancy
	// BytesRead and BytesWritten are DRAM traffic so far.
	BytesRead, BytesWritten int64
}

// sectorBytes is the unit the port into the SM moves.
const sectorBytes = 32

// New makes an idle share.
func New(spec Spec) *Share {
	g := float64(spec.Granule)
	line := lineSectors * sectorBytes / spec.L2Read
	shared := Server{Slack: spec.Slack * Fraction, Burst: max(spec.Burst, 1)}
	s := &Share{
		spec: spec, l2: shared, out: shared, dram: shared,
		read:       cost{sector: Ticks(line / lineSectors), least: Ticks(line * LeastRead)},
		writeSlice: stored(line * WriteSlices),
		writeOut:   stored(lineSectors * sectorBytes / spec.L2Write),
		dramOne:    Ticks(g / spec.DRAM),
		dramBack:   Ticks(g / spec.DRAM * max(spec.WriteBack, 1)),
		contended:  Ticks(spec.Contended),
		portCost:   Ticks(sectorBytes / spec.Port),
	}
	if spec.InStep {
		s.l2, s.out = Server{}, Server{}
	}
	s.crossing = Ticks(line * LeastRead * spec.Crossing)
	slice, way := &s.writeSlice[AllInPart], &s.writeOut[AllInPart]
	*slice = slice.apart(*way, spec.Apart)
	*way = way.apart(*way, spec.Apart)
	for i := range s.atomics {
		s.atomics[i] = shared
	}
	return s
}

// AtomicBuffers is how many buffers are told apart on whose few slices atomics queue; those of further ones queue
// with them. Adds in turns to 1, 2 and 4 buffers of 512 words come at 6.1, 11.7 and 21.2 billion a second
// (deploy/calibrate meetings.turns): each lies on slices of its own.
const AtomicBuffers = 4

// Request is a read of one line.
type Request struct {
	Sectors           int64
	FromDRAM          int64  // granules that miss L2
	Askers            int64  // how many requests ask for sectors of one of these granules, fractions, where each asks for one
	Held              int64  // how long it holds the slices, fractions of what it takes by itself
	Turns             int64  // steps that it takes at least to come into the SM
	Apart             bool   // it does not follow earlier stores on the way to L2
	Far               bool   // the data comes from the farther half of L2 if it hits
	RowSegment, Noise uint64 // spread like random numbers over the row segments of DRAM, and over requests
}

// Read sends a request at cycle at and returns when the data is in the SM.
func (s *Share) Read(at int64, r *Request) int64 {
	if !r.Apart { // the request follows earlier stores on the way to L2
		at, _ = s.out.Serve(at, 0)
	}
	at, _ = s.port.Serve(at, max(r.Sectors*s.portCost, r.Turns))
	begin, _ := s.l2.Serve(at, max(s.read.of(r.Sectors), s.looked(r.Sectors, r.FromDRAM, r.Askers))*r.Held/Fraction)
	done := begin + s.spec.L2Latency
	if r.Far {
		done = begin + s.spec.FarLatency
	}
	if r.FromDRAM > 0 {
		b, e := s.dram.Serve(begin, r.FromDRAM*s.dramOne)
		s.BytesRead += r.FromDRAM * int64(s.spec.Granule)
		done = max(done, b+s.spec.Waits.Of(r.RowSegment)+s.contention(b, r.Noise), e+s.spec.L2Latency)
	}
	return done
}

// looked is how long lookups hold the slices for a read of sectors of which granules miss. What misses is looked up in
// the near half of L2 and, of every second line, in the far one, once for each request that asks for other sectors of
// the granules. Of single sectors from DRAM, each asked for by two SMs, an H100 reads 105 billion a second, where of
// those in L2 it reads 134. Its counters say that slices look up 9.9 million times for 8.4 million of them, in 0.91 of
// all cycles (deploy/calibrate pieces.scan, bandwidth.sectors).
func (s *Share) looked(sectors, granules, askers int64) int64 {
	apart := int64(s.spec.Granule) / sectorBytes * Fraction / max(sectors, 1)
	return s.read.least + s.crossing*granules*min(apart, askers)/Fraction
}

// Contend holds the slices for granules, a share of which is of lines of which others
// store other parts meanwhile.
func (s *Share) Contend(at, granules int64, share float64) {
	s.l2.Serve(at, int64(float64(granules*s.contended)*share))
}

// Fetch moves granules from DRAM to L2 that nobody waits for.
func (s *Share) Fetch(at, granules int64) {
	if granules > 0 {
		s.dram.Serve(at, granules*s.dramOne)
		s.BytesRead += granules * int64(s.spec.Granule)
	}
}

// WriteBack moves granules from L2 to DRAM that nobody waits for.
func (s *Share) WriteBack(at, granules int64) {
	if granules > 0 {
		s.dram.Serve(at, granules*s.dramOne)
		s.BytesWritten += granules * int64(s.spec.Granule)
	}
}

// window is the cycles over which the occupancy of DRAM is averaged: long against a latency,
// short against a kernel.
const window = 2048

// Contention is the mean wait of a read for requests of other SMs where DRAM is busy for a share of the time, cycles.
func (s *Spec) Contention(busy float64) float64 {
	u := math.Min(busy, 1)
	return s.Turnaround*u + s.Queue*u*u*u*math.Sqrt(u)
}

// contention is what a read waits for requests that this SM does not see, cycles: exponentially distributed over requests.
func (s *Share) contention(now int64, noise uint64) int64 {
	if gone := now - s.windowFrom; gone >= window {
		busy := min((s.dram.busy-s.windowBusy)/Fraction, gone)
		s.windowFrom, s.windowBusy = now, s.dram.busy
		s.wait = int64(s.spec.Contention(float64(busy)/float64(gone)) + 0.5)
	}
	return s.wait * exponential[noise%uint64(len(exponential))] / Fraction
}

// exponential holds the quantiles of an exponential distribution of mean 1, in
// fractions: -ln(1 - (k+1/2)/16).
var exponential = [16]int64{8, 25, 43, 63, 85, 108, 133, 162, 194, 230, 273, 324, 389, 477, 605, 887}

// Write sends sectors of one line to L2 at cycle at; toDRAM granules of the line will be written back. It returns when L2 has taken
// them.
func (s *Share) Write(at, sectors int64, part Part, toDRAM int64) int64 {
	begin, end := s.out.Serve(at, s.writeOut[part].of(sectors))
	s.l2.Serve(begin, s.writeSlice[part].of(sectors))
	if toDRAM > 0 {
		s.dram.Serve(end, toDRAM*s.dramBack)
		s.BytesWritten += toDRAM * int64(s.spec.Granule)
		end = max(end, s.dram.Free()-s.spec.WriteBacklog)
	}
	return end
}

// Update holds the slices that atomics on a buffer fall on for cost steps from cycle at. They are held as long again
// as DRAM takes for the granules that it reads and writes for them. By lanes 1, 2, 4, 8 and 32 words apart, what is
// not in L2 is added to at 314, 257, 161, 89 and 84 billion words a second. L2 alone would take 874, 412, 204, 98 and
// 96, and DRAM alone 490 (deploy/calibrate reds, 512 and 32 MiB, bandwidth.copy_divided). The sum of both times says
// 314, 224, 144, 82 and 80. It returns when it begins. Few addresses are on few slices, which reads and stores
// elsewhere do not wait for. All slices, in the mean, are held for mean steps, and those wait for that. Random loads
// take 6.5 ps each, and 9.4 ps more for each atomic at random beside them, as atomics take by themselves
// (deploy/calibrate reds.beside).
func (s *Share) Update(at int64, buffer int32, cost, mean, granules int64) int64 {
	s.l2.Serve(at, mean)
	begin, _ := s.atomics[buffer%AtomicBuffers].Serve(at, cost+granules*s.dramOne)
	return begin
}

// Busy is how many cycles L2 (its slices, those that atomics fall on or the way
// to them, what is busiest) and DRAM have served.
func (s *Share) Busy() (l2, dram float64) {
	l2 = max(s.l2.BusyCycles(), s.out.BusyCycles())
	for i := range s.atomics {
		l2 = max(l2, s.atomics[i].BusyCycles())
	}
	return l2, s.dram.BusyCycles()
}

// AtomicCycles is how long atomics held the slices that were held longest.
func (s *Share) AtomicCycles() (cycles float64) {
	for i := range s.atomics {
		cycles = max(cycles, s.atomics[i].BusyCycles())
	}
	return cycles
}

// Backlog is how many cycles after cycle at the slices have served all that was asked of them so far.
func (s *Share) Backlog(at int64) int64 { return max(s.l2.Free()-at, 0) }

// Taken is when L2 has taken all stores so far; what it has still to write back
// is the next launch's.
func (s *Share) Taken() int64 {
	at := max(s.l2.Free(), s.out.Free())
	for i := range s.atomics {
		at = max(at, s.atomics[i].Free())
	}
	return at
}

// Units are copies of the share's servers, for their accounts.
func (s *Share) Units() []Server { return append([]Server{s.l2, s.out, s.dram}, s.atomics[:]...) }
