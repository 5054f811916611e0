package ir

import "fmt"

// asyncRule is what the modifiers of an instruction on mbarriers or clusters may be.
type asyncRule struct {
	spaces []Space // beside none
	orders Mod     // one of these flags, or none
	scoped bool    // an order needs a scope, .cta or .cluster, and a scope an order
}

// asyncRuleOf is the rule of an instruction; false: it has none.
func asyncRuleOf(in *Instr) (rule asyncRule, ok bool) {
	anyShared := []Space{Shared, SharedCluster}
	switch in.Op {
	case MbarInit, MbarInval, CpAsyncArrive:
		rule = asyncRule{spaces: []Space{Shared}}
	case MbarArrive:
		rule = asyncRule{anyShared, ModRelease | ModRelaxed, true}
	case MbarExpect:
		rule = asyncRule{anyShared, ModRelaxed, true}
	case MbarWait:
		rule = asyncRule{[]Space{Shared}, ModAcquire | ModRelaxed, true}
	case ClusterBarrier:
		rule.orders = ModAcquire
		if in.Mod&ModArrive != 0 {
			rule.orders = ModRelease | ModRelaxed
		}
	case GetCTARank, Mapa:
		rule.spaces = []Space{SharedCluster}
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
	order := s.Mod & (ModRelaxed | ModAcquire | ModRelease)
	ordered, scoped := s.seen&gOrder != 0, s.seen&gScope != 0
	allowed := s.Space == Generic && s.spaces == 0
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
	case s.Scope > ScopeCluster:
		s.problem = fmt.Sprintf("%q: want scope .cta or .cluster", opcode)
	case s.seen&gComplete != 0 && s.Space == SharedCluster:
		s.problem = fmt.Sprintf("%q: .noComplete does not go with .shared::cluster", opcode)
	}
}

// reduced is the types that a bulk reduction combines, by operation.
type reduced [AtomExch]typeSet

// Bulk reductions of bytes in device memory and in the shared memory of a cluster (what ptxas V13.0.88 takes).
var (
	reducedGlobal = reduced{
		AtomAdd: types(F16, BF16, U32, S32, U64, F32, F64),
		AtomMin: types(F16, BF16, U32, S32, U64, S64), AtomMax: types(F16, BF16, U32, S32, U64, S64),
		AtomInc: types(U32), AtomDec: types(U32),
		AtomAnd: types(B32, B64), AtomOr: types(B32, B64), AtomXor: types(B32, B64),
	}
	reducedShared = reduced{
		AtomAdd: types(U32, S32, U64),
		AtomMin: types(U32, S32), AtomMax: types(U32, S32),
		AtomInc: types(U32), AtomDec: types(U32),
		AtomAnd: tB32, AtomOr: tB32, AtomXor: tB32,
	}
)
