package exec

// clusterGroup is the CTAs that are executed together: those of a cluster in Full mode, and of a slice
// that depends on data passed between warps; of the grid if Options.WholeGrid asks for it; else one. The
// state of the one that runs is Runner.ctaState; that of the others is kept here.
type clusterGroup struct {
	members []*ctaState // by rank; that of the active one is not up to date
	active  int
	size    int
	barrier clusterBarrier
	events  int64 // what may let a waiting warp go on
	seen    int64 // events when waiting warps were last let go on
	seq     uint32
	// Of a slice the observer is told of one CTA, that of rank asked.
	asked    int
	observer Observer
}

// groupSize is how many CTAs are executed together.
func (r *Runner) groupSize() int { return r.size }

// activate makes the CTA of a rank the one that runs.
func (r *Runner) activate(rank int) {
	if rank == r.active || r.size <= 1 {
		return
	}
	*r.members[r.active] = r.ctaState
	r.ctaState = *r.members[rank]
	r.active = rank
	r.observeRank(rank)
}

// observeRank tells the observer of what the CTA of a rank does, which runs next, unless another was
// asked for.
func (r *Runner) observeRank(rank int) {
	if r.p.Mode != Slice || r.size <= 1 {
		return
	}
	clear(r.families)
	r.obs, r.follower, r.asyncObs, r.texObs, r.handed = nil, nil, nil, nil, nil
	if rank == r.asked {
		r.observeBy(r.observer)
	}
}

// observeBy sets the observer.
func (r *Runner) observeBy(obs Observer) {
	r.obs = obs
	r.follower, _ = obs.(Follower)
	r.asyncObs, _ = obs.(AsyncObserver)
	r.texObs, _ = obs.(TextureObserver)
	if r.handed = nil; r.p.SharedSpins && r.p.Mode == Slice {
		r.handed, _ = obs.(HandoverObserver)
	}
}

// state is that of the CTA of a rank; -1 is the one that runs.
func (r *Runner) state(rank int) *ctaState {
	if rank < 0 || rank == r.active || r.size <= 1 {
		return &r.ctaState
	}
	return r.members[rank]
}

// setupGroup brings the CTAs that are executed together to their initial state.
func (r *Runner) setupGroup() {
	r.fault, r.disagree, r.suspect, r.filter = nil, false, false, nil
	clear(r.agreed)
	clear(r.families)
	clear(r.arrivals)
	launch, cta := r.launch, r.cta
	r.activate(0)
	r.launch, r.cta = launch, cta
	r.placeInCluster()
	shape := r.cluster.size
	r.events, r.seen, r.seq, r.barrier = 1, 0, 0, clusterBarrier{}
	r.asked = r.cluster.rank
	if r.size = 1; r.p.Blocking {
		r.size = r.cluster.count
	}
	grid := r.opt.WholeGrid
	if grid {
		r.size, r.asked = int(launch.Grid.Count()), int(cta)
	}
	if r.size == 1 {
		r.observeBy(r.observer) // it was told of another CTA of the cluster that ran before
		r.setup()
		return
	}
	for len(r.members) < r.size {
		r.members = append(r.members, &ctaState{})
	}
	for rank := range r.size {
		if rank > 0 {
			*r.members[rank-1] = r.ctaState
			r.ctaState = *r.members[rank]
			r.active = rank
		}
		if r.launch, r.cta = launch, int64(rank); !grid {
			r.cta = ctaOfRank(launch.Grid, shape, cta, rank)
		}
		r.setup()
	}
	r.observeRank(r.active)
}

// ctaOfRank is the CTA of a rank in the cluster that a CTA belongs to.
func ctaOfRank(g, size Dim3, cta int64, rank int) int64 {
	x, y, z := int(cta%int64(g.X)), int(cta/int64(g.X)%int64(g.Y)), int(cta/int64(g.X)/int64(g.Y))
	x = x/size.X*size.X + rank%size.X
	y = y/size.Y*size.Y + rank/size.X%size.Y
	z = z/size.Z*size.Z + rank/size.X/size.Y
	return int64(x) + int64(g.X)*(int64(y)+int64(g.Y)*int64(z))
}

// mostTogether bounds the warps of a grid that is executed together.
const mostTogether = 16 << 10

// FitsTogether reports whether all CTAs of a launch can be executed together, in Full mode: it has no clusters and is small.
func FitsTogether(p *Program, l Launch) bool {
	if validate(p, &l) != nil {
		return false
	}
	size, _ := clusterOf(p, &l)
	warps := (l.CTA.Count() + WarpSize - 1) / WarpSize
	return p.Mode == Full && size.Count() == 1 && l.Grid.Count() <= mostTogether/warps
}

// Together lists the CTAs that are executed together with one in Full mode: those of its cluster. Of a launch that Run
// refuses it is the CTA alone.
func Together(p *Program, l Launch, cta int64) []int64 {
	if validate(p, &l) != nil {
		return []int64{cta}
	}
	size, _ := clusterOf(p, &l)
	list := make([]int64, size.Count())
	for rank := range list {
		list[rank] = ctaOfRank(l.Grid, size, cta, rank)
	}
	return list
}

// verdict returns the error that the execution ended with, or an uninitialised read that came before.
func (r *Runner) verdict(err error) error {
	for rank := range r.size {
		if e := r.state(rank).definedness.verdict(err); e != err {
			return e
		}
	}
	return err
}
