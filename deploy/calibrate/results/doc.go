// Package results is what was measured and bisected, and reads it and the records of the measured data sets for tests. How
// they were made is told in ../README.md.
package results
