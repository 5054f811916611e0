package lower

import "github.com/warptune/warptune/simengine/ir"

// Asynchronous copies and MMAs, mbarriers, clusters, and tensor maps. What is written in one way
// only stands here with all its modifiers.
var asyncSpecs = map[string]*spec{
	"wgmma.mma_async":                 {op: ir.Wgmma, form: formWgmma},
	"wgmma.fence.sync.aligned":        {op: ir.WgmmaFence},
	"wgmma.commit_group.sync.aligned": {op: ir.WgmmaCommit},
	"wgmma.wait_group.sync.aligned":   {op: ir.WgmmaWait, args: "m"},

	"mbarrier.init":                  {op: ir.MbarInit, may: gSpace, types: tB64, args: "ai"},
	"mbarrier.inval":                 {op: ir.MbarInval, may: gSpace, types: tB64, args: "a"},
	"mbarrier.expect_tx":             {op: ir.MbarExpect, may: gMbarrier, types: tB64, args: "ai"},
	"mbarrier.complete_tx":           {op: ir.MbarExpect, may: gMbarrier, types: tB64, args: "ai", mod: ir.ModDone},
	"mbarrier.arrive":                {op: ir.MbarArrive, may: gMbarrier | gComplete, types: tB64, args: "dai?", form: formArrive},
	"mbarrier.arrive.expect_tx":      {op: ir.MbarArrive, may: gMbarrier, types: tB64, args: "dai", mod: ir.ModTx, form: formArrive},
	"mbarrier.arrive_drop":           {op: ir.MbarArrive, may: gMbarrier | gComplete, types: tB64, args: "dai?", mod: ir.ModDrop, form: formArrive},
	"mbarrier.arrive_drop.expect_tx": {op: ir.MbarArrive, may: gMbarrier, types: tB64, args: "dai", mod: ir.ModDrop | ir.ModTx, form: formArrive},
	"mbarrier.test_wait":             {op: ir.MbarWait, may: gMbarrier, types: tB64, args: "oat"},
	"mbarrier.test_wait.parity":      {op: ir.MbarWait, may: gMbarrier, types: tB64, args: "oai", mod: ir.ModParity},
	"mbarrier.try_wait":              {op: ir.MbarWait, may: gMbarrier, types: tB64, args: "oati?", mod: ir.ModTry},
	"mbarrier.try_wait.parity":       {op: ir.MbarWait, may: gMbarrier, types: tB64, args: "oaii?", mod: ir.ModTry | ir.ModParity},
	"cp.async.mbarrier.arrive":       {op: ir.CpAsyncArrive, may: gSpace, types: tB64, args: "a"},
	"cp.async.mbarrier.arrive.noinc": {op: ir.CpAsyncArrive, may: gSpace, types: tB64, args: "a", mod: ir.ModAll},

	"cp.async.bulk":                 {op: ir.BulkCopy, form: formBulk},
	"cp.reduce.async.bulk":          {op: ir.BulkCopy, form: formBulk},
	"cp.async.bulk.prefetch":        {op: ir.BulkPrefetch, form: formBulk},
	"cp.async.bulk.commit_group":    {op: ir.BulkCommit},
	"cp.async.bulk.wait_group":      {op: ir.BulkWait, args: "m"},
	"cp.async.bulk.wait_group.read": {op: ir.BulkWait, args: "m", mod: ir.ModRead},

	"fence.proxy":                         {op: ir.FenceProxy, form: formFenceProxy},
	"fence.mbarrier_init.release.cluster": {op: ir.FenceProxy, form: formFenceProxy},
	"tensormap.replace.tile":              {op: ir.TensormapSet, form: formTensormapSet},
	"tensormap.cp_fenceproxy":             {op: ir.TensormapCopy, form: formTensormapCopy},
	"prefetch.tensormap":                  {op: ir.Prefetch, args: "a"},
	"prefetch.param.tensormap":            {op: ir.Prefetch, args: "a"},
	"prefetch.param::entry.tensormap":     {op: ir.Prefetch, args: "a"},
	"prefetch.const.tensormap":            {op: ir.Prefetch, args: "a"},
	"setmaxnreg.inc.sync.aligned.u32":     {op: ir.Setmaxnreg, args: "m", mod: ir.ModInc},
	"setmaxnreg.dec.sync.aligned.u32":     {op: ir.Setmaxnreg, args: "m"},
	"barrier.cluster.arrive":              {op: ir.ClusterBarrier, may: gOrder | gAligned, mod: ir.ModArrive},
	"barrier.cluster.wait":                {op: ir.ClusterBarrier, may: gOrder | gAligned},
	"getctarank":                          {op: ir.GetCTARank, may: gSpace, types: types(ir.U32, ir.U64), args: "ut"},
	"createpolicy.fractional":             {op: ir.CreatePolicy, may: gCache | gPolicy, types: tB64, args: "df?", form: formDropped},
	"createpolicy.range":                  {op: ir.CreatePolicy, may: gSpace | gCache | gPolicy, types: tB64, args: "daii", form: formDropped},
	"createpolicy.cvt":                    {op: ir.CreatePolicy, may: gLevel, types: tB64, args: "dt", form: formDropped},
	"discard":                             {op: ir.Nop, may: gSpace | gLevel, args: "am", form: formDropped},
	"applypriority":                       {op: ir.Nop, may: gSpace | gLevel, args: "am", form: formDropped},
}

// gMbarrier is the groups of mbarrier operations.
const gMbarrier = gSpace | gOrder | gScope

var tB64 = types(ir.B64)
