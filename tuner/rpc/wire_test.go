package rpc

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/rpc/intake"
)

// recorded is a message that programs of an earlier commit exchanged, as the bytes
// that it had and as they understood it. The files in testdata/wire are named after
// the commit; of each method they have at most six messages each way, of a sweep of 8
// configurations with two workers.
type recorded struct {
	Method string          `json:"method"`
	Kind   string          `json:"kind"` // request or response
	Bytes  string          `json:"bytes"`
	JSON   json.RawMessage `json:"json"`
}

func recordings(t *testing.T) map[string][]recorded {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "wire", "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings (%v)", err)
	}
	all := map[string][]recorded{}
	for _, name := range files {
		lines := bufio.NewScanner(bytes.NewReader(unpacked(t, name)))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var r recorded
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all[name] = append(all[name], r)
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// unpacked is what a compressed file holds.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return content
}

// message returns the type of a recorded message, as it is now.
func (r *recorded) message(t *testing.T) protoreflect.MessageType {
	t.Helper()
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(r.Method, "/"), "/", "."))
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		t.Fatalf("%s is served no more: %v", r.Method, err)
	}
	of := d.(protoreflect.MethodDescriptor).Input()
	if r.Kind == "response" {
		of = d.(protoreflect.MethodDescriptor).Output()
	}
	mt, err := protoregistry.GlobalTypes.FindMessageByName(of.FullName())
	if err != nil {
		t.Fatal(err)
	}
	return mt
}

// What programs of earlier commits send is understood as they meant it, field by
// field, and what they are sent of the same they understand too: the same fields have
// the same numbers and types.
func TestRecordedMessages(t *testing.T) {
	for name, all := range recordings(t) {
		methods := map[string]bool{}
		for i := range all {
			r := &all[i]
			methods[r.Method] = true
			content, err := base64.StdEncoding.DecodeString(r.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			mt := r.message(t)
			got, meant := mt.New().Interface(), mt.New().Interface()
			if err := proto.Unmarshal(content, got); err != nil {
				t.Errorf("%s: a %s of %s is not understood: %v", name, r.Kind, r.Method, err)
				continue
			}
			if err := protojson.Unmarshal(r.JSON, meant); err != nil {
				t.Errorf("%s: a %s of %s: %v", name, r.Kind, r.Method, err)
				continue
			}
			if !proto.Equal(got, meant) {
				t.Errorf("%s: a %s of %s is understood as\n%v\nmeant was\n%v", name, r.Kind, r.Method, got, meant)
			}
			if again, err := (proto.MarshalOptions{Deterministic: true}).Marshal(got); err != nil || !bytes.Equal(again, content) {
				t.Errorf("%s: a %s of %s is sent as %x, was %x (%v)", name, r.Kind, r.Method, again, content, err)
			}
			if m, ok := got.(*warptunev1.SynchronizeRequest); ok { // is read by hand
				checkByHand(t, content, m)
			}
		}
		if len(methods) < 15 {
			t.Errorf("%s has messages of %d methods only", name, len(methods))
		}
	}
}

// checkByHand compares what the codec makes of a request with what the library does.
func checkByHand(t *testing.T, content []byte, want *warptunev1.SynchronizeRequest) {
	t.Helper()
	got := &warptunev1.SynchronizeRequest{}
	if err := intake.NewCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(content)}, got); err != nil || !proto.Equal(got, want) {
		t.Errorf("read by hand it is\n%v\nwant\n%v (%v)", got, want, err)
	}
}
