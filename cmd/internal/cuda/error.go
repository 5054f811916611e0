//go:build linux

package cuda

import "fmt"

// Error is a call that failed.
type Error struct {
	Call string
	Code int32
	Name string // e.g. CUDA_ERROR_ILLEGAL_ADDRESS
	Text string // what the driver says of it
	Log  string // what its compiler says, of a module
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s (%d), %s", e.Call, e.Name, e.Code, e.Text)
	if a := advice[e.Code]; a != "" {
		text += ": " + a
	}
	if e.Log != "" {
		text += ": " + e.Log
	}
	return text
}

// Codes that something follows from (CUresult).
const (
	OutOfMemory       = 2
	NoDevice          = 100
	InvalidImage      = 200
	NoBinary          = 209
	InvalidPTX        = 218
	UnsupportedPTX    = 222
	JITNotFound       = 221
	OutOfResources    = 701
	LaunchTimeout     = 702
	IllegalAddress    = 700
	Assert            = 710
	firstContextFault = 714 // CUDA_ERROR_HARDWARE_STACK_ERROR
	lastContextFault  = 721 // ... to CUDA_ERROR_CONTAINED
	tooLarge          = 720 // CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: a refusal among the faults
	uncorrectableECC  = 214
	nvlinkUncorrected = 220
)

// advice says what to do about an error.
var advice = map[int32]string{
	OutOfMemory:    "the GPU's memory is full: take a smaller problem, or end what else uses the GPU",
	3:              "the driver could not be started: does nvidia-smi work?",
	NoDevice:       "no GPU is visible: nvidia-smi lists those that there are, and CUDA_VISIBLE_DEVICES may hide them",
	NoBinary:       "the code is for another architecture",
	InvalidPTX:     "the driver's compiler refuses the PTX",
	JITNotFound:    "the driver's compiler is not installed (libnvidia-ptxjitcompiler.so.1): install it, or put ptxas in PATH",
	UnsupportedPTX: "the PTX is of a newer CUDA than the driver: install a newer driver, or put the ptxas of that CUDA in PATH",
	IllegalAddress: "the kernel accessed memory that it was not given",
	OutOfResources: "the launch takes more registers, shared memory or threads than there are",
	LaunchTimeout:  "the system ended the launch: a display's driver does not let one take long",
	tooLarge:       "the CTAs of a cooperative launch must all be resident together: launch fewer, or smaller ones",
	802:            "the GPUs are not ready yet: does the fabric manager run?",
	803:            "the driver's library and its kernel module are of different versions: start the machine again",
	804:            "the CUDA compatibility library does not support this GPU: use the library of the driver that is installed",
	999:            "the driver does not say why: does nvidia-smi work?",
}

// failure makes the error of a call.
func (d *Driver) failure(call string, code int32) *Error {
	e := &Error{Call: call, Code: code, Name: "unknown error", Text: "the driver does not know it"}
	var name, what *byte
	if call != "cuGetErrorName" && d.call("cuGetErrorName", uintptr(uint32(code)), ptr(&name)) == nil {
		e.Name = text(name)
	}
	if call != "cuGetErrorString" && e.Name != "unknown error" && d.call("cuGetErrorString", uintptr(uint32(code)), ptr(&what)) == nil {
		e.Text = text(what)
	}
	return e
}

// Fatal reports whether the context cannot be used after the error: the kernel
// faulted, and every further call fails.
func (e *Error) Fatal() bool {
	return e.Code == IllegalAddress || e.Code == LaunchTimeout || e.Code == Assert || e.Code == uncorrectableECC ||
		e.Code == nvlinkUncorrected || e.Code >= firstContextFault && e.Code <= lastContextFault && e.Code != tooLarge || e.Code == 999
}
