package ir

// Op is a PTX base opcode, without types and modifiers. The zero value is
// invalid. Op.String gives the PTX spelling.
type Op uint8

// PTX opcodes, grouped as the PTX ISA manual groups them.
const (
	OpInvalid Op = iota

	// Data movement.
	Mov
	Ld
	Ldu
	St
	Atom
	Red
	CpAsync       // cp.async.{ca,cg}.shared.global
	CpAsyncCommit // cp.async.commit_group
	CpAsyncWait   // cp.async.wait_group N / wait_all
	Prefetch      // to L1 or L2 as Cache says, of a tensor map with CacheDefault
	Cvt
	Cvta
	Isspacep
	Shfl
	Prmt
	Mapa
	Movmatrix
	Tex  // tex, tex.level and tld4: see Texture
	Txq  // txq and suq
	Suld // suld.b
	Sust // sust.b

	// Integer and floating-point arithmetic.
	Add
	Sub
	Mul
	Mad
	Fma
	Mul24
	Mad24
	Sad
	Vabsdiff4 // of the bytes of words of type U32; Atom: AtomAdd for their sum
	Div
	Rem
	Abs
	Neg
	Min
	Max
	AddC
	SubC
	MadC
	Dp4a
	Dp2a
	Mma // mma.sync by the lanes of a warp: see Matrix
	Rcp
	Sqrt
	Rsqrt
	Sin
	Cos
	Lg2
	Ex2
	Tanh
	Copysign
	Testp

	// Logic, shifts and bit fields.
	And
	Or
	Xor
	Not
	CNot
	Lop3
	Shl
	Shr
	Shf
	Bfe
	Bfi
	Bfind
	Brev
	Clz
	Popc
	Fns
	Szext
	Bmsk

	// Comparison and selection.
	Setp
	Set
	Selp
	Slct

	// Control flow.
	Bra
	Brx
	Exit // exit, and ret from the entry
	Trap
	Nop // pragma, debug and other instructions without effect

	// Synchronisation and communication.
	Bar     // bar.sync / barrier.sync; BarArrive is Mod
	BarRed  // bar.red: Bool says popc/and/or
	BarWarp // bar.warp.sync
	Membar  // membar, fence
	Vote
	Match
	Activemask
	Redux
	Elect
	Nanosleep

	// Asynchronous copies and MMAs, and what waits for them: see async.go.
	Wgmma          // wgmma.mma_async
	WgmmaFence     // wgmma.fence
	WgmmaCommit    // wgmma.commit_group
	WgmmaWait      // wgmma.wait_group N
	MbarInit       // mbarrier.init
	MbarInval      // mbarrier.inval
	MbarArrive     // mbarrier.arrive, with ModTx arrive.expect_tx, with ModDrop arrive_drop
	MbarExpect     // mbarrier.expect_tx, with ModDone complete_tx
	MbarWait       // mbarrier.test_wait, with ModTry try_wait
	CpAsyncArrive  // cp.async.mbarrier.arrive
	BulkCopy       // cp.async.bulk and cp.reduce.async.bulk, of bytes or of a box of a tensor
	BulkPrefetch   // cp.async.bulk.prefetch
	BulkCommit     // cp.async.bulk.commit_group
	BulkWait       // cp.async.bulk.wait_group N, with ModRead .read
	FenceProxy     // fence.proxy, with Space ParamSpace of tensor maps
	TensormapSet   // tensormap.replace
	TensormapCopy  // tensormap.cp_fenceproxy
	Setmaxnreg     // setmaxnreg.dec, with ModInc .inc
	ClusterBarrier // barrier.cluster.wait, with ModArrive .arrive
	GetCTARank     // getctarank
	CreatePolicy   // createpolicy: a value that nothing here reads

	NumOps
)
