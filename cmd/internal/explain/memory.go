package explain

import (
	"fmt"
	"math"
	"strings"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
)

const bankBytes = 4

func banks(s *Subject) Finding {
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.Wavefronts - m.IdealWavefronts }, "shared")
	f := Finding{Line: p.at(), Evidence: "shared memory is accessed with bank conflicts"}
	if p.Requests == 0 {
		f.advise("let neighbouring threads access neighbouring words, or pad the rows of two-dimensional arrays by one element")
		return f
	}
	ways, ideal := p.Wavefronts/p.Requests, p.IdealWavefronts/p.Requests
	f.Evidence = fmt.Sprintf("%s shared memory with %s-way bank conflicts: a request takes %s wavefronts where %s would do (%.0f %% of them repeat)",
		verb(p.Kind), number(ways/math.Max(ideal, 1)), number(ways), number(ideal), 100*(1-ideal/ways))
	const row = 8 // words: what is farther apart is in other rows
	switch apart := apartBytes(&p.MemoryUse); {
	case strings.HasSuffix(p.Kind, "atomic"):
		f.advise("give warps copies of their own", "spread neighbours over the banks")
	case p.ByData:
		f.Evidence += "; its addresses come of data"
		f.advise("sort or permute what is looked up, so that lanes meet in fewer banks", "keep copies of the table, shifted by a bank each")
	case apart >= row*bankBytes:
		f.advise(fmt.Sprintf("pad the row of %s by one element", elements(apart, p.LaneBytes)), "permute its columns")
	case apart > int64(p.LaneBytes):
		f.Evidence += fmt.Sprintf("; neighbouring threads are %s apart", elements(apart, p.LaneBytes))
		f.advise("let neighbouring threads access neighbouring elements")
	default:
		f.advise("let the lanes of a warp access as many banks: neighbouring elements, or rows that are padded by one")
	}
	return f
}

// apartBytes is how far apart neighbouring threads access, 0 where it is not known.
func apartBytes(m *simengine.MemoryUse) int64 {
	if m.ApartBytes == nil {
		return 0
	}
	return max(*m.ApartBytes, -*m.ApartBytes)
}

// elements is a distance in elements of so many bytes.
func elements(bytes int64, of int) string {
	if of > 0 && bytes%int64(of) == 0 {
		return fmt.Sprintf("%d elements", bytes/int64(of))
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// aligned is how many times as many sectors as bytes fill requests touch whose only fault is where they begin, and more.
const aligned = 1.5

func coalescing(s *Subject) Finding {
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.Sectors - m.IdealSectors }, "global load", "global store")
	f := Finding{Line: p.at(), Evidence: "global memory is accessed uncoalesced"}
	if p.Requests == 0 {
		p = worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.Wavefronts - m.IdealWavefronts }, "global load")
		f.Line = p.at()
	}
	switch {
	case p.Requests == 0:
	case p.Sectors > p.IdealSectors:
		f.Evidence = fmt.Sprintf("%s global memory uncoalesced: a request touches %s sectors of 32 bytes where its bytes fill %s, %.3g %% of what is moved is used",
			verb(p.Kind), number(p.Sectors/p.Requests), number(p.IdealSectors/p.Requests), 100*p.IdealSectors/p.Sectors)
	default:
		f.Evidence = fmt.Sprintf("%s global memory in whole sectors, but of %s lines a request where its bytes fill %s", verb(p.Kind), number(p.Wavefronts/p.Requests), number(p.IdealWavefronts/p.Requests))
	}
	switch apart := apartBytes(&p.MemoryUse); {
	case p.ByData:
		f.Evidence += "; its addresses come of data"
		f.advise("sort the indices, so that neighbouring threads access neighbouring elements", "gather into shared memory once and reuse it there")
	case apart > int64(p.LaneBytes):
		f.Evidence += fmt.Sprintf("; neighbouring threads are %s apart", elements(apart, p.LaneBytes))
		f.advise("let neighbouring threads access neighbouring elements", "go through a tile in shared memory")
	case apart > 0 && apart == int64(p.LaneBytes) && p.Sectors < aligned*p.IdealSectors:
		f.Evidence += "; neighbouring threads access neighbouring elements, but not from the start of a sector"
		f.advise("begin rows and tiles at multiples of 32 bytes")
	case coalescedOther(s, p.Kind):
		f.advise("go through a tile in shared memory, so that neighbouring threads read and write neighbouring elements: with exchanged indices the other accesses would be uncoalesced")
	default:
		f.advise("let neighbouring threads access neighbouring elements of a row", "go through a tile in shared memory")
	}
	return f
}

// coalescedOther reports whether the loads of a kernel whose stores are uncoalesced are coalesced, or the other way round.
func coalescedOther(s *Subject, kind string) bool {
	other := map[string]string{"global load": "global store", "global store": "global load"}[kind]
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.Sectors }, other)
	return other != "" && p.Requests > 0 && p.Sectors < aligned*p.IdealSectors
}

func constants(s *Subject) Finding {
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.Wavefronts - m.IdealWavefronts }, "constant", "parameter")
	f := Finding{Line: p.at(), Evidence: "lanes read different constants, one after another"}
	if p.Requests > 0 {
		f.Evidence = fmt.Sprintf("reads constant memory at %s different addresses a request, which are served one after another", number(p.Wavefronts/p.Requests))
	}
	f.advise("let all lanes of a warp read the same constant", "keep the table in shared or global memory")
	f.Beyond = "a constant that all lanes read takes no load where it is an operand"
	return f
}

func missesL1(s *Subject) Finding {
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.L2Bytes }, "global load", "local load")
	f := Finding{Line: p.at(), Evidence: "loads miss L1"}
	if p.Sectors > 0 {
		f.Evidence = fmt.Sprintf("%s of %s loaded come from L2 or beyond: L1 has %.0f %%", scaled(p.L2Bytes, "B"), scaled(sectorBytes*p.Sectors, "B"), 100*p.L1HitBytes/(sectorBytes*p.Sectors))
	}
	switch {
	case p.line != nil && has(s, p.line, "st.shared", "cp.async"):
		f.advise("use each element of the tile that is loaded here more often: larger tiles", "load the next tile while this one is used (double buffering)")
	case p.line != nil && strings.HasPrefix(p.Kind, "local"):
		f.advise("keep it in registers")
	default:
		f.advise("reuse data from shared memory or registers (tiling)", "load it before it is needed")
	}
	return f
}

// Shares of the peak of DRAM: from busy on its bandwidth costs, below idle its latency does.
const (
	busy = 0.75
	idle = 0.6
)

// Kinds of requests that bring data to shared memory.
const (
	asyncCopy = "asynchronous copy"
	bulkCopy  = "bulk copy"
)

func dram(s *Subject) Finding {
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.DRAMReadBytes }, "global load", asyncCopy, bulkCopy)
	m := s.Report.Metrics
	moved := m["dram__bytes_read.sum"] + m["dram__bytes_write.sum"]
	f := Finding{Line: p.at(), Evidence: fmt.Sprintf("%s are read from DRAM and %s written", scaled(m["dram__bytes_read.sum"], "B"), scaled(m["dram__bytes_write.sum"], "B"))}
	use := moved / math.Max(s.Arch.DRAMBytesPerSecond*m["gpu__time_duration.sum"]/1e9, 1)
	const again = 1.1             // of the bytes that threads ask for
	asked := askedBytes(s.Report) // 0 at level model
	wasted := asked > 0 && moved > again*asked
	uncoalesced := wasted && gainOf(s, ideal.Coalescing) >= leastGain
	if wasted {
		f.Evidence += fmt.Sprintf(", and threads ask for %s", scaled(asked, "B"))
	}
	if wasted && !uncoalesced {
		f.advise("use all of each sector of 32 bytes, while it is in the caches")
	}
	switch {
	case uncoalesced:
		f.advise("move less: coalesced accesses, smaller types")
	case use < idle:
		f.Evidence += fmt.Sprintf("; at %.0f %% of its peak DRAM costs time by its latency, not its bandwidth", 100*use)
		f.advise("more bytes in flight, as for the latency of memory", "data that is still in L2: blocks that use the same data at the same time")
	case use >= busy && asked > 0 && len(f.advice) == 0:
		f.Evidence += fmt.Sprintf("; each is moved once and DRAM is at %.0f %% of its peak", 100*use)
		if p.LaneBytes != 1 {
			f.advise("smaller types")
		}
		f.advise("do here what other kernels do with the same arrays, so that they are moved once for all")
	default:
		f.advise("move less: smaller types, or reuse while data is in L2")
	}
	return f
}

// askedBytes is what threads load and store, each byte as often as they do.
func askedBytes(r *simengine.Report) (bytes float64) {
	for i := range r.Lines {
		for _, m := range r.Lines[i].Memory {
			if strings.HasPrefix(m.Kind, "global") || strings.HasSuffix(m.Kind, "copy") {
				bytes += sectorBytes * m.IdealSectors
			}
		}
	}
	return bytes
}

func l1Bandwidth(s *Subject) Finding {
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.Wavefronts }, "shared", "global", "local")
	f := Finding{Line: p.at(), Evidence: "L1 and shared memory are busy"}
	if p.Requests > 0 {
		f.Evidence = fmt.Sprintf("%s %s memory most of all: %s wavefronts", verb(p.Kind), strings.Fields(p.Kind)[0], scaled(p.Wavefronts, ""))
	}
	const widest = 16 // bytes of a lane
	if p.LaneBytes > 0 && p.LaneBytes < widest {
		f.advise("keep more in registers and use each element that is read more often (register tiles)")
		if p.LaneBytes <= bankBytes {
			f.advise("read two or four elements at a time (vector accesses), which takes fewer instructions")
		}
	} else {
		f.advise("keep more in registers and use each element that is read more often (register tiles)")
	}
	return f
}

func l2Bandwidth(s *Subject) Finding {
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.L2Bytes }, "global", "local", asyncCopy, bulkCopy)
	f := Finding{Line: p.at(), Evidence: "L2 is busy"}
	all, alike := 0.0, 0.0
	for i := range s.Report.Lines {
		for _, m := range s.Report.Lines[i].Memory {
			all += m.L2Bytes
			if m.Kind == p.Kind {
				alike += m.L2Bytes
			}
		}
	}
	copies := p.Kind == asyncCopy || p.Kind == bulkCopy
	switch {
	case p.Requests == 0:
	case copies:
		f.Evidence = fmt.Sprintf("%s to shared memory move %s of the %s that L2 moves, this line %s", map[string]string{asyncCopy: "asynchronous copies", bulkCopy: "bulk copies"}[p.Kind], scaled(alike, "B"), scaled(all, "B"), scaled(p.L2Bytes, "B"))
	default:
		f.Evidence = fmt.Sprintf("%s %s of L2 most of all: %s of the %s that it moves", verb(p.Kind), strings.Fields(p.Kind)[0]+" memory", scaled(p.L2Bytes, "B"), scaled(all, "B"))
	}
	if copies {
		f.advise("larger tiles, each element of which is used more often", "an order of CTAs in which those at work at a time copy the same tiles")
	} else {
		f.advise("move less between SMs and L2: reuse from shared memory or registers")
	}
	f.advise("smaller types")
	return f
}
