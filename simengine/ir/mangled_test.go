package ir

import (
	"testing"

	"github.com/warptune/warptune/simengine/ir/demangle"
)

// TestKernelNames finds kernels by the names that sources give them.
func TestKernelNames(t *testing.T) {
	all := []string{
		"plain", "_Z9transposePfS_", "_ZN6nested5inner6plain2EPfPKfS2_i", "_ZN6nested5inner4vaddIiLi8EEEvPT_", "_ZN6nested5inner4vaddIfLi4EEEvPT_",
		"_Z4vaddIfEvPT_PKS0_S3_i", "_ZL8k_staticPf", "_ZL10k_static_tILi4EEvPf", "_ZN2ns4k_nsEPf", "_ZN12_GLOBAL__N_16k_anonEPf", "_Z3k_tIfEvPT_", "_Z3k_tIiEvPT_",
		"_Z1kILin1ELb1EEvPf", "_Z5typedI6__halfEvPT_", "_Z10overloadedPf", "_Z10overloadedPd", "_ZN1a3addEPf", "_Z3addPf", "_Z7pointerIPfEvT_",
	}
	for name, want := range map[string]string{
		"plain": "plain", "transpose": "_Z9transposePfS_", "nested::inner::plain2": "_ZN6nested5inner6plain2EPfPKfS2_i", "plain2": "_ZN6nested5inner6plain2EPfPKfS2_i",
		"inner::plain2": "_ZN6nested5inner6plain2EPfPKfS2_i", "::nested::inner::plain2": "_ZN6nested5inner6plain2EPfPKfS2_i",
		"nested::inner::vadd<int, 8>": "_ZN6nested5inner4vaddIiLi8EEEvPT_", "nested::inner::vadd<float,4u>": "_ZN6nested5inner4vaddIfLi4EEEvPT_", "nested :: inner :: vadd< float, TILE >": "_ZN6nested5inner4vaddIfLi4EEEvPT_",
		"vadd<float>": "_Z4vaddIfEvPT_PKS0_S3_i", "k_static": "_ZL8k_staticPf", "k_static_t<4>": "_ZL10k_static_tILi4EEvPf", "k_static_t": "_ZL10k_static_tILi4EEvPf",
		"ns::k_ns": "_ZN2ns4k_nsEPf", "k_ns": "_ZN2ns4k_nsEPf", "k_anon": "_ZN12_GLOBAL__N_16k_anonEPf", "k_t<float>": "_Z3k_tIfEvPT_", "k<-1, true>": "_Z1kILin1ELb1EEvPf",
		"typed<__half>": "_Z5typedI6__halfEvPT_", "typed<T>": "_Z5typedI6__halfEvPT_", "add": "_Z3addPf", "a::add": "_ZN1a3addEPf", "pointer<float *>": "_Z7pointerIPfEvT_",
	} {
		if got, err := pickName("m", all, name); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"k_t", "overloaded", "plai", "k_t<double>", "k<-1, false>", "b::add", "nested::plain2", "static", "k_static<4>", "<", "::", "k_t<", ""} {
		if got, err := pickName("m", all, name); err == nil {
			t.Errorf("%q: %q, want an error", name, got)
		}
	}
}

// FuzzDemangle: no name ends the program.
func FuzzDemangle(f *testing.F) {
	for _, s := range []string{"_Z1kILin1ELb1EEvPf", "_ZN2ns4k_nsEPf", "_Z9", "_ZN", "_Z1kIL", "_Z99999999999999999999k"} {
		f.Add(s, "k<1>")
	}
	f.Fuzz(func(t *testing.T, mangled, name string) {
		if fn, ok := demangle.Parse(mangled); ok {
			fn.Called(name)
		}
		_, _ = pickName("m", []string{mangled}, name)
	})
}
