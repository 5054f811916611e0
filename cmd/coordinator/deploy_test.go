package main

import (
	"io"
	"testing"

	"github.com/warptune/warptune/deploy/deploytest"
)

// What deploy and docs ship starts this program with flags that it has.
func TestShippedCommandLinesParse(t *testing.T) {
	take := func(args []string) error {
		if len(args) > 0 && args[0] == "promote" {
			_, err := parsePromote(args[1:], io.Discard)
			return err
		}
		_, err := parse(args, io.Discard)
		return err
	}
	deploytest.Shipped(t, "../..", "coordinator", 6, take)
	if take([]string{"--no-such-flag"}) == nil {
		t.Error("a flag that does not exist is taken")
	}
}
