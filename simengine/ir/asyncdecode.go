package ir

import (
	"fmt"
	"slices"
	"strings"
)

// matrixType is a type of an element of a matrix.
func matrixType(word string) Type {
	switch word {
	case "e4m3":
		return E4M3
	case "e5m2":
		return E5M2
	}
	return typeByName[word]
}

// wgmmaResults are the types of D by the type of A.
var wgmmaResults = map[Type]typeSet{
	F16: types(F16, F32), BF16: types(F32), TF32: types(F32), S8: types(S32), U8: types(S32),
	E4M3: types(F16, F32), E5M2: types(F16, F32),
}

// wgmma reads .sync.aligned.m64nNkK{.satfinite}.D.A.B; sparse products are not modelled.
func (s *shape) wgmma(words []string) {
	s.unmodelled = true
	if len(words) < 3 {
		return
	}
	m := &Matrix{Group: true}
	last := words[3:]
	if len(last) > 0 && last[0] == "satfinite" {
		s.Mod |= ModSat
		last = last[1:]
	}
	n, err := fmt.Sscanf(words[2], "m%dn%dk%d", &m.M, &m.N, &m.K)
	if n != 3 || err != nil || len(last) != 3 || words[2] != fmt.Sprintf("m%dn%dk%d", m.M, m.N, m.K) {
		return
	}
	m.D, m.A, m.B = matrixType(last[0]), matrixType(last[1]), matrixType(last[2])
	m.C = m.D
	if m.isWgmma(s.Mod&ModSat != 0) {
		s.unmodelled, s.Matrix, s.Type, s.SrcType = false, m, m.D, m.A
	}
}

// isWgmma reports whether PTX has such a product.
func (m *Matrix) isWgmma(sat bool) bool {
	integers, eights := types(S8, U8), types(E4M3, E5M2)
	a, b := types(m.A), types(m.B)
	integer := integers&a != 0
	switch {
	case m.A == TypeInvalid || m.M != 64 || m.K*m.A.Size() != 32, wgmmaResults[m.A]&types(m.D) == 0, sat && !integer:
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
	r := bulkReader{s: s, b: &Bulk{}}
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
	b                   *Bulk
	words               []string // those read
	spaces              []Space
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
		r.spaces = append(r.spaces, Global)
	case "shared::cta":
		r.spaces = append(r.spaces, Shared)
	case "shared::cluster":
		r.spaces = append(r.spaces, SharedCluster)
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
		r.s.Mod |= ModNoFtz
	default:
		if t := typeByName[word]; t != TypeInvalid && r.s.Type == TypeInvalid {
			r.s.Type = t
			return true
		}
		op := AtomOp(slices.Index(atomNames[:AtomExch], word))
		if op <= AtomNone || op >= AtomExch || b.Reduce != AtomNone {
			return false
		}
		b.Reduce = op
	}
	return true
}

// settle checks the combination that was read.
func (r *bulkReader) settle(reduce bool) bool {
	b := r.b
	if r.tensor != (b.Dims > 0) || r.tile && !r.tensor || reduce != (b.Reduce != AtomNone) || !r.settleType() {
		return false
	}
	if r.s.Op == BulkPrefetch {
		b.To, b.From = Global, Global
		return r.l2 && len(r.spaces) == 1 && r.spaces[0] == Global && !b.Barrier && !r.group && !b.Multicast
	}
	if r.l2 || len(r.spaces) != 2 || b.Barrier == r.group {
		return false
	}
	b.To, b.From = r.spaces[0], r.spaces[1]
	switch {
	case b.To == Global:
		return b.From == Shared && r.group && !b.Multicast
	case b.From == Shared:
		return b.To == SharedCluster && b.Barrier && b.Dims == 0 && !b.Multicast && !r.s.hint
	}
	return b.From == Global && b.Barrier && !reduce && (b.To == SharedCluster || !b.Multicast)
}

// settleType checks the type of the elements. A reduction of bytes has one; that of a tensor is the map's.
func (r *bulkReader) settleType() bool {
	t, plain := r.s.Type, r.s.Mod&ModNoFtz == 0
	if r.b.Reduce == AtomNone || r.tensor {
		return t == TypeInvalid && plain
	}
	list := &reducedShared
	if len(r.spaces) > 0 && r.spaces[0] == Global {
		list = &reducedGlobal
	}
	small := r.b.Reduce == AtomAdd && (t == F16 || t == BF16) // .add of these is written .add.noftz
	return t != TypeInvalid && list[r.b.Reduce]>>t&1 == 1 && small != plain
}

// fences are the fences of proxies. That of all spaces has none; that of tensor maps is of ParamSpace.
var fences = map[string]Instr{
	"alias":                      {Mod: ModAll},
	"async":                      {},
	"async.global":               {Space: Global},
	"async.shared::cta":          {Space: Shared},
	"async.shared::cluster":      {Space: SharedCluster},
	"tensormap::generic.acquire": {Space: ParamSpace, Mod: ModAcquire},
	"tensormap::generic.release": {Space: ParamSpace, Mod: ModRelease},
}

// fenceProxy decodes fence.proxy and fence.mbarrier_init.
func (s *shape) fenceProxy(opcode, rest string) {
	if rest == "" && opcode != "fence.proxy" {
		s.Mod, s.Scope, s.Space = ModRelease, ScopeCluster, Shared
		return
	}
	if strings.HasPrefix(rest, "tensormap") {
		rest = s.cutScope(rest)
	}
	f, ok := fences[rest]
	s.unmodelled = !ok || (f.Space == ParamSpace) != (s.Scope != ScopeNone)
	s.Space, s.Mod = f.Space, f.Mod
}

// cutScope takes a scope off the end of modifiers.
func (s *shape) cutScope(rest string) string {
	at := strings.LastIndexByte(rest, '.')
	for sc, name := range scopeNames {
		if name != "" && name == rest[at+1:] {
			s.Scope = Scope(sc)
			return rest[:max(at, 0)]
		}
	}
	return rest
}

var mapFieldNames = [...]string{
	MapAddress: "global_address", MapRank: "rank", MapBox: "box_dim", MapShape: "global_dim", MapStride: "global_stride",
	MapElementStride: "element_stride", MapElement: "elemtype", MapInterleave: "interleave_layout", MapSwizzle: "swizzle_mode", MapFill: "fill_mode",
}

// String is the PTX spelling, e.g. "box_dim".
func (f MapField) String() string { return name(mapFieldNames[:], int(f), "field") }

// valueType is the type of a field's value.
func (f MapField) valueType() Type {
	if f == MapAddress || f == MapStride {
		return B64
	}
	return B32
}

// mostOf is the largest value of a field that is written as a constant; 0: it may be a register.
func (f MapField) mostOf() int64 {
	switch f {
	case MapElement:
		return 12
	case MapInterleave:
		return 2
	case MapSwizzle:
		return 3
	case MapFill:
		return 1
	}
	return 0
}

// indexed reports whether a field has a value for each dimension.
func (f MapField) indexed() bool { return f >= MapBox && f <= MapElementStride }

// tensormapSet decodes tensormap.replace.tile.FIELD{.SPACE}.b1024.TYPE.
func (s *shape) tensormapSet(opcode, rest string) {
	words := strings.Split(rest, ".")
	for f, name := range mapFieldNames {
		if name != "" && name == words[0] {
			s.Field = MapField(f)
		}
	}
	if s.unmodelled = words[0] == "swizzle_atomicity"; s.unmodelled {
		return
	}
	words = words[1:]
	if len(words) == 3 && (words[0] == "global" || words[0] == "shared::cta") {
		s.Space = modifierSpace[words[0]]
		words = words[1:]
	}
	if s.Field == 0 || len(words) != 2 || words[0] != "b1024" || words[1] != s.Field.valueType().String() {
		s.problem = fmt.Sprintf("unknown instruction %q", opcode)
	}
	s.Type = s.Field.valueType()
}

// tensormapCopy decodes tensormap.cp_fenceproxy, which is written in one way but for its scope.
func (s *shape) tensormapCopy(opcode, rest string) {
	before, ok := strings.CutSuffix(rest, ".sync.aligned")
	if s.cutScope(before) != "global.shared::cta.tensormap::generic.release" || !ok || s.Scope == ScopeNone {
		s.problem = fmt.Sprintf("unknown instruction %q", opcode)
	}
}
