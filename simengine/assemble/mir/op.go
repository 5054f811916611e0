package mir

// Machine operations and the assembler's own model of them.

// Op is a machine operation, named as the disassembler does.
type Op uint8

// Machine operations. The zero value is invalid.
const (
	OpInvalid Op = iota
	OpMOV
	OpCS2R
	OpIADD3
	OpIADD3X
	OpLEA
	OpLEAHI
	OpLEAHIX
	OpLOP3
	OpSHF
	OpSHL
	OpIMNMX
	OpIMNMX3
	OpADDMNMX
	OpSEL
	OpISETP
	OpPLOP3
	OpPRMT
	OpIABS
	OpVABSDIFF
	OpI2FP
	OpFMNMX
	OpFSEL
	OpFSETP
	OpFSET
	OpFADD
	OpFMUL
	OpFFMA
	OpIMAD
	OpIMADIADD
	OpVIADD
	OpIMADMOV
	OpIMADSHL
	OpIMADHI
	OpIMADWIDE
	OpIDP
	OpDADD
	OpDMUL
	OpDFMA
	OpDSETP
	OpHADD2
	OpHMUL2
	OpHFMA2
	OpHFMA2PICK // HADD2, HMUL2 or HFMA2 with an operand that is one half of a register
	OpHSETP2
	OpHSET2
	OpHMNMX2
	OpMUFU
	OpF2F
	OpF2I
	OpI2F
	OpFRND
	OpFCHK
	OpPOPC
	OpFLO
	OpBREV
	OpS2R
	OpS2UR
	OpR2UR
	OpULDC
	OpULDCX // ULDC that loads what a kernel indexes in constant memory
	OpUMOV
	OpUIADD3
	OpUIADD364 // UIADD3 of 64 bits, of a pair of registers and a constant
	OpULEA
	OpULOP3
	OpUSHF
	OpUIMAD
	OpUIMADWIDE
	OpUISETP
	OpLDC
	OpLDG
	OpLDS
	OpLDL
	OpLD
	OpSTG
	OpSTS
	OpSTL
	OpST
	OpATOM
	OpRED
	OpATOMS
	OpATOMSINC
	OpTEX
	OpTLD
	OpTLD4
	OpTXQ
	OpSULD
	OpSUST
	OpLDGSTS
	OpLDSOFF // an LDS under a false predicate
	OpLDGDEPBAR
	OpDEPBAR
	OpCCTL
	OpSHFL
	OpVOTE
	OpMATCH
	OpREDUX
	OpHMMA
	OpHMMASHORT
	OpHMMASINGLE
	OpHMMASINGLESHORT
	OpIMMA
	OpIMMASHORT
	OpDMMA
	OpLDSM
	OpMOVM
	OpBAR
	OpMEMBAR
	OpWARPSYNC
	OpBRA
	OpBRX
	OpBSSY
	OpBSYNC
	OpEXIT
	OpNANOSLEEP
	OpYIELD
	OpTRAP
	OpHGMMA    // QGMMA and IGMMA too
	OpWGARRIVE // wgmma.fence
	OpWGCOMMIT // in machine code a flag of the product before it
	OpWGDEPBAR // wgmma.wait_group
	OpUTMALDG
	OpUTMASTG
	OpUTMAREDG
	OpUTMAPF
	OpUTMACCTL
	OpUTMACMDFLUSH
	OpUBLKCP
	OpUBLKPF
	OpUBLKRED
	OpSYNCSEXCH
	OpSYNCSCCTL
	OpSYNCSARRIVE
	OpARRIVES
	OpSYNCSPHASECHK
	OpFENCEVIEW
	OpMEMBARALL // the MEMBAR that a fence of proxies or a cluster's barrier comes with
	OpUCGABAR
	OpUSETMAXREG
	OpELECT
	OpVOTEU
	OpSTSM
	OpUSGXT
	OpUSEL
	NumOps
)

// opInfo is what the scheduler assumes of an operation: its latency, in cycles from issue to the
// issue of a dependent instruction, and the cycles that it occupies the issue port of its pipe.
type opInfo struct {
	name    string
	Class   Class
	Latency int16
	Issue   int16
}

// table holds the machine operations. The figures are what ptxas is taken to schedule for; they are
// not measurements and not for timing. They began as the usual round figures for Volta and later.
// Those of IMAD.WIDE, LDG, LDS and MUFU were then chosen to bring instruction order and register
// counts closest to ptxas for sm_90 (ptxas corpus). For other generations only register counts were
// compared.
var table = [NumOps]opInfo{
	OpMOV:             {"MOV", ALU, 4, 2},
	OpCS2R:            {"CS2R", ALU, 4, 2},
	OpIADD3:           {"IADD3", ALU, 4, 2},
	OpIADD3X:          {"IADD3.X", ALU, 4, 2},
	OpLEA:             {"LEA", ALU, 4, 2},
	OpLEAHI:           {"LEA.HI", ALU, 4, 2},
	OpLEAHIX:          {"LEA.HI.X", ALU, 4, 2},
	OpLOP3:            {"LOP3", ALU, 4, 2},
	OpSHF:             {"SHF", ALU, 4, 2},
	OpSHL:             {"SHF.L", ALU, 4, 2},
	OpIMNMX:           {"VIMNMX", ALU, 4, 2},
	OpIMNMX3:          {"VIMNMX3", ALU, 4, 2},
	OpADDMNMX:         {"VIADDMNMX", ALU, 4, 2},
	OpSEL:             {"SEL", ALU, 4, 2},
	OpISETP:           {"ISETP", ALU, 8, 2},
	OpPLOP3:           {"PLOP3", ALU, 8, 2},
	OpPRMT:            {"PRMT", ALU, 4, 2},
	OpIABS:            {"IABS", ALU, 4, 2},
	OpVABSDIFF:        {"VABSDIFF", ALU, 4, 2},
	OpI2FP:            {"I2FP", ALU, 4, 2},
	OpFMNMX:           {"FMNMX", ALU, 4, 2},
	OpFSEL:            {"FSEL", ALU, 4, 2},
	OpFSETP:           {"FSETP", ALU, 8, 2},
	OpFSET:            {"FSET", ALU, 4, 2},
	OpFADD:            {"FADD", FMA, 4, 1},
	OpFMUL:            {"FMUL", FMA, 4, 1},
	OpFFMA:            {"FFMA", FMA, 4, 1},
	OpIMAD:            {"IMAD", FMAHeavy, 4, 2},
	OpIMADIADD:        {"IMAD.IADD", FMAHeavy, 4, 2},
	OpVIADD:           {"VIADD", FMAHeavy, 4, 2},
	OpIMADMOV:         {"IMAD.MOV", FMAHeavy, 4, 2},
	OpIMADSHL:         {"IMAD.SHL", FMAHeavy, 4, 2},
	OpIMADHI:          {"IMAD.HI", IMADHigh, 5, 4},
	OpIMADWIDE:        {"IMAD.WIDE", IMADWide, 4, 4},
	OpIDP:             {"IDP", FMAHeavy, 4, 2},
	OpDADD:            {"DADD", FP64, 8, 4},
	OpDMUL:            {"DMUL", FP64, 8, 4},
	OpDFMA:            {"DFMA", FP64, 8, 4},
	OpDSETP:           {"DSETP", FP64, 10, 4},
	OpHADD2:           {"HADD2", Half, 6, 2},
	OpHMUL2:           {"HMUL2", Half, 6, 2},
	OpHFMA2:           {"HFMA2", Half, 6, 2},
	OpHFMA2PICK:       {"HFMA2", FMAHeavy, 6, 2},
	OpHSETP2:          {"HSETP2", Half, 8, 2},
	OpHSET2:           {"HSET2", Half, 6, 2},
	OpHMNMX2:          {"HMNMX2", Half, 6, 2},
	OpMUFU:            {"MUFU", MUFU, 18, 8},
	OpF2F:             {"F2F", XU, 14, 8},
	OpF2I:             {"F2I", XU, 14, 8},
	OpI2F:             {"I2F", XU, 14, 8},
	OpFRND:            {"FRND", XU, 14, 8},
	OpFCHK:            {"FCHK", XU, 14, 8},
	OpPOPC:            {"POPC", XU, 14, 8},
	OpFLO:             {"FLO", XU, 14, 8},
	OpBREV:            {"BREV", XU, 14, 8},
	OpS2R:             {"S2R", S2R, 20, 4},
	OpS2UR:            {"S2UR", S2R, 20, 4},
	OpR2UR:            {"R2UR", ALU, 8, 2},
	OpULDC:            {"ULDC", Uniform, 8, 2},
	OpULDCX:           {"ULDC.X", LDC, 16, 2},
	OpUMOV:            {"UMOV", Uniform, 6, 2},
	OpUIADD3:          {"UIADD3", Uniform, 6, 2},
	OpUIADD364:        {"UIADD3.64", Uniform, 6, 2},
	OpULEA:            {"ULEA", Uniform, 6, 2},
	OpULOP3:           {"ULOP3", Uniform, 6, 2},
	OpUSHF:            {"USHF", Uniform, 6, 2},
	OpUIMAD:           {"UIMAD", Uniform, 6, 2},
	OpUIMADWIDE:       {"UIMAD.WIDE", Uniform, 6, 2},
	OpUISETP:          {"UISETP", Uniform, 8, 2},
	OpLDC:             {"LDC", LDC, 20, 4},
	OpLDG:             {"LDG", Load, 200, 2},
	OpLDS:             {"LDS", Load, 29, 1},
	OpLDL:             {"LDL", Load, 40, 4},
	OpLD:              {"LD", Load, 200, 4},
	OpSTG:             {"STG", Store, 2, 4},
	OpSTS:             {"STS", Store, 2, 4},
	OpSTL:             {"STL", Store, 2, 4},
	OpST:              {"ST", Store, 2, 4},
	OpATOM:            {"ATOM", Atomic, 200, 4},
	OpRED:             {"RED", Atomic, 2, 4},
	OpATOMS:           {"ATOMS", Atomic, 60, 4},
	OpATOMSINC:        {"ATOMS.POPC.INC", Atomic, 60, 4},
	OpTEX:             {"TEX.LL", Load, 400, 4},
	OpTLD:             {"TLD.LZ", Load, 400, 4},
	OpTLD4:            {"TLD4", Load, 400, 4},
	OpTXQ:             {"TXQ", S2R, 200, 4},
	OpSULD:            {"SULD", Load, 400, 4},
	OpSUST:            {"SUST", Store, 2, 4},
	OpLDGSTS:          {"LDGSTS", AsyncCopy, 2, 4},
	OpLDSOFF:          {"LDS", S2R, 2, 4},
	OpLDGDEPBAR:       {"LDGDEPBAR", Control, 2, 4},
	OpDEPBAR:          {"DEPBAR", Control, 2, 4},
	OpCCTL:            {"CCTL", Control, 2, 4},
	OpSHFL:            {"SHFL", Shuffle, 24, 4},
	OpVOTE:            {"VOTE", Vote, 8, 2},
	OpMATCH:           {"MATCH", Match, 24, 4},
	OpREDUX:           {"REDUX", Vote, 24, 4},
	OpHMMA:            {"HMMA.16816.F16", Tensor, 24, 4},
	OpHMMASHORT:       {"HMMA.1688.F16", TensorShort, 18, 4},
	OpHMMASINGLE:      {"HMMA.16816.F32", TensorSingle, 24, 4},
	OpHMMASINGLESHORT: {"HMMA.1688.F32", TensorSingleShort, 18, 4},
	OpIMMA:            {"IMMA.16832", Tensor, 24, 4},
	OpIMMASHORT:       {"IMMA.16816", TensorShort, 18, 4},
	OpDMMA:            {"DMMA.884", TensorDouble, 26, 16},
	OpLDSM:            {"LDSM", Load, 33, 4},
	OpMOVM:            {"MOVM", Shuffle, 24, 4},
	OpBAR:             {"BAR", Barrier, 4, 2},
	OpMEMBAR:          {"MEMBAR", Fence, 4, 2},
	OpWARPSYNC:        {"WARPSYNC", Control, 2, 2},
	OpBRA:             {"BRA", Branch, 2, 2},
	OpBRX:             {"BRX", Branch, 2, 2},
	OpBSSY:            {"BSSY", Branch, 2, 2},
	OpBSYNC:           {"BSYNC", Branch, 2, 2},
	OpEXIT:            {"EXIT", Exit, 2, 2},
	OpNANOSLEEP:       {"NANOSLEEP", Control, 2, 2},
	OpYIELD:           {"YIELD", Yield, 2, 2},
	OpTRAP:            {"TRAP", Control, 2, 2},
	OpHGMMA:           {"HGMMA", Wgmma, 2, 16},
	OpWGARRIVE:        {"WARPGROUP.ARRIVE", Control, 2, 2},
	OpWGCOMMIT:        {"WARPGROUP.COMMIT", Control, 2, 2},
	OpWGDEPBAR:        {"WARPGROUP.DEPBAR", Control, 2, 2},
	OpUTMALDG:         {"UTMALDG", Bulk, 2, 4},
	OpUTMASTG:         {"UTMASTG", Bulk, 2, 4},
	OpUTMAREDG:        {"UTMAREDG", Bulk, 2, 4},
	OpUTMAPF:          {"UTMAPF", Bulk, 2, 4},
	OpUTMACCTL:        {"UTMACCTL", Control, 2, 4},
	OpUTMACMDFLUSH:    {"UTMACMDFLUSH", Control, 2, 4},
	OpUBLKCP:          {"UBLKCP", Bulk, 2, 4},
	OpUBLKPF:          {"UBLKPF", Bulk, 2, 4},
	OpUBLKRED:         {"UBLKRED", Bulk, 2, 4},
	OpSYNCSEXCH:       {"SYNCS.EXCH", Mbarrier, 2, 4},
	OpSYNCSCCTL:       {"SYNCS.CCTL", Mbarrier, 2, 4},
	OpSYNCSARRIVE:     {"SYNCS.ARRIVE", Mbarrier, 20, 4},
	OpARRIVES:         {"ARRIVES.LDGSTSBAR", Mbarrier, 2, 4},
	OpSYNCSPHASECHK:   {"SYNCS.PHASECHK.TRYWAIT", MbarWait, 24, 4},
	OpFENCEVIEW:       {"FENCE.VIEW.ASYNC", Fence, 4, 2},
	OpMEMBARALL:       {"MEMBAR.ALL", Control, 4, 2},
	OpUCGABAR:         {"UCGABAR", ClusterBarrier, 4, 2},
	OpUSETMAXREG:      {"USETMAXREG", Control, 2, 2},
	OpELECT:           {"ELECT", Vote, 8, 2},
	OpVOTEU:           {"VOTEU", Uniform, 8, 2},
	OpSTSM:            {"STSM", Store, 2, 4},
	OpUSGXT:           {"USGXT", Uniform, 6, 2},
	OpUSEL:            {"USEL", Uniform, 6, 2},
}

// String is the disassembler's spelling.
func (o Op) String() string {
	if o < NumOps && table[o].name != "" {
		return table[o].name
	}
	return "INVALID"
}

// Info is the operation's row of the table.
func (o Op) Info() *opInfo { return &table[o] }

// GroupsProducts reports whether an operation fences, commits or awaits warpgroup MMAs.
func (o Op) GroupsProducts() bool { return o == OpWGARRIVE || o == OpWGCOMMIT || o == OpWGDEPBAR }

// Class is the pipe and behaviour of the operation.
func (o Op) Class() Class { return table[o].Class }

// Latency is the cycles from its issue to the issue of a dependent instruction that scheduling
// assumes.
func (o Op) Latency() int16 { return table[o].Latency }

// OpNamed returns the operation with a disassembler's spelling, OpInvalid where there is none. Of
// several it is the last in the table.
func OpNamed(name string) Op { return named[name] }

var named = func() map[string]Op {
	m := map[string]Op{}
	for o := range table {
		m[table[o].name] = Op(o)
	}
	return m
}()
