package exec

import "github.com/warptune/warptune/simengine/exec/internal/code"

// handlers execute the calls of compiled code.
var handlers [code.NumCalls]func(*Runner, *warp, *code.Instr, uint32) signal

func init() {
	handlers = [code.NumCalls]func(*Runner, *warp, *code.Instr, uint32) signal{
		code.CallBulkCopy:      (*Runner).bulkCopy,
		code.CallCarryOp:       (*Runner).carryOp,
		code.CallMapShared:     (*Runner).mapShared,
		code.CallCTARank:       (*Runner).ctaRank,
		code.CallSet:           (*Runner).set,
		code.CallRepack:        (*Runner).repack,
		code.CallReadClock:     (*Runner).readClock,
		code.CallShuffle:       (*Runner).shuffle,
		code.CallVote:          (*Runner).vote,
		code.CallMatch:         (*Runner).match,
		code.CallActiveMask:    (*Runner).activeMask,
		code.CallRedux:         (*Runner).redux,
		code.CallElect:         (*Runner).elect,
		code.CallMoveMatrix:    (*Runner).moveMatrix,
		code.CallBarrierSync:   (*Runner).barrierSync,
		code.CallBarrierReduce: (*Runner).barrierReduce,
		code.CallWarpSync:      (*Runner).warpSync,
		code.CallTrap:          (*Runner).trap,
		code.CallAsyncCommit:   (*Runner).asyncCommit,
		code.CallAsyncWait:     (*Runner).asyncWait,
		code.CallIsSpace:       (*Runner).isSpace,
		code.CallMultiply:      (*Runner).multiply,
		code.CallMbarrier:      (*Runner).mbarrier,
		code.CallMbarrierFull:  (*Runner).mbarrierFull,
		code.CallClusterBar:    (*Runner).clusterBar,
		code.CallCommitWgmma:   (*Runner).commitWgmma,
		code.CallWaitWgmma:     (*Runner).waitWgmma,
		code.CallBulkCommit:    (*Runner).bulkCommit,
		code.CallBulkWait:      (*Runner).bulkWait,
		code.CallProxyFence:    (*Runner).proxyFence,
		code.CallCountPaths:    (*Runner).countPaths,
		code.CallCountValues:   (*Runner).countValues,
		code.CallSetMap:        (*Runner).setMap,
		code.CallCopyMap:       (*Runner).copyMap,
		code.CallMultiplyGroup: (*Runner).multiplyGroup,
		code.CallTexture:       (*Runner).textures,
	}
}
