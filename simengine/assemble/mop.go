package assemble

// mop is a machine operation. Names follow the disassembler's.
type mop uint8

// Machine operations. The zero value is invalid.
const (
	opInvalid mop = iota
	opMOV
	opCS2R
	opIADD3
	opIADD3X
	opLEA
	opLEAHI
	opLEAHIX
	opLOP3
	opSHF
	opSHL
	opIMNMX
	opIMNMX3
	opADDMNMX
	opSEL
	opISETP
	opPLOP3
	opPRMT
	opIABS
	opVABSDIFF
	opI2FP
	opFMNMX
	opFSEL
	opFSETP
	opFSET
	opFADD
	opFMUL
	opFFMA
	opIMAD
	opIMADIADD
	opVIADD
	opIMADMOV
	opIMADSHL
	opIMADHI
	opIMADWIDE
	opIDP
	opDADD
	opDMUL
	opDFMA
	opDSETP
	opHADD2
	opHMUL2
	opHFMA2
	opHFMA2PICK // HADD2, HMUL2 or HFMA2 that takes one half of a word
	opHSETP2
	opHSET2
	opHMNMX2
	opMUFU
	opF2F
	opF2I
	opI2F
	opFRND
	opFCHK
	opPOPC
	opFLO
	opBREV
	opS2R
	opS2UR
	opR2UR
	opULDC
	opULDCX // from constant memory
	opUMOV
	opUIADD3
	opULEA
	opULOP3
	opUSHF
	opUIMAD
	opUIMADWIDE
	opUISETP
	opUSEL
	opLDC
	opLDG
	opLDS
	opLDL
	opLD
	opSTG
	opSTS
	opSTL
	opST
	opATOM
	opRED
	opATOMS
	opATOMSINC
	opLDGSTS
	opLDSOFF // an LDS that no lane takes
	opLDGDEPBAR
	opDEPBAR
	opCCTL
	opSHFL
	opVOTE
	opMATCH
	opREDUX
	opHMMA
	opHMMASHORT
	opHMMASINGLE
	opHMMASINGLESHORT
	opIMMA
	opIMMASHORT
	opDMMA
	opLDSM
	opMOVM
	opBAR
	opMEMBAR
	opWARPSYNC
	opBRA
	opBRX
	opBSSY
	opBSYNC
	opEXIT
	opNANOSLEEP
	opYIELD
	opTRAP
	numMops
)

// mopInfo is the assembler's own model of an operation: the latency it
// schedules for, in cycles from issue to a dependent issue, and the cycles the
// issue port of its pipe is busy.
type mopInfo struct {
	name    string
	class   Class
	latency int16
	issue   int16
}

// mops is the table of machine operations. The numbers are this model's own
// notion of what the assembler schedules for, not measurements: they started
// as the usual round figures for Volta and later, and those of IMAD.WIDE, LDG, LDS
// and MUFU were then chosen because they bring instruction order and register
// counts closest to the real assembler's for sm_90. They are not meant for
// timing, and of other generations only register counts have been compared.
var mops = [numMops]mopInfo{
	opMOV:             {"MOV", ALU, 4, 2},
	opCS2R:            {"CS2R", ALU, 4, 2},
	opIADD3:           {"IADD3", ALU, 4, 2},
	opIADD3X:          {"IADD3.X", ALU, 4, 2},
	opLEA:             {"LEA", ALU, 4, 2},
	opLEAHI:           {"LEA.HI", ALU, 4, 2},
	opLEAHIX:          {"LEA.HI.X", ALU, 4, 2},
	opLOP3:            {"LOP3", ALU, 4, 2},
	opSHF:             {"SHF", ALU, 4, 2},
	opSHL:             {"SHF.L", ALU, 4, 2},
	opIMNMX:           {"VIMNMX", ALU, 4, 2},
	opIMNMX3:          {"VIMNMX3", ALU, 4, 2},
	opADDMNMX:         {"VIADDMNMX", ALU, 4, 2},
	opSEL:             {"SEL", ALU, 4, 2},
	opISETP:           {"ISETP", ALU, 8, 2},
	opPLOP3:           {"PLOP3", ALU, 8, 2},
	opPRMT:            {"PRMT", ALU, 4, 2},
	opIABS:            {"IABS", ALU, 4, 2},
	opVABSDIFF:        {"VABSDIFF", ALU, 4, 2},
	opI2FP:            {"I2FP", ALU, 4, 2},
	opFMNMX:           {"FMNMX", ALU, 4, 2},
	opFSEL:            {"FSEL", ALU, 4, 2},
	opFSETP:           {"FSETP", ALU, 8, 2},
	opFSET:            {"FSET", ALU, 4, 2},
	opFADD:            {"FADD", FMA, 4, 1},
	opFMUL:            {"FMUL", FMA, 4, 1},
	opFFMA:            {"FFMA", FMA, 4, 1},
	opIMAD:            {"IMAD", FMAHeavy, 4, 2},
	opIMADIADD:        {"IMAD.IADD", FMAHeavy, 4, 2},
	opVIADD:           {"VIADD", FMAHeavy, 4, 2},
	opIMADMOV:         {"IMAD.MOV", FMAHeavy, 4, 2},
	opIMADSHL:         {"IMAD.SHL", FMAHeavy, 4, 2},
	opIMADHI:          {"IMAD.HI", IMADHigh, 5, 4},
	opIMADWIDE:        {"IMAD.WIDE", IMADWide, 4, 4},
	opIDP:             {"IDP", FMAHeavy, 4, 2},
	opDADD:            {"DADD", FP64, 8, 4},
	opDMUL:            {"DMUL", FP64, 8, 4},
	opDFMA:            {"DFMA", FP64, 8, 4},
	opDSETP:           {"DSETP", FP64, 10, 4},
	opHADD2:           {"HADD2", Half, 6, 2},
	opHMUL2:           {"HMUL2", Half, 6, 2},
	opHFMA2:           {"HFMA2", Half, 6, 2},
	opHFMA2PICK:       {"HFMA2", FMAHeavy, 6, 2},
	opHSETP2:          {"HSETP2", Half, 8, 2},
	opHSET2:           {"HSET2", Half, 6, 2},
	opHMNMX2:          {"HMNMX2", Half, 6, 2},
	opMUFU:            {"MUFU", MUFU, 18, 8},
	opF2F:             {"F2F", XU, 14, 8},
	opF2I:             {"F2I", XU, 14, 8},
	opI2F:             {"I2F", XU, 14, 8},
	opFRND:            {"FRND", XU, 14, 8},
	opFCHK:            {"FCHK", XU, 14, 8},
	opPOPC:            {"POPC", XU, 14, 8},
	opFLO:             {"FLO", XU, 14, 8},
	opBREV:            {"BREV", XU, 14, 8},
	opS2R:             {"S2R", S2R, 20, 4},
	opS2UR:            {"S2UR", S2R, 20, 4},
	opR2UR:            {"R2UR", ALU, 8, 2},
	opULDC:            {"ULDC", Uniform, 8, 2},
	opULDCX:           {"ULDC.X", LDC, 16, 2},
	opUMOV:            {"UMOV", Uniform, 6, 2},
	opUIADD3:          {"UIADD3", Uniform, 6, 2},
	opULEA:            {"ULEA", Uniform, 6, 2},
	opULOP3:           {"ULOP3", Uniform, 6, 2},
	opUSHF:            {"USHF", Uniform, 6, 2},
	opUIMAD:           {"UIMAD", Uniform, 6, 2},
	opUIMADWIDE:       {"UIMAD.WIDE", Uniform, 6, 2},
	opUISETP:          {"UISETP", Uniform, 8, 2},
	opUSEL:            {"USEL", Uniform, 6, 2},
	opLDC:             {"LDC", LDC, 20, 4},
	opLDG:             {"LDG", Load, 200, 2},
	opLDS:             {"LDS", Load, 29, 1},
	opLDL:             {"LDL", Load, 40, 4},
	opLD:              {"LD", Load, 200, 4},
	opSTG:             {"STG", Store, 2, 4},
	opSTS:             {"STS", Store, 2, 4},
	opSTL:             {"STL", Store, 2, 4},
	opST:              {"ST", Store, 2, 4},
	opATOM:            {"ATOM", Atomic, 200, 4},
	opRED:             {"RED", Atomic, 2, 4},
	opATOMS:           {"ATOMS", Atomic, 60, 4},
	opATOMSINC:        {"ATOMS.POPC.INC", Atomic, 60, 4},
	opLDGSTS:          {"LDGSTS", AsyncCopy, 2, 4},
	opLDSOFF:          {"LDS", S2R, 2, 4},
	opLDGDEPBAR:       {"LDGDEPBAR", Control, 2, 4},
	opDEPBAR:          {"DEPBAR", Control, 2, 4},
	opCCTL:            {"CCTL", Control, 2, 4},
	opSHFL:            {"SHFL", Shuffle, 24, 4},
	opVOTE:            {"VOTE", Vote, 8, 2},
	opMATCH:           {"MATCH", Match, 24, 4},
	opREDUX:           {"REDUX", Vote, 24, 4},
	opHMMA:            {"HMMA.16816.F16", Tensor, 24, 4},
	opHMMASHORT:       {"HMMA.1688.F16", TensorShort, 18, 4},
	opHMMASINGLE:      {"HMMA.16816.F32", TensorSingle, 24, 4},
	opHMMASINGLESHORT: {"HMMA.1688.F32", TensorSingleShort, 18, 4},
	opIMMA:            {"IMMA.16832", Tensor, 24, 4},
	opIMMASHORT:       {"IMMA.16816", TensorShort, 18, 4},
	opDMMA:            {"DMMA.884", TensorDouble, 26, 16},
	opLDSM:            {"LDSM", Load, 33, 4},
	opMOVM:            {"MOVM", Shuffle, 24, 4},
	opBAR:             {"BAR", Barrier, 4, 2},
	opMEMBAR:          {"MEMBAR", Fence, 4, 2},
	opWARPSYNC:        {"WARPSYNC", Control, 2, 2},
	opBRA:             {"BRA", Branch, 2, 2},
	opBRX:             {"BRX", Branch, 2, 2},
	opBSSY:            {"BSSY", Branch, 2, 2},
	opBSYNC:           {"BSYNC", Branch, 2, 2},
	opEXIT:            {"EXIT", Exit, 2, 2},
	opNANOSLEEP:       {"NANOSLEEP", Control, 2, 2},
	opYIELD:           {"YIELD", Yield, 2, 2},
	opTRAP:            {"TRAP", Control, 2, 2},
}

// String gives the disassembler's spelling.
func (o mop) String() string {
	if o < numMops && mops[o].name != "" {
		return mops[o].name
	}
	return "INVALID"
}

// info is the operation's row of the table.
func (o mop) info() *mopInfo { return &mops[o] }

// class is the pipe and behaviour of the operation.
func (o mop) class() Class { return mops[o].class }

// latency is the cycles that the assembler model schedules for, from issue to a
// dependent issue.
func (o mop) latency() int16 { return mops[o].latency }

// issue is the cycles that the operation keeps its pipe's issue port busy.
func (o mop) issue() int16 { return mops[o].issue }

// mopNamed returns the operation of a disassembler's spelling, the last of those that share
// it; the zero operation where there is none.
func mopNamed(name string) mop { return named[name] }

// named finds operations by the disassembler's spelling.
var named = func() map[string]mop {
	m := map[string]mop{}
	for o := range mops {
		m[mops[o].name] = mop(o)
	}
	return m
}()
