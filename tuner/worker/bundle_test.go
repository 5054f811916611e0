package worker

import (
	"fmt"
	"testing"
)

// Bundles of many kernels do not fill a worker's memory; those that are being
// fetched stay.
func TestFewBundlesAreKept(t *testing.T) {
	b := newBundles(nil, 0)
	b.cached["under way"] = &fetch{done: make(chan struct{})}
	large := make([]byte, keptBytes/4)
	for i := range 100 {
		b.evict()
		f := &fetch{done: make(chan struct{}), content: large[:len(large)>>(i%6)]}
		close(f.done)
		b.cached[fmt.Sprint(i)] = f
		bytes := 0
		for _, f := range b.cached {
			bytes += f.bytes()
		}
		if len(b.cached) > maxCached || bytes > keptBytes+len(large) {
			t.Fatalf("%d bundles of %d bytes are kept", len(b.cached), bytes)
		}
	}
	if b.cached["under way"] == nil || len(b.cached) < 4 {
		t.Errorf("%d bundles are left", len(b.cached))
	}
}
