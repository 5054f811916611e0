package main

import (
	"io"
	"testing"

	"github.com/warptune/warptune/deploy/deploytest"
)

// What deploy and docs ship starts this program with flags that it has.
func TestShippedCommandLinesParse(t *testing.T) {
	take := func(args []string) error {
		_, err := parse(args, io.Discard)
		return err
	}
	deploytest.Shipped(t, "../..", "coordinator", 6, take)
	if take([]string{"--no-such-flag"}) == nil {
		t.Error("a flag that does not exist is taken")
	}
}
