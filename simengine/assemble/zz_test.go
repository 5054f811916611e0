package assemble

import (
	"archive/zip"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

func zzKernel(t *testing.T, z *zip.ReadCloser, name string) *ir.Kernel {
	f, err := z.Open(name + ".ptx")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, _ := io.ReadAll(f)
	tree, err := ptx.Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ir.Build(tree)
	if err != nil {
		t.Fatal(err)
	}
	return m.Kernels[0].Unrolled()
}

func TestZZ(t *testing.T) {
	name := os.Getenv("ZZ_PTX")
	if name == "" {
		t.Skip()
	}
	z, _ := zip.OpenReader("/work/shared/silicon/h200/ptx.zip")
	k := zzKernel(t, z, name)
	limit, _ := strconv.Atoi(os.Getenv("ZZ_CAP"))
	n, _ := strconv.Atoi(os.Getenv("ZZ_N"))
	for range n {
		if _, err := Assemble(k, Options{CC: [2]int{9, 0}, MaxRegisters: limit}); err != nil {
			t.Fatal(err)
		}
	}
}

// ZZ_ALL=out: a digest of every program of the data set and of clang's.
func TestZZAll(t *testing.T) {
	out := os.Getenv("ZZ_ALL")
	if out == "" {
		t.Skip()
	}
	w, _ := os.Create(out)
	defer w.Close()
	var sum float64
	for _, set := range []string{"", "-clang"} {
		z, _ := zip.OpenReader("/work/shared/silicon/h200/ptx" + set + ".zip")
		f, _ := os.Open("/work/shared/silicon/h200/timings" + set + ".jsonl.gz")
		g, _ := gzip.NewReader(f)
		s := bufio.NewScanner(g)
		s.Buffer(make([]byte, 1<<20), 1<<20)
		keys := map[string]bool{}
		for s.Scan() {
			var r struct {
				PTX    string
				Params map[string]any
			}
			if err := json.Unmarshal(s.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			c, _ := r.Params["max_registers"].(float64)
			keys[fmt.Sprintf("%s %03d", r.PTX, int(c))] = true
		}
		var list []string
		for k := range keys {
			list = append(list, k)
		}
		sort.Strings(list)
		last, every := "", 1
		if e := os.Getenv("ZZ_EVERY"); e != "" {
			every, _ = strconv.Atoi(e)
		}
		var k *ir.Kernel
		for i, key := range list {
			if i%every != 0 {
				continue
			}
			p := strings.Fields(key)
			if p[0] != last {
				k, last = zzKernel(t, z, p[0]), p[0]
			}
			c, _ := strconv.Atoi(p[1])
			var a, b syscall.Rusage
			syscall.Getrusage(1, &a)
			prog, err := Assemble(k, Options{CC: [2]int{9, 0}, MaxRegisters: c})
			syscall.Getrusage(1, &b)
			sum += float64(b.Utime.Sec-a.Utime.Sec) + float64(b.Utime.Usec-a.Utime.Usec)/1e6
			if err != nil {
				t.Fatal(err)
			}
			q := *prog
			q.Kernel = nil
			h := sha256.Sum256([]byte(fmt.Sprintf("%+v", q)))
			fmt.Fprintf(w, "%s %x %d %d\n", key, h[:8], q.Registers, q.SpillBytes)
		}
	}
	fmt.Printf("assemble user %.2f s\n", sum)
}
