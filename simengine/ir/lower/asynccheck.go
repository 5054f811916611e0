package lower

import (
	"fmt"
	"github.com/warptune/warptune/simengine/ir"
)

// asyncRule is what the modifiers of an instruction on mbarriers or clusters may be.
type asyncRule struct {
	spaces []ir.Space // beside none
	orders ir.Mod     // one of these flags, or none
	scoped bool       // an order needs a scope, .cta or .cluster, and a scope an order
}

// asyncRuleOf is the rule of an instruction; false: it has none.
func asyncRuleOf(in *ir.Instr) (rule asyncRule, ok bool) {
	anyShared := []ir.Space{ir.Shared, ir.SharedCluster}
	switch in.Op {
	case ir.MbarInit, ir.MbarInval, ir.CpAsyncArrive:
		rule = asyncRule{spaces: []ir.Space{ir.Shared}}
	case ir.MbarArrive:
		rule = asyncRule{anyShared, ir.ModRelease | ir.ModRelaxed, true}
	case ir.MbarExpect:
		rule = asyncRule{anyShared, ir.ModRelaxed, true}
	case ir.MbarWait:
		rule = asyncRule{[]ir.Space{ir.Shared}, ir.ModAcquire | ir.ModRelaxed, true}
	case ir.ClusterBarrier:
		rule.orders = ir.ModAcquire
		if in.Mod&ir.ModArrive != 0 {
			rule.orders = ir.ModRelease | ir.ModRelaxed
		}
	case ir.GetCTARank, ir.Mapa:
		rule.spaces = []ir.Space{ir.SharedCluster}
	default:
		return rule, false
	}
	return rule, true
}

// checkAsync checks the space, order and scope of an instruction on mbarriers or clusters.
func (s *shape) checkAsync(opcode string) {
	rule, ok := asyncRuleOf(&s.Instr)
	if !ok || s.problem != "" {
		return
	}
	order := s.Mod & (ir.ModRelaxed | ir.ModAcquire | ir.ModRelease)
	ordered, scoped := s.seen&gOrder != 0, s.seen&gScope != 0
	allowed := s.Space == ir.Generic && s.spaces == 0
	for _, sp := range rule.spaces {
		allowed = allowed || s.Space == sp && s.spaces == 1
	}
	switch {
	case !allowed:
		s.problem = fmt.Sprintf("%q: the state space is not one that %s takes", opcode, s.Op)
	case ordered && (order&rule.orders == 0 || order&(order-1) != 0):
		s.problem = fmt.Sprintf("%q: the order is not one that %s takes", opcode, s.Op)
	case s.twice&(gOrder|gScope) != 0:
		s.problem = fmt.Sprintf("%q: two orders or scopes", opcode)
	case rule.scoped && ordered != scoped:
		s.problem = fmt.Sprintf("%q: an order goes with a scope", opcode)
	case s.Scope > ir.ScopeCluster:
		s.problem = fmt.Sprintf("%q: want scope .cta or .cluster", opcode)
	case s.seen&gComplete != 0 && s.Space == ir.SharedCluster:
		s.problem = fmt.Sprintf("%q: .noComplete does not go with .shared::cluster", opcode)
	}
}

// reduced is the types that a bulk reduction combines, by operation.
type reduced [ir.AtomExch]typeSet

// Bulk reductions of bytes in device memory and in the shared memory of a cluster (what ptxas V13.0.88 takes).
var (
	reducedGlobal = reduced{
		ir.AtomAdd: types(ir.F16, ir.BF16, ir.U32, ir.S32, ir.U64, ir.F32, ir.F64),
		ir.AtomMin: types(ir.F16, ir.BF16, ir.U32, ir.S32, ir.U64, ir.S64), ir.AtomMax: types(ir.F16, ir.BF16, ir.U32, ir.S32, ir.U64, ir.S64),
		ir.AtomInc: types(ir.U32), ir.AtomDec: types(ir.U32),
		ir.AtomAnd: types(ir.B32, ir.B64), ir.AtomOr: types(ir.B32, ir.B64), ir.AtomXor: types(ir.B32, ir.B64),
	}
	reducedShared = reduced{
		ir.AtomAdd: types(ir.U32, ir.S32, ir.U64),
		ir.AtomMin: types(ir.U32, ir.S32), ir.AtomMax: types(ir.U32, ir.S32),
		ir.AtomInc: types(ir.U32), ir.AtomDec: types(ir.U32),
		ir.AtomAnd: tB32, ir.AtomOr: tB32, ir.AtomXor: tB32,
	}
)
