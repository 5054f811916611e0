package main

import "github.com/warptune/warptune/tuner/kernel/compile"

// compiler is the compile drivers that --compiler chooses.
func (a *app) compiler(choice string) (*compile.Compiler, error) {
	c, err := compile.New(compile.Options{Compiler: choice})
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}
