// Package sampling chooses the CTAs that stand for a grid.
//
// Where all CTAs execute the same, one in the middle of the grid stands for all. Where their work depends on where
// they are or on what they read (escape times, triangular matrices, sparse rows), some are chosen by stratified
// sampling. The lengths of many CTAs are found, at a fraction of the cost of traces, and the CTAs that are traced
// are as long in the mean as all of these.
package sampling
