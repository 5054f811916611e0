package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// inTerms says a failure that comes of the launch's arguments in terms of the
// definition: which field to look at, by the names that its author gave. The simulator
// knows parameters and buffers, not the definition that they come from.
func inTerms(err error, l *call.Launch) error {
	var f *simengine.Failure
	if !errors.As(err, &f) {
		return err
	}
	var (
		fault    *fault.Fault
		argument *memory.ArgumentError
		variable *memory.VariableError
		memory   *simengine.MemoryError
		text     string
	)
	switch {
	case errors.As(err, &fault):
		text = faulted(fault, l)
	case errors.As(err, &argument):
		text = misfit(argument, l)
	case errors.As(err, &variable):
		text = unfilled(variable, l)
	case errors.As(err, &memory):
		text = overfull(memory, l)
	}
	if text == "" {
		return err
	}
	return &simengine.Failure{Kind: f.Kind, Err: errors.New(text)}
}

// misfit says which argument is not what the kernel takes; "" where that is not known.
func misfit(e *memory.ArgumentError, l *call.Launch) string {
	if e.Index < 0 {
		return miscounted(e, l)
	}
	if e.Index >= len(l.Args) || len(l.Constants) > 0 && l.Constants[0].Position <= e.Index {
		return "" // behind a constant the position tells only if the kernel takes constants
	}
	a := &l.Args[e.Index]
	if e.Taken != ir.NumberUnknown {
		return fmt.Sprintf("%s: %s is %s, but that parameter of kernel %s (%s) is %s: is its Type right, and the order of Arguments that of the parameters?",
			field(l, a, ".Type"), a.TypeName(), e.Passed, cmp.Or(l.KernelName, e.Kernel), e.Param, e.Taken)
	}
	if e.Given == 0 {
		return fmt.Sprintf("%s: a Vector is passed as an address of 8 bytes, but that parameter of kernel %s has %d: is it a Scalar?", field(l, a, ""), cmp.Or(l.KernelName, e.Kernel), e.Want)
	}
	text := fmt.Sprintf("%s: a scalar of %s has %d bytes, but that parameter of kernel %s has %d", field(l, a, ".Type"), a.TypeName(), e.Given, cmp.Or(l.KernelName, e.Kernel), e.Want)
	if e.Want > 4 && e.Want != 8 && !l.Recorded {
		text += ": is it a vector, such as int3, or a structure, whose Type is custom and which has Fields, or bytes in a file (FillType BinaryRaw)?"
	}
	return text
}

func miscounted(e *memory.ArgumentError, l *call.Launch) string {
	names := make([]string, len(l.Args))
	for i, a := range l.Args {
		names[i] = a.Name
	}
	listed, which := "none", ""
	if l.Recorded {
		return fmt.Sprintf("kernel %s takes %d arguments, but the launch record's args and trailing_params are %d: %s", cmp.Or(l.KernelName, e.Kernel), e.Want, len(names), strings.Join(names, ", "))
	}
	if len(names) > 0 {
		listed, which = strconv.Itoa(len(names)), ": "+strings.Join(names, ", ")
	}
	text := fmt.Sprintf("kernel %s takes %d arguments, but KernelSpecification.Arguments lists %s that are not Constant memory%s", cmp.Or(l.KernelName, e.Kernel), e.Want, listed, which)
	if e.Given > e.Want {
		text += ": those of a structure by value are the Fields of one Argument, whose Type is custom"
	}
	return text
}

// unfilled says which argument in constant memory the source has no room for.
func unfilled(e *memory.VariableError, l *call.Launch) string {
	for i := range l.Constants {
		a := &l.Constants[i]
		switch {
		case a.Name != e.Variable:
		case e.Size == 0:
			return fmt.Sprintf("%s: the source has no __constant__ variable of that name", field(l, a, ".Name"))
		default:
			return fmt.Sprintf("%s: %v", field(l, a, ".Size"), e)
		}
	}
	return ""
}

// overfull says which argument is larger than the GPU's memory.
func overfull(e *simengine.MemoryError, l *call.Launch) string {
	a := holder(l, e.Buffer)
	if a == nil {
		return where(l) + ": " + e.Error()
	}
	if e.Managed {
		return fmt.Sprintf("%s: %v", field(l, a, ".Size"), e)
	}
	return fmt.Sprintf("%s: %d elements of %s are %d bytes, more than the %d bytes of memory of %s", field(l, a, ".Size"), a.Count, a.TypeName(), e.Bytes, e.Has, e.Device)
}

// faulted adds to a fault the argument whose buffer an access is next to.
func faulted(f *fault.Fault, l *call.Launch) string {
	a := holder(l, f.Buffer)
	switch {
	case a == nil:
		return ""
	case f.Before:
		return fmt.Sprintf("%v; the buffer is %s", f, field(l, a, ""))
	}
	return fmt.Sprintf("%v; %s gives it %d elements", f, field(l, a, ".Size"), a.Count)
}

// holder finds the argument of a buffer; nil: it is none's. Kernels that take constants as
// parameters, too, have all of the definition's, in its order.
func holder(l *call.Launch, buffer string) *call.Arg {
	for i := range l.Args {
		if simengine.BufferName(i, l.Args[i].Name) == buffer {
			return &l.Args[i]
		}
	}
	for _, list := range [][]call.Arg{l.Args, l.Constants} {
		for i := range list {
			if simengine.BufferName(list[i].Position, list[i].Name) == buffer {
				return &list[i]
			}
		}
	}
	return nil
}

// field is an argument's field as errors name it, and whose it is.
func field(l *call.Launch, a *call.Arg, name string) string {
	if l.Recorded {
		return fmt.Sprintf("args[%d]%s (%s)", a.Position, strings.ToLower(strings.Replace(name, "Size", "count", 1)), a.Name)
	}
	return fmt.Sprintf("KernelSpecification.Arguments[%d]%s (%s)", a.Position, name, a.Name)
}

// where is what holds a launch's arguments.
func where(l *call.Launch) string {
	if l.Recorded {
		return "args"
	}
	return "KernelSpecification.Arguments"
}
