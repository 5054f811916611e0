package exec

type raceChecker struct{}

func (c *raceChecker) reset(warps, bytes, granule int)                     {}
func (c *raceChecker) arrive(w *warp, id int)                              {}
func (c *raceChecker) release(id int, waiting, joined uint32)              {}
func (r *Runner) raceCheck(w *warp, in *instr, a *access, m uint32) signal { return next }
func (r *Runner) asyncCommit(w *warp, in *instr, mask uint32) signal       { return next }
func (r *Runner) asyncWait(w *warp, in *instr, mask uint32) signal         { return next }
