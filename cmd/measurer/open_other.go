//go:build !linux

package main

import "errors"

func open(*options) (measurer, error) {
	return nil, errors.New("measuring is done on Linux only: run it on the machine that has the GPU")
}
