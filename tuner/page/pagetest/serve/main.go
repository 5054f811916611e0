// Command serve serves the page over synthetic sweeps, for work on its front end.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/page/pagetest"
)

func main() {
	rows := flag.Int64("rows", 100_000, "configurations of the large sweep")
	listen := flag.String("listen", "localhost:8099", "address")
	flag.Parse()
	server := &http.Server{Addr: *listen, Handler: page.Handler(pagetest.New(*rows, time.Now), page.Options{}), ReadHeaderTimeout: 5 * time.Second}
	fmt.Fprintf(os.Stderr, "http://%s/\n", *listen)
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}
