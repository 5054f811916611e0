// Package deploytest finds the command lines of warptune's programs in what
// deploy and docs ship, so that tests can hand them to the programs' own
// parsers. It runs nothing.
package deploytest
