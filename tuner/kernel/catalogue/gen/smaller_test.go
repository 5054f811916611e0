package main

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/catalogue"
)

// A large archive that is compressed again holds the same PTX; a small one stays as it is.
func TestSmaller(t *testing.T) {
	if _, err := exec.LookPath("zstd"); err != nil {
		t.Skip("no zstd on this machine: ", err)
	}
	rng := rand.New(rand.NewPCG(1, 0))
	text := make([]byte, 2*largeArchive)
	for i := range text {
		text[i] = byte('a' + rng.IntN(26))
	}
	for _, size := range []int{10, len(text)} {
		archive, sum, err := catalogue.EncodeArchive([]catalogue.Variant{{Macros: `{"A":"1"}`, PTX: text[:size]}})
		if err != nil {
			t.Fatal(err)
		}
		again, newSum, err := smaller(archive, sum)
		if err != nil {
			t.Fatal(err)
		}
		if large := len(archive) >= largeArchive; large != (sum != newSum) {
			t.Errorf("%d bytes: digest %s, then %s", len(archive), sum, newSum)
		}
		variants, err := catalogue.DecodeArchive(again)
		if err != nil || len(variants) != 1 || string(variants[0].PTX) != string(text[:size]) {
			t.Error(fmt.Errorf("%d variants, %w", len(variants), err))
		}
	}
}
