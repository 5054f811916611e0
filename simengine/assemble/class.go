package assemble

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
)

// Class is the pipe and behaviour of a machine instruction.
type Class = mir.Class

// Classes of machine instructions, as package mir describes them.
const (
	ClassInvalid      = mir.ClassInvalid
	ALU               = mir.ALU
	FMA               = mir.FMA
	FMAHeavy          = mir.FMAHeavy
	IMADWide          = mir.IMADWide
	IMADHigh          = mir.IMADHigh
	FP64              = mir.FP64
	Half              = mir.Half
	Tensor            = mir.Tensor
	TensorShort       = mir.TensorShort
	TensorSingle      = mir.TensorSingle
	TensorSingleShort = mir.TensorSingleShort
	TensorDouble      = mir.TensorDouble
	MUFU              = mir.MUFU
	XU                = mir.XU
	Uniform           = mir.Uniform
	S2R               = mir.S2R
	LDC               = mir.LDC
	Load              = mir.Load
	Store             = mir.Store
	Atomic            = mir.Atomic
	AsyncCopy         = mir.AsyncCopy
	Shuffle           = mir.Shuffle
	Vote              = mir.Vote
	Match             = mir.Match
	Barrier           = mir.Barrier
	Fence             = mir.Fence
	Branch            = mir.Branch
	Exit              = mir.Exit
	Control           = mir.Control
	Yield             = mir.Yield
	Wgmma             = mir.Wgmma
	WgmmaPart         = mir.WgmmaPart
	Bulk              = mir.Bulk
	Mbarrier          = mir.Mbarrier
	MbarWait          = mir.MbarWait
	ClusterBarrier    = mir.ClusterBarrier
	NumClasses        = mir.NumClasses
)

// Rule describes a rule of the model that Options.Without can name.
type Rule = rules.Info

// Rules returns the rules that can be left out.
func Rules() []Rule { return rules.All() }

// CheckRules reports an id in ids that is not one of a rule.
func CheckRules(ids []string) error {
	_, err := rules.Parse(ids)
	return err
}
