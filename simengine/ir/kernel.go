package ir

import (
	"strings"

	"github.com/warptune/warptune/simengine/ptx"
)

// Reg is a virtual register: an index into Kernel.Regs.
type Reg int32

// NoReg marks an absent register (no guard, no base, a discarded result "_").
const NoReg Reg = -1

// RegInfo describes one virtual register.
type RegInfo struct {
	Name string // as written in the PTX, e.g. "%rd4"
	Type Type   // declared type; Pred for predicates
}

// Module is the decoded form of one PTX module.
type Module struct {
	Name    string // file name, for messages
	Version string // PTX ISA version, e.g. "9.0"
	Target  string // e.g. "sm_90"
	Vars    []Var  // module-scope .global, .const and .shared variables
	Kernels []*Kernel
	refused []refusal // entries that use what is not modelled
}

// Kernel is one .entry with every device function call inlined.
// It is immutable after Build and may be shared between goroutines.
type Kernel struct {
	Name   string
	Module *Module
	Params []Param
	Regs   []RegInfo
	Instrs []Instr // in program order; Block.Start and Instr.Target index it
	Blocks []Block // control flow graph, in program order
	// Vars are the module's variables (same indices as Module.Vars), then the
	// kernel's own and those of the functions inlined into it.
	Vars []Var

	SharedBytes int // static shared memory of one CTA: the sized .shared variables it names
	LocalBytes  int // local memory of one thread declared by the PTX (.local)
	ConstBytes  int // bytes of .const variables of the module
	// DynamicShared is the index in Vars of the `.extern .shared` array, or -1.
	DynamicShared int

	MaxNTid [3]int // .maxntid, zeros when absent
	ReqNTid [3]int // .reqntid, zeros when absent
	MinCTAs int    // .minnctapersm, 0 when absent
	MaxRegs int    // .maxnreg, 0 when absent
	// Cluster is .reqnctapercluster, zeros when absent.
	Cluster [3]int
	// NoUnroll are the instructions, ascending, before which .pragma "nounroll"
	// stands: the first ones of loops that the assembler must leave as they are.
	NoUnroll []int
}

// Specific reports whether the kernel's PTX is for one architecture alone (.target sm_90a). Rules and figures that were
// found with such kernels are left out of others', which were calibrated without.
func (k *Kernel) Specific() bool {
	return k != nil && k.Module != nil && strings.HasSuffix(k.Module.Target, "a")
}

// Param is one kernel parameter, laid out as in the parameter space.
type Param struct {
	Name   string
	Type   Type
	Offset int // bytes from the start of the parameter space
	Size   int // bytes (larger than Type.Size for .b8 arrays)
	Align  int
}

// Var is a variable in a state space other than .reg and .param.
type Var struct {
	Name  string
	Space Space
	Elem  Type
	Size  int // bytes; 0 for an unsized `.extern .shared` array
	Align int
	// Offset is in bytes from the start of the space's static area; -1 for a
	// .shared variable of the module that this kernel does not name. Each
	// unsized .extern .shared array it names starts where the sized ones end.
	Offset int
	// Init holds the initial bytes of .global and .const variables (nil: zeros).
	Init []byte
	// Relocs are the addresses to be stored into Init.
	Relocs []Reloc
}

// Reloc is an address in an initialiser: the Size bytes at Offset of the
// variable hold the address of Vars[Var] plus Addend, shifted right by Shift bits.
type Reloc struct {
	Offset, Size int
	Var          int32
	Addend       int64
	Generic      bool // a generic address, else one in the variable's own space
	Shift        int
}

// Block is a basic block: Instrs[Start:End]; only the last may branch.
type Block struct {
	Start, End int
	// Succs are block indices: fall-through first, then the branch target.
	// A block that ends in an unguarded exit has none.
	Succs []int
	Preds []int
	// IPDom is the immediate post-dominator, where diverged lanes reconverge;
	// -1 is the virtual exit. Paths on which lanes leave the kernel early do not
	// count: lanes that exit never reach it, and the others do not wait for them.
	IPDom int
	// LoopHead is the index of the innermost loop header this block belongs
	// to, -1 outside loops; LoopDepth counts the nesting.
	LoopHead  int
	LoopDepth int
}

// Instr is one PTX instruction with its operands resolved.
// Unused fields are zero, unused registers NoReg.
//
// A register of Ld, St and Cvt may be wider than the type: a load extends (by
// the type's sign) to the whole register, a store and a conversion read the low
// bits. Compilers also read registers they never wrote, for lanes of a vector
// that they do not use; such a read gives any value.
type Instr struct {
	Op      Op
	Type    Type // the instruction's type; destination type of Cvt
	SrcType Type // source type of Cvt, Set, Slct; Invalid elsewhere
	Mod     Mod  // modifiers that are plain flags
	Round   Round
	Cmp     Cmp    // Setp, Set
	Bool    BoolOp // Setp, Set with a combining predicate operand; Vote mode in Vote
	Atom    AtomOp // Atom, Red, Redux
	Space   Space  // Ld, St, Atom, Red, Cvta, CpAsync (destination is Shared)
	Cache   CacheOp
	Scope   Scope // Atom, Red, Membar, strong Ld and St
	// Vec is the elements of a vector Ld/St: 1, 2, 4 or 8; of an Atom or Red 0, or 2 to 8. With ModMatrix a Ld is
	// an ldmatrix of so many matrices of 8 rows of 16 bytes. Lane i gives the address of row i%8 of matrix i/8, and
	// Dst[m] of lane i is 32 bits of matrix m (see Fragment).
	Vec    uint8
	Matrix *Matrix  // Mma, Wgmma; shared by copies of the instruction
	Field  MapField // TensormapSet
	Bulk   *Bulk    // BulkCopy, BulkPrefetch; shared by copies of the instruction
	// Texture is of Tex, Txq, Suld and Sust; shared by copies of the instruction.
	Texture *Texture

	Guard    Reg  // predicate that guards the instruction, NoReg when none
	GuardNot bool // true for @!p

	// Dst are the registers written, in order (Vec of them for a vector load;
	// two for setp p|q and shfl d|p). An element may be NoReg ("_").
	// A Mov with several Dst unpacks Src[0], lowest bits first; one with
	// several Src packs them into Dst[0].
	Dst []Reg
	// Src are the operands read, in PTX order. For Ld/Atom/Red/St/CpAsync
	// Src[0] is the address (Kind OperandAddr) and the stored or combined
	// values follow. For CpAsync Src[0] is the shared address, Src[1] the
	// global one, Src[2] the byte count; Src[3], when there, is the number of
	// bytes to read (the rest is zero) or a predicate: true to read none.
	// A BarRed ends with its predicate, a Vote starts with it. Of a Mma they are
	// the registers of A, then those of B and of C.
	Src []Operand

	// Target is the instruction index a Bra jumps to; -1 elsewhere.
	Target int
	// Targets are the instruction indices of a Brx (indexed branch).
	Targets []int

	Pos ptx.Pos // where it stands in the PTX text
}

// OperandKind says which fields of an Operand hold its value.
type OperandKind uint8

// The kinds of operand. The zero value is invalid.
const (
	OperandInvalid OperandKind = iota
	OperandReg                 // Reg
	OperandImm                 // Imm: the bits of the constant, already in the instruction's type
	OperandSpecial             // Special
	// OperandVar is the address of Vars[Var] plus Imm, in the variable's own
	// space. (That of a parameter is an OperandImm.)
	OperandVar
	OperandAddr // a memory address: see Operand
)

// Operand is a source operand. For OperandAddr the address is
// Reg (NoReg: zero) + Vars[Var] (-1: none) + Params[Param] (-1: none) + Imm.
type Operand struct {
	Kind    OperandKind
	Reg     Reg
	Special Special
	Var     int32
	Param   int32
	Imm     uint64
	Not     bool // predicate operand written !p
}

// ImmOperand is a constant operand, of so many bits as the instruction's type has.
func ImmOperand(bits uint64) Operand {
	return Operand{Kind: OperandImm, Reg: NoReg, Var: -1, Param: -1, Imm: bits}
}

// WordOperand is a constant operand of 32 bits.
func WordOperand(v int64) Operand { return ImmOperand(uint64(uint32(v))) }

// RegOperand is a register as an operand.
func RegOperand(r Reg) Operand {
	return Operand{Kind: OperandReg, Reg: r, Var: -1, Param: -1}
}
