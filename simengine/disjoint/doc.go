// Package disjoint keeps disjoint sets of small numbers, by union and find (Tarjan, JACM 22, 1975): which
// live ranges are one value, which instructions of memory share what they touch.
//
// It knows nothing of what the numbers stand for, and cannot take a set apart again.
package disjoint
