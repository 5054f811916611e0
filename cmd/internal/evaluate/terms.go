package evaluate

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/tuner/kernel"
)

// What the simulator says of a launch's arguments. It knows parameters and
// buffers, not the definition that they come from; tests hold the wording.
var (
	saysCount    = regexp.MustCompile(`^kernel \S+ takes (\d+) arguments, got (\d+)$`)
	saysSize     = regexp.MustCompile(`^kernel \S+ argument (\d+) \(.*\): (?:a buffer|(?:a scalar of )?(\d+) bytes) for a parameter of (\d+)(?: bytes)?$`)
	saysOutside  = regexp.MustCompile(`(?:past|crosses) the end of buffer argument (\d+) \((.*)\) \(0x`)
	saysBefore   = regexp.MustCompile(`bytes before buffer argument (\d+) \((.*)\) \(0x`)
	saysVariable = regexp.MustCompile(`^the module has no variable "(.*)"$`)
	saysRoom     = regexp.MustCompile(`^variable (.*): \d+ elements of \d+ bytes do not fit its \d+ bytes$`)
)

// inTerms says a failure that comes of the launch's arguments in terms of the
// definition: which field to look at, by the names that its author gave.
func inTerms(err error, l *kernel.Launch) error {
	var f *simengine.Failure
	if !errors.As(err, &f) {
		return err
	}
	if text := translated(err, l); text != "" {
		return &simengine.Failure{Kind: f.Kind, Err: errors.New(text)}
	}
	return err
}

func translated(err error, l *kernel.Launch) string {
	text := err.Error()
	var fault *exec.Fault
	if errors.As(err, &fault) {
		return faulted(text, fault, l)
	}
	if m := saysCount.FindStringSubmatch(text); m != nil {
		names := make([]string, len(l.Args))
		for i, a := range l.Args {
			names[i] = a.Name
		}
		listed := "none"
		if len(names) > 0 {
			listed = strconv.Itoa(len(names))
		}
		text = fmt.Sprintf("kernel %s takes %s arguments, but KernelSpecification.Arguments lists %s that are not Constant memory", l.KernelName, m[1], listed)
		if len(names) > 0 {
			text += ": " + strings.Join(names, ", ")
		}
		return text
	}
	if m := saysSize.FindStringSubmatch(text); m != nil {
		a := given(l, m[1], "")
		switch {
		case a == nil:
			return ""
		case m[2] == "":
			return fmt.Sprintf("%s: a Vector is passed as an address of 8 bytes, but that parameter of kernel %s has %s: is it a Scalar?", field(a, ""), l.KernelName, m[3])
		}
		return fmt.Sprintf("%s: a scalar of %s has %s bytes, but that parameter of kernel %s has %s", field(a, ".Type"), a.Type, m[2], l.KernelName, m[3])
	}
	for i := range l.Constants {
		a := &l.Constants[i]
		if m := saysVariable.FindStringSubmatch(text); m != nil && m[1] == a.Name {
			return fmt.Sprintf("%s: the source has no __constant__ variable of that name", field(a, ".Name"))
		}
		if m := saysRoom.FindStringSubmatch(text); m != nil && m[1] == a.Name {
			return fmt.Sprintf("%s: %s", field(a, ".Size"), text)
		}
	}
	return ""
}

// faulted adds the argument that an access is next to.
func faulted(text string, fault *exec.Fault, l *kernel.Launch) string {
	if fault.Kind != exec.OutOfBounds {
		return ""
	}
	if m := saysOutside.FindStringSubmatch(fault.Detail); m != nil {
		if a := given(l, m[1], m[2]); a != nil {
			return fmt.Sprintf("%s; %s gives it %d elements", text, field(a, ".Size"), a.Count)
		}
	}
	if m := saysBefore.FindStringSubmatch(fault.Detail); m != nil {
		if a := given(l, m[1], m[2]); a != nil {
			return fmt.Sprintf("%s; the buffer is %s", text, field(a, ""))
		}
	}
	return ""
}

// given finds the argument of a parameter's number. Kernels that take constants as
// parameters too have all of the definition's, in its order.
func given(l *kernel.Launch, number, name string) *kernel.Arg {
	n, err := strconv.Atoi(number)
	if err != nil {
		return nil
	}
	if name == "" && len(l.Constants) > 0 && l.Constants[0].Position <= n {
		return nil // its position tells only if the kernel takes the constants
	}
	if n < len(l.Args) && (name == "" || l.Args[n].Name == name) {
		return &l.Args[n]
	}
	for _, list := range [][]kernel.Arg{l.Args, l.Constants} {
		for i := range list {
			if list[i].Position == n && list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// field is an argument's field as errors name it, and whose it is.
func field(a *kernel.Arg, name string) string {
	return fmt.Sprintf("KernelSpecification.Arguments[%d]%s (%s)", a.Position, name, a.Name)
}
