package cache

// InFlight is the lines that an SM has asked of L2, past L1, until they arrive. What it asks for again meanwhile joins the
// first request: eight cp.async.cg of one CTA for the same words, which follow each other, all come to the SM, and L2
// looks up one (w4a16_gemm of h100-2026-11-27-triton-wgmma-c: l1tex__m_xbar2l1tex_read_sectors 20.6 million,
// lts__t_sectors_op_read 6.9 million). Lines that fall on one entry displace each other. The zero value is ready.
type InFlight [inFlightLines]struct {
	line    uint64
	arrives int64
	sectors uint8
}

// inFlightLines is at least the lines that come to an SM in L2's latency.
const inFlightLines = 512

// Ask takes a request for sectors of a line, which it gets at arrives. It returns those that were on their way.
func (f *InFlight) Ask(line uint64, sectors uint8, at, arrives int64) (joined uint8) {
	e := &f[Hash(line)%inFlightLines]
	if e.line == line && at < e.arrives {
		joined = sectors & e.sectors
		e.sectors |= sectors
		return joined
	}
	e.line, e.arrives, e.sectors = line, arrives, sectors
	return 0
}
