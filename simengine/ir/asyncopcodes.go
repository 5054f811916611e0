package ir

// Asynchronous copies and products, mbarriers, clusters, and tensor maps. What is written in one way
// only stands here with all its modifiers.
var asyncSpecs = map[string]*spec{
	"wgmma.mma_async":                 {op: Wgmma, form: formWgmma},
	"wgmma.fence.sync.aligned":        {op: WgmmaFence},
	"wgmma.commit_group.sync.aligned": {op: WgmmaCommit},
	"wgmma.wait_group.sync.aligned":   {op: WgmmaWait, args: "m"},

	"mbarrier.init":                  {op: MbarInit, may: gSpace, types: tB64, args: "ai"},
	"mbarrier.inval":                 {op: MbarInval, may: gSpace, types: tB64, args: "a"},
	"mbarrier.expect_tx":             {op: MbarExpect, may: gMbarrier, types: tB64, args: "ai"},
	"mbarrier.complete_tx":           {op: MbarExpect, may: gMbarrier, types: tB64, args: "ai", mod: ModDone},
	"mbarrier.arrive":                {op: MbarArrive, may: gMbarrier | gComplete, types: tB64, args: "dai?", form: formArrive},
	"mbarrier.arrive.expect_tx":      {op: MbarArrive, may: gMbarrier, types: tB64, args: "dai", mod: ModTx, form: formArrive},
	"mbarrier.arrive_drop":           {op: MbarArrive, may: gMbarrier | gComplete, types: tB64, args: "dai?", mod: ModDrop, form: formArrive},
	"mbarrier.arrive_drop.expect_tx": {op: MbarArrive, may: gMbarrier, types: tB64, args: "dai", mod: ModDrop | ModTx, form: formArrive},
	"mbarrier.test_wait":             {op: MbarWait, may: gMbarrier, types: tB64, args: "oat"},
	"mbarrier.test_wait.parity":      {op: MbarWait, may: gMbarrier, types: tB64, args: "oai", mod: ModParity},
	"mbarrier.try_wait":              {op: MbarWait, may: gMbarrier, types: tB64, args: "oati?", mod: ModTry},
	"mbarrier.try_wait.parity":       {op: MbarWait, may: gMbarrier, types: tB64, args: "oaii?", mod: ModTry | ModParity},
	"cp.async.mbarrier.arrive":       {op: CpAsyncArrive, may: gSpace, types: tB64, args: "a"},
	"cp.async.mbarrier.arrive.noinc": {op: CpAsyncArrive, may: gSpace, types: tB64, args: "a", mod: ModAll},

	"cp.async.bulk":                 {op: BulkCopy, form: formBulk},
	"cp.reduce.async.bulk":          {op: BulkCopy, form: formBulk},
	"cp.async.bulk.prefetch":        {op: BulkPrefetch, form: formBulk},
	"cp.async.bulk.commit_group":    {op: BulkCommit},
	"cp.async.bulk.wait_group":      {op: BulkWait, args: "m"},
	"cp.async.bulk.wait_group.read": {op: BulkWait, args: "m", mod: ModRead},

	"fence.proxy":                         {op: FenceProxy, form: formFenceProxy},
	"fence.mbarrier_init.release.cluster": {op: FenceProxy, form: formFenceProxy},
	"tensormap.replace.tile":              {op: TensormapSet, form: formTensormapSet},
	"tensormap.cp_fenceproxy":             {op: TensormapCopy, form: formTensormapCopy},
	"prefetch.tensormap":                  {op: Prefetch, args: "a"},
	"prefetch.param.tensormap":            {op: Prefetch, args: "a"},
	"prefetch.param::entry.tensormap":     {op: Prefetch, args: "a"},
	"prefetch.const.tensormap":            {op: Prefetch, args: "a"},
	"setmaxnreg.inc.sync.aligned.u32":     {op: Setmaxnreg, args: "m", mod: ModInc},
	"setmaxnreg.dec.sync.aligned.u32":     {op: Setmaxnreg, args: "m"},
	"barrier.cluster.arrive":              {op: ClusterBarrier, may: gOrder | gAligned, mod: ModArrive},
	"barrier.cluster.wait":                {op: ClusterBarrier, may: gOrder | gAligned},
	"getctarank":                          {op: GetCTARank, may: gSpace, types: types(U32, U64), args: "ut"},
	"createpolicy.fractional":             {op: CreatePolicy, may: gCache | gPolicy, types: tB64, args: "df?", form: formDropped},
	"createpolicy.range":                  {op: CreatePolicy, may: gSpace | gCache | gPolicy, types: tB64, args: "daii", form: formDropped},
	"createpolicy.cvt":                    {op: CreatePolicy, may: gLevel, types: tB64, args: "dt", form: formDropped},
	"discard":                             {op: Nop, may: gSpace | gLevel, args: "am", form: formDropped},
	"applypriority":                       {op: Nop, may: gSpace | gLevel, args: "am", form: formDropped},
}

// gMbarrier is the groups of mbarrier operations.
const gMbarrier = gSpace | gOrder | gScope

var tB64 = types(B64)
