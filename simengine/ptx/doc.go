// Package ptx reads and prints PTX text: tokens, a syntax tree with positions,
// and diagnostics.
//
// It knows the grammar and not the meaning: opcodes, types and operands are
// kept as written, in order. Package ir gives them meaning. A tree that is
// printed and parsed again is the same tree.
package ptx
