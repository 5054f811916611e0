// Package replay judges strategies on recorded spaces: every configuration was
// measured once, a strategy asks, the record answers. It reads the records from
// io.Readers, runs strategies with budgets and seeds, and scores and plots what
// they find.
//
// It knows no strategy by name, measures no time (a budget counts evaluations),
// and neither opens nor writes files.
package replay
