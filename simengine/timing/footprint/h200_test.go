package footprint

import (
	"testing"

	"github.com/warptune/warptune/simengine/arch"
)

func h200(tb testing.TB) *arch.Descriptor {
	tb.Helper()
	d, err := arch.Load("h200")
	if err != nil {
		tb.Fatal(err)
	}
	return d
}
