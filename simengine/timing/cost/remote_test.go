package cost

import (
	"fmt"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// remoteWords is the addresses that the lanes of remote.cu's warp use in round i, by how they are chosen: of the next CTA, or
// of one drawn among all; CTA 0's own have no rank.
func remoteWords(lanes string, all bool, cluster, i int, seed *[32]uint32) (addr coalesce.Lanes) {
	for l := range uint32(32) {
		seed[l] = seed[l]*1664525 + 1013904223
		word := (l + uint32(i)*32) % 2048
		switch lanes {
		case "random":
			word = seed[l] >> 21
		case "same":
			word = uint32(i) % 2048
		}
		rank := uint32(1)
		if all {
			rank = seed[l] >> 10 % uint32(cluster)
		}
		addr[l] = uint64(word * 4)
		if rank != 0 {
			addr[l] |= uint64(rank+1) << ir.RankShift
		}
	}
	return addr
}

// Words of other CTAs take as long as measured where many warps ask for them: 0.7 to 1.35 times, and half as long where
// stores write parts of sectors, which the network does not merge.
func TestRemoteWordsAgainstH100(t *testing.T) {
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMachine(d)
	if err != nil {
		t.Fatal(err)
	}
	classes := map[string]assemble.Class{"red": assemble.Atomic, "atom": assemble.Atomic, "store": assemble.Store, "load": assemble.Load}
	n := 0
	for _, r := range measured.On(t, "h100-hopper", "remote.words") {
		if r.Int("warps") != 32 {
			continue
		}
		op, cluster := r.Text("op"), r.Int("cluster")
		var seed [32]uint32
		for l := range seed {
			seed[l] = uint32(l)*2654435761 + 12345
		}
		const rounds = 256
		sum := 0.0
		for i := range rounds {
			addr := remoteWords(r.Text("lanes"), r.Int("all") == 1, cluster, i, &seed)
			sectors, lines := coalesce.Remote(&addr, ^uint32(0), 4, classes[op] == assemble.Atomic)
			sum += cycles(m.RemoteShared(classes[op], &trace.Access{Sectors: uint16(sectors), Visits: uint8(lines)}, cluster))
		}
		n++
		what := fmt.Sprintf("%s, %s, clusters of %d, all %d", op, r.Text("lanes"), cluster, r.Int("all"))
		if got := sum / rounds; got < r.Value*0.5 || got > r.Value*1.35 {
			t.Errorf("%s: %.1f cycles, measured %.1f", what, got, r.Value)
		}
	}
	if n != 54 {
		t.Errorf("%d measurements, want 54", n)
	}
}
