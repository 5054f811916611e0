package code

// Call is an instruction that is more than a function of one lane: how the interpreter executes it.
type Call uint8

// The calls; 0 is none.
const (
	CallBulkCopy Call = iota + 1
	CallCarryOp
	CallMapShared
	CallCTARank
	CallSet
	CallRepack
	CallReadClock
	CallShuffle
	CallVote
	CallMatch
	CallActiveMask
	CallRedux
	CallElect
	CallMoveMatrix
	CallBarrierSync
	CallBarrierReduce
	CallWarpSync
	CallTrap
	CallAsyncCommit
	CallAsyncWait
	CallIsSpace
	CallMultiply
	CallMbarrier
	CallMbarrierFull
	CallClusterBar
	CallCommitWgmma
	CallWaitWgmma
	CallBulkCommit
	CallBulkWait
	CallProxyFence
	CallCountPaths
	CallCountValues
	CallSetMap
	CallCopyMap
	CallMultiplyGroup
	CallTexture
	NumCalls
)
