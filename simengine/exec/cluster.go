package exec

import (
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
)

// An address of shared memory of a cluster has a rank in bits 24 to 31 (ir.RankShift). A CTA's own addresses are such
// addresses too.
const (
	clusterShift = ir.RankShift
	clusterRanks = 0xff << clusterShift
	withinCTA    = 1<<clusterShift - 1
)

// maxCluster is the most CTAs of a cluster, with the attribute for sizes that are not portable.
const maxCluster = 16

// clusterPlace is the cluster of the CTA that is executed.
type clusterPlace struct {
	size  Dim3 // CTAs; 1x1x1 without clusters
	count int  // of its CTAs
	rank  int
	given bool // the launch has clusters
}

// cluster is the shape of the clusters of a launch: what it says, else what the kernel requires.
func clusterOf(p *Program, l *Launch) (size Dim3, given bool) {
	size = l.Cluster
	if size == (Dim3{}) {
		c := p.Kernel.Cluster
		size = Dim3{c[0], c[1], c[2]}
	}
	given = size != Dim3{}
	return Dim3{max(size.X, 1), max(size.Y, 1), max(size.Z, 1)}, given
}

// validateCluster refuses clusters that the grid is not made of.
func validateCluster(p *Program, l *Launch) error {
	size, given := clusterOf(p, l)
	switch g := l.Grid; {
	case !given:
		return nil
	case l.Cluster.X < 0 || l.Cluster.Y < 0 || l.Cluster.Z < 0:
		return fmt.Errorf("launch %s: clusters of %v CTAs: no dimension may be negative", p.Kernel.Name, l.Cluster)
	case size.X > maxCluster || size.Y > maxCluster || size.Z > maxCluster || size.Count() > maxCluster:
		return fmt.Errorf("launch %s: clusters of %v CTAs: at most %d", p.Kernel.Name, size, maxCluster)
	case g.X%size.X != 0 || g.Y%size.Y != 0 || g.Z%size.Z != 0:
		return fmt.Errorf("launch %s: a grid of %v does not consist of clusters of %v", p.Kernel.Name, g, size)
	}
	return nil
}

// ctaIndex is the index of a CTA in the grid.
func (r *Runner) ctaIndex(cta int64) (x, y, z int) {
	g := r.launch.Grid
	return int(cta % int64(g.X)), int(cta / int64(g.X) % int64(g.Y)), int(cta / int64(g.X) / int64(g.Y))
}

// placeInCluster finds where in its cluster the CTA is.
func (r *Runner) placeInCluster() {
	size, given := clusterOf(r.p, &r.launch)
	x, y, z := r.ctaIndex(r.cta)
	rank := x%size.X + size.X*(y%size.Y+size.Y*(z%size.Z))
	r.cluster = clusterPlace{size, int(size.Count()), rank, given}
}

// clusterValue is a special register that tells of clusters.
func (r *Runner) clusterValue(reg ir.Special) uint32 {
	x, y, z := r.ctaIndex(r.cta)
	size, g := r.cluster.size, r.launch.Grid
	switch reg {
	case ir.ClusterIdX:
		return uint32(x / size.X)
	case ir.ClusterIdY:
		return uint32(y / size.Y)
	case ir.ClusterIdZ:
		return uint32(z / size.Z)
	case ir.NClusterIdX:
		return uint32(g.X / size.X)
	case ir.NClusterIdY:
		return uint32(g.Y / size.Y)
	case ir.NClusterIdZ:
		return uint32(g.Z / size.Z)
	case ir.ClusterCTAIdX:
		return uint32(x % size.X)
	case ir.ClusterCTAIdY:
		return uint32(y % size.Y)
	case ir.ClusterCTAIdZ:
		return uint32(z % size.Z)
	case ir.ClusterNCTAIdX:
		return uint32(size.X)
	case ir.ClusterNCTAIdY:
		return uint32(size.Y)
	case ir.ClusterNCTAIdZ:
		return uint32(size.Z)
	case ir.ClusterCTARank:
		return uint32(r.cluster.rank)
	case ir.ClusterNCTARank:
		return uint32(r.cluster.count)
	case ir.IsExplicitCluster:
		return uint32(truth(r.cluster.given))
	}
	return 0
}

// sharedPlace is where in the cluster's shared memory an address of the window of a state space is.
// rank is -1 for the CTA itself; false: it is no address of shared memory, or of no CTA of the
// cluster.
func (r *Runner) sharedPlace(space ir.Space, addr uint64) (rank int, at uint64, ok bool) {
	if space == ir.Generic {
		s, base := splitGeneric(addr)
		if s != ir.Shared {
			return 0, addr, false
		}
		addr -= base
	}
	rank, at = int(addr>>clusterShift)-1, addr&withinCTA
	if rank == r.cluster.rank {
		rank = -1
	}
	return rank, at, rank < r.cluster.count
}

// mapShared is mapa: the same place in the shared memory of another CTA of the cluster.
func (r *Runner) mapShared(w *warp, in *code.Instr, mask uint32) signal {
	for l := range WarpSize {
		if mask>>l&1 == 0 {
			continue
		}
		rank := uint32(w.get(in.X.Src[1], l))
		if rank >= uint32(r.cluster.count) {
			return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.SharedCluster, Thread: w.thread(l), Detail: fmt.Sprintf("rank %d of a cluster of %d CTAs", rank, r.cluster.count)})
		}
		v := w.get(in.X.Src[0], l)&^clusterRanks | uint64(rank+1)<<clusterShift
		w.put(in.X.Dst[0], l, v)
	}
	return next
}

// ctaRank is getctarank.
func (r *Runner) ctaRank(w *warp, in *code.Instr, mask uint32) signal {
	for l := range WarpSize {
		if mask>>l&1 == 0 {
			continue
		}
		rank := int(w.get(in.X.Src[0], l)>>clusterShift&0xff) - 1
		if rank < 0 {
			rank = r.cluster.rank
		}
		w.put(in.X.Dst[0], l, uint64(rank))
	}
	return next
}

// distributed performs an access to the shared memory of CTAs of the cluster. Observers are told of
// addresses with ranks, of which the CTA's own has none.
func (r *Runner) distributed(w *warp, in *code.Instr, mask uint32) signal {
	a := in.X.Access
	var ranks [WarpSize]int
	var lanesOf [maxCluster + 1]uint32 // by rank, after those of the CTA itself
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		rank, at, ok := r.sharedPlace(ir.SharedCluster, r.addr[l])
		if !ok {
			return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.SharedCluster, Address: at, Thread: w.thread(l), Write: a.Write,
				Detail: fmt.Sprintf("rank %d of a cluster of %d CTAs", rank, r.cluster.count)})
		}
		r.addr[l], ranks[l] = at, rank
		lanesOf[rank+1] |= 1 << l
	}
	if s := r.check(w, in, a, ir.Shared, mask, extentOf(&r.addr, mask)); s != next {
		return s
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		r.addr[l] |= uint64(ranks[l]+1) << clusterShift
	}
	r.observe(w, in, ir.SharedCluster, a.Width, mask, a.Data)
	for m := mask; m != 0; m &= m - 1 {
		r.addr[bits.TrailingZeros32(m)] &= withinCTA
	}
	if !a.Data {
		return next
	}
	for rest := mask; rest != 0; {
		rank := ranks[bits.TrailingZeros32(rest)]
		lanes := lanesOf[rank+1]
		rest &^= lanes
		if s := r.atRank(w, in, rank, lanes); s != next {
			return s
		}
	}
	return next
}

// atRank performs an access of lanes to the shared memory of one CTA. Races between CTAs are not
// looked for.
func (r *Runner) atRank(w *warp, in *code.Instr, rank int, lanes uint32) signal {
	if rank < 0 {
		return r.perform(w, in, in.X.Access, ir.Shared, lanes, extentOf(&r.addr, lanes))
	}
	if !r.p.Blocking {
		return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Space: ir.SharedCluster, Thread: -1, Detail: otherCTA})
	}
	c := r.state(rank)
	own := r.shared
	r.shared = c.shared
	if r.definedness != nil && c.definedness != nil {
		s := r.definedness.shared
		r.definedness.shared = c.definedness.shared
		r.definedness.access(r, w, in, in.X.Access, ir.Shared, lanes)
		r.definedness.shared = s
	}
	s := r.move(w, in, in.X.Access, ir.Shared, lanes)
	r.shared = own
	r.happened()
	return s
}

// otherCTA is why some kernels have no slice.
const otherCTA = "addresses or branches depend on shared memory of another CTA, which is not known when a CTA is executed alone"
