// Package cache holds the tag state of an SM's first-level cache: which sectors
// of which lines are present, and when a pending fill arrives. It decides hits
// and misses and the victim; how long anything takes is the caller's.
//
// The second level is not here: a cycle-level run clocks one SM, and what the
// other SMs leave in L2 is estimated by package footprint.
package cache
