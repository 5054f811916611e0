package lower

import (
	"fmt"
	"github.com/warptune/warptune/simengine/ir"
	"slices"
	"strings"
)

// matrixType is a type of an element of a matrix.
func matrixType(word string) ir.Type {
	switch word {
	case "e4m3":
		return ir.E4M3
	case "e5m2":
		return ir.E5M2
	}
	return registerType(word)
}

// wgmmaResults are the types of D by the type of A.
var wgmmaResults = map[ir.Type]typeSet{
	ir.F16: types(ir.F16, ir.F32), ir.BF16: types(ir.F32), ir.TF32: types(ir.F32), ir.S8: types(ir.S32), ir.U8: types(ir.S32),
	ir.E4M3: types(ir.F16, ir.F32), ir.E5M2: types(ir.F16, ir.F32),
}

// wgmma reads .sync.aligned.m64nNkK{.satfinite}.D.A.B; sparse MMA is not modelled.
func (s *shape) wgmma(words []string) {
	s.unmodelled = true
	if len(words) < 3 {
		return
	}
	m := &ir.Matrix{Group: true}
	last := words[3:]
	if len(last) > 0 && last[0] == "satfinite" {
		s.Mod |= ir.ModSat
		last = last[1:]
	}
	n, err := fmt.Sscanf(words[2], "m%dn%dk%d", &m.M, &m.N, &m.K)
	if n != 3 || err != nil || len(last) != 3 || words[2] != fmt.Sprintf("m%dn%dk%d", m.M, m.N, m.K) {
		return
	}
	m.D, m.A, m.B = matrixType(last[0]), matrixType(last[1]), matrixType(last[2])
	m.C = m.D
	if isWgmma(m, s.Mod&ir.ModSat != 0) {
		s.unmodelled, s.Matrix, s.Type, s.SrcType = false, m, m.D, m.A
	}
}

// isWgmma reports whether PTX has such a product.
func isWgmma(m *ir.Matrix, sat bool) bool {
	integers, eights := types(ir.S8, ir.U8), types(ir.E4M3, ir.E5M2)
	a, b := types(m.A), types(m.B)
	integer := integers&a != 0
	switch {
	case m.A == ir.TypeInvalid || m.M != 64 || m.K*m.A.Size() != 32, wgmmaResults[m.A]&types(m.D) == 0, sat && !integer:
		return false
	case m.A != m.B && (integers&a == 0 || integers&b == 0) && (eights&a == 0 || eights&b == 0):
		return false
	case m.N < 8 || m.N > 256 || m.N%8 != 0:
		return false
	}
	return !integer || m.N == 8 || m.N == 24 || m.N%16 == 0
}

// bulkRefused are the modifiers of bulk copies that are not modelled.
var bulkRefused = map[string]bool{
	"im2col": true, "im2col_no_offs": true, "im2col::w": true, "im2col::w::128": true, "tile::gather4": true, "tile::scatter4": true,
	"cta_group::1": true, "cta_group::2": true, "cp_mask": true, "ignore_oob": true,
}

// bulk decodes cp.async.bulk, cp.reduce.async.bulk and cp.async.bulk.prefetch.
func (s *shape) bulk(opcode, rest string) {
	r := bulkReader{s: s, b: &ir.Bulk{}}
	for i, word := range strings.Split(rest, ".") {
		if r.word(word) && (word != "tensor" || i == 0) {
			continue
		}
		if s.unmodelled = bulkRefused[word]; !s.unmodelled {
			s.problem = fmt.Sprintf("unknown modifier .%s in %q", word, opcode)
		}
		return
	}
	if !r.settle(strings.HasPrefix(opcode, "cp.reduce")) {
		s.problem = fmt.Sprintf("%q is not PTX: spaces, completion or type are wrong or missing", opcode)
	}
	s.Bulk = r.b
}

type bulkReader struct {
	s                   *shape
	b                   *ir.Bulk
	words               []string // those read
	spaces              []ir.Space
	tensor, group, tile bool
	l2                  bool
}

// word reads a modifier, and reports whether it is known and may stand there.
func (r *bulkReader) word(word string) bool {
	b := r.b
	if slices.Contains(r.words, word) {
		return false
	}
	r.words = append(r.words, word)
	switch word {
	case "tensor":
		r.tensor = true
	case "1d", "2d", "3d", "4d", "5d":
		if b.Dims > 0 {
			return false
		}
		b.Dims = int(word[0] - '0')
	case "global":
		r.spaces = append(r.spaces, ir.Global)
	case "shared::cta":
		r.spaces = append(r.spaces, ir.Shared)
	case "shared::cluster":
		r.spaces = append(r.spaces, ir.SharedCluster)
	case "mbarrier::complete_tx::bytes":
		b.Barrier = true
	case "bulk_group":
		r.group = true
	case "multicast::cluster":
		b.Multicast = true
	case "L2":
		r.l2 = true
	case "L2::cache_hint":
		r.s.hint = true
	case "tile":
		r.tile = true
	case "noftz":
		r.s.Mod |= ir.ModNoFtz
	default:
		if t := registerType(word); t != ir.TypeInvalid && r.s.Type == ir.TypeInvalid {
			r.s.Type = t
			return true
		}
		op := ir.AtomNamed(word)
		if op == ir.AtomNone || op >= ir.AtomExch || b.Reduce != ir.AtomNone {
			return false
		}
		b.Reduce = op
	}
	return true
}

// settle checks the combination that was read.
func (r *bulkReader) settle(reduce bool) bool {
	b := r.b
	if r.tensor != (b.Dims > 0) || r.tile && !r.tensor || reduce != (b.Reduce != ir.AtomNone) || !r.settleType() {
		return false
	}
	if r.s.Op == ir.BulkPrefetch {
		b.To, b.From = ir.Global, ir.Global
		return r.l2 && len(r.spaces) == 1 && r.spaces[0] == ir.Global && !b.Barrier && !r.group && !b.Multicast
	}
	if r.l2 || len(r.spaces) != 2 || b.Barrier == r.group {
		return false
	}
	b.To, b.From = r.spaces[0], r.spaces[1]
	switch {
	case b.To == ir.Global:
		return b.From == ir.Shared && r.group && !b.Multicast
	case b.From == ir.Shared:
		return b.To == ir.SharedCluster && b.Barrier && b.Dims == 0 && !b.Multicast && !r.s.hint
	}
	return b.From == ir.Global && b.Barrier && !reduce && (b.To == ir.SharedCluster || !b.Multicast)
}

// settleType checks the type of the elements. A reduction of bytes has one; that of a tensor is the map's.
func (r *bulkReader) settleType() bool {
	t, plain := r.s.Type, r.s.Mod&ir.ModNoFtz == 0
	if r.b.Reduce == ir.AtomNone || r.tensor {
		return t == ir.TypeInvalid && plain
	}
	list := &reducedShared
	if len(r.spaces) > 0 && r.spaces[0] == ir.Global {
		list = &reducedGlobal
	}
	small := r.b.Reduce == ir.AtomAdd && (t == ir.F16 || t == ir.BF16) // .add of these is written .add.noftz
	return t != ir.TypeInvalid && list[r.b.Reduce]>>t&1 == 1 && small != plain
}

// fences are the fences of proxies. That of all spaces has none; that of tensor maps is of ParamSpace.
var fences = map[string]ir.Instr{
	"alias":                      {Mod: ir.ModAll},
	"async":                      {},
	"async.global":               {Space: ir.Global},
	"async.shared::cta":          {Space: ir.Shared},
	"async.shared::cluster":      {Space: ir.SharedCluster},
	"tensormap::generic.acquire": {Space: ir.ParamSpace, Mod: ir.ModAcquire},
	"tensormap::generic.release": {Space: ir.ParamSpace, Mod: ir.ModRelease},
}

// fenceProxy decodes fence.proxy and fence.mbarrier_init.
func (s *shape) fenceProxy(opcode, rest string) {
	if rest == "" && opcode != "fence.proxy" {
		s.Mod, s.Scope, s.Space = ir.ModRelease, ir.ScopeCluster, ir.Shared
		return
	}
	if strings.HasPrefix(rest, "tensormap") {
		rest = s.cutScope(rest)
	}
	f, ok := fences[rest]
	s.unmodelled = !ok || (f.Space == ir.ParamSpace) != (s.Scope != ir.ScopeNone)
	s.Space, s.Mod = f.Space, f.Mod
}

// cutScope takes a scope off the end of modifiers.
func (s *shape) cutScope(rest string) string {
	at := strings.LastIndexByte(rest, '.')
	if s.Scope = ir.ScopeNamed(rest[at+1:]); s.Scope != ir.ScopeNone {
		return rest[:max(at, 0)]
	}
	return rest
}

// tensormapSet decodes tensormap.replace.tile.FIELD{.SPACE}.b1024.TYPE.
func (s *shape) tensormapSet(opcode, rest string) {
	words := strings.Split(rest, ".")
	s.Field = ir.MapFieldNamed(words[0])
	if s.unmodelled = words[0] == "swizzle_atomicity"; s.unmodelled {
		return
	}
	words = words[1:]
	if len(words) == 3 && (words[0] == "global" || words[0] == "shared::cta") {
		s.Space = modifierSpace[words[0]]
		words = words[1:]
	}
	if s.Field == 0 || len(words) != 2 || words[0] != "b1024" || words[1] != s.Field.ValueType().String() {
		s.problem = fmt.Sprintf("unknown instruction %q", opcode)
	}
	s.Type = s.Field.ValueType()
}

// tensormapCopy decodes tensormap.cp_fenceproxy, which is written in one way but for its scope.
func (s *shape) tensormapCopy(opcode, rest string) {
	before, ok := strings.CutSuffix(rest, ".sync.aligned")
	if s.cutScope(before) != "global.shared::cta.tensormap::generic.release" || !ok || s.Scope == ir.ScopeNone {
		s.problem = fmt.Sprintf("unknown instruction %q", opcode)
	}
}
