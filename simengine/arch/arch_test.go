package arch

import "testing"

func TestLoadsAll(t *testing.T) {
	if _, err := embedded(); err != nil {
		t.Fatal(err)
	}
}
