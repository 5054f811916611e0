package exec

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/racecheck"
)

// With Options.Warn what need not end a kernel is noted once for each instruction, and the kernel
// goes on: with zeros, without stores, with what is there. Without it, it is a fault.
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		name, body string
		kinds      []fault.Kind
		want       func(tid uint32) uint32 // out
		fault      bool                    // with Warn too
	}{
		{"a read before the buffer that is not used", "ld.global.u32 %r1, [%rd4+-64];\nsetp.lt.u32 %p0, %r0, 16;\nselp.u32 %r1, 5, %r1, %p0;\nst.global.u32 [%rd3], %r1;",
			[]fault.Kind{fault.OutOfBounds}, func(i uint32) uint32 {
				if i < 16 {
					return 5
				}
				return i - 16
			}, false},
		{"a read past the buffer, in a loop", "mov.u32 %r2, 0;\nmov.u32 %r5, 0;\nadd.s64 %rd4, %rd4, 8064;\nl:\nld.global.u32 %r1, [%rd4];\nadd.u32 %r5, %r5, %r1;\nadd.s64 %rd4, %rd4, 128;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 4;\n@%p0 bra l;\nst.global.u32 [%rd3], %r5;",
			[]fault.Kind{fault.OutOfBounds}, func(i uint32) uint32 {
				if i < 32 {
					return 2016 + i
				}
				return 0
			}, false},
		{"a store past the buffer, and an atomic", "mov.u32 %r9, 3;\nst.global.u32 [%rd3+8192], 1;\natom.global.add.u32 %r9, [%rd3+8192], 1;\nst.global.u32 [%rd3], %r9;", []fault.Kind{fault.OutOfBounds, fault.OutOfBounds}, func(uint32) uint32 { return 0 }, false},
		{"shared memory", "mov.u32 %r9, 3;\nst.shared.u32 [%r31+4000], 1;\nld.shared.u32 %r9, [%r31+4000];\nst.global.u32 [%rd3], %r9;", []fault.Kind{fault.OutOfBounds, fault.OutOfBounds}, func(i uint32) uint32 {
			if i < 24 {
				return 1
			}
			return 0
		}, false},
		{"an asynchronous copy", "shl.b32 %r5, %r0, 4;\nadd.u32 %r5, %r29, %r5;\nst.shared.u32 [%r5+4], 9;\nmul.wide.u32 %rd5, %r0, 16;\nadd.s64 %rd5, %rd1, %rd5;\ncp.async.ca.shared.global [%r5], [%rd5+7680], 16;\ncp.async.wait_all;\nld.shared.u32 %r1, [%r5+4];\nst.global.u32 [%rd3], %r1;",
			[]fault.Kind{fault.OutOfBounds}, func(i uint32) uint32 {
				if i < 32 {
					return 1920 + 4*i + 1
				}
				return 0
			}, false},
		{"a race in shared memory", "st.shared.u32 [buf], %r0;\nst.global.u32 [%rd3], 4;", []fault.Kind{fault.Race}, func(uint32) uint32 { return 4 }, false},
		{"a race in device memory", "st.global.u32 [%rd0+4096], %r0;\nst.global.u32 [%rd3], 4;", []fault.Kind{fault.Race}, func(uint32) uint32 { return 4 }, false},
		{"an uninitialised read", "ld.shared.u32 %r1, [%r31];\nadd.u32 %r1, %r1, 4;\nst.global.u32 [%rd3], %r1;", []fault.Kind{fault.Uninitialised}, func(uint32) uint32 { return 4 }, false},
		{"misaligned", "ld.global.u32 %r1, [%rd4+2];", nil, nil, true},
		{"a divergent barrier", "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra past;\nbar.sync 0;\npast:\nst.global.u32 [%rd3], %r0;", nil, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := buildKernel(t, "k.ptx", []byte(bodyKernel("", c.body)))
			l, m := launchBody(t, k, 64)
			opt := Options{GlobalRaces: racecheck.New(0), Uninitialised: true}
			r := NewRunner(compileFor(t, k, Full))
			var f *fault.Fault
			if err := r.Run(l, m, 0, opt, nil); !errors.As(err, &f) || c.kinds != nil && f.Kind != c.kinds[0] {
				t.Fatalf("without Warn: %v", err)
			}
			m.Reset()
			opt.Warn, opt.GlobalRaces = true, racecheck.New(0)
			for range 2 { // once is enough
				if err := r.Run(l, m, 0, opt, nil); (err != nil) != c.fault {
					t.Fatalf("with Warn: %v", err)
				}
			}
			if c.fault {
				return
			}
			warned := r.Warnings()
			for i := range warned {
				if len(warned) != len(c.kinds) || warned[i].Kind != c.kinds[i] {
					t.Fatalf("warnings %v, want %v", &warned[i], c.kinds)
				}
			}
			data, err := m.ReadBuffer("out")
			if err != nil || len(warned) == 0 {
				t.Fatal(len(warned), " warnings: ", err)
			}
			for i := range uint32(64) {
				if got := binary.LittleEndian.Uint32(data[4*i:]); got != c.want(i) {
					t.Fatalf("out[%d] is %d, want %d", i, got, c.want(i))
				}
			}
		})
	}
}
