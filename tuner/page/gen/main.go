// Command gen bundles tuner/page/web into tuner/page/dist, which is committed, so that whoever builds warptune needs
// no Node. The packages that the lock file names must be there: make page.
package main

import (
	"fmt"
	"os"

	"github.com/warptune/warptune/tuner/page/bundle"
)

//go:generate go run .

func main() {
	if err := write("../web", "../dist"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(web, dist string) error {
	files, err := bundle.Build(web)
	if err != nil {
		return err
	}
	return bundle.Write(dist, files)
}
