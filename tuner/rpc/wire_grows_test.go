package rpc

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

// wire is what programs of other versions rely on, a line each: fields, values of
// enumerations, methods, each with its name, since JSON has that, and its number.
func wire() []string {
	lines := map[string]bool{}
	say := func(format string, args ...any) { lines[fmt.Sprintf(format, args...)] = true }
	enums := func(all protoreflect.EnumDescriptors) {
		for i := range all.Len() {
			for k := range all.Get(i).Values().Len() {
				v := all.Get(i).Values().Get(k)
				say("value %s.%s = %d", all.Get(i).FullName(), v.Name(), v.Number())
			}
		}
	}
	var messages func(all protoreflect.MessageDescriptors)
	messages = func(all protoreflect.MessageDescriptors) {
		for i := range all.Len() {
			m := all.Get(i)
			for k := range m.Fields().Len() {
				f := m.Fields().Get(k)
				of := f.Kind().String()
				if f.Message() != nil {
					of = string(f.Message().FullName())
				} else if f.Enum() != nil {
					of = string(f.Enum().FullName())
				}
				presence := ""
				if f.HasPresence() && f.Message() == nil {
					presence = ", may be absent"
				}
				say("field %s = %d, %s %s%s", f.FullName(), f.Number(), f.Cardinality(), of, presence)
			}
			messages(m.Messages())
			enums(m.Enums())
		}
	}
	for _, file := range []protoreflect.FileDescriptor{warptunev1.File_warptune_v1_sweep_proto, warptunev1.File_warptune_v1_types_proto, warptunev1.File_warptune_v1_worker_proto} {
		messages(file.Messages())
		enums(file.Enums())
		for i := range file.Services().Len() {
			for k := range file.Services().Get(i).Methods().Len() {
				m := file.Services().Get(i).Methods().Get(k)
				say("method %s(%s, stream %v) (%s, stream %v)", m.FullName(), m.Input().FullName(), m.IsStreamingClient(), m.Output().FullName(), m.IsStreamingServer())
			}
		}
	}
	return slices.Sorted(maps.Keys(lines))
}

// The protocol only grows: whatever an earlier version had is there, with its name, its
// number and its type, so that programs of neighbouring versions understand one another.
// The file in testdata/wire is named after the version; versions before it had nothing that it has not.
func TestWireOnlyGrows(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "wire", "*.txt.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no earlier versions (%v)", err)
	}
	now := wire()
	for _, name := range files {
		n := 0
		for line := range strings.Lines(string(unpacked(t, name))) {
			n++
			if line = strings.TrimSuffix(line, "\n"); !slices.Contains(now, line) {
				t.Errorf("of %s there is no more: %s", name, line)
			}
		}
		if n < 100 {
			t.Errorf("%s has %d lines only", name, n)
		}
	}
}
