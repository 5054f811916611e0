// Package expr reads and evaluates the Python expressions of kernel
// definitions: list literals and comprehensions, arithmetic, bits, comparisons,
// logic, membership, conditional expressions, indexing and a few builtins.
//
// It is a grammar of our own, never an interpreter: there are no attributes,
// assignments, lambdas or user functions, and every evaluation ends quickly
// (see the Max constants). Values mean what they mean in Python 3: / is true
// division, // and % round to minus infinity, and/or give an operand, True is
// 1, & | ^ ~ << >> work on integers of any sign. It differs in this: integers have 64 bits and
// overflow is an error, range and generator expressions are lists, and sets tuples.
//
// Parse gives an Expr, Compile binds its names to variables and gives a
// Program of closures, typed where the variables' kinds are known, that
// evaluates without allocating unless it makes lists.
package expr

// Limits on hostile expressions; beyond them is an error, never a hang.
const (
	MaxText  = 64 << 10 // bytes of an expression
	MaxDepth = 100      // nested brackets, operators and conditionals
	MaxList  = 1 << 20  // elements of one list
	MaxSteps = 1 << 21  // elements made and visited in one evaluation
)
