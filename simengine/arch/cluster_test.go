package arch

import (
	"errors"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
)

// Clusters fill as many SMs as an H100 and an H200 were seen to fill (deploy/calibrate cluster.resident, one CTA an SM).
func TestClustersThatFit(t *testing.T) {
	for _, name := range []string{"h100", "h200"} {
		d, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for ctas, clusters := range map[int]int{1: 132, 2: 66, 4: 30, 8: 15, 16: 7} {
			if got := d.ClusterSMs(ctas); got != ctas*clusters {
				t.Errorf("%s: clusters of %d fill %d SMs, measured %d", name, ctas, got, ctas*clusters)
			}
		}
	}
}

// An SM holds as many CTAs of clusters as an H100 says that it does (deploy/calibrate clusters.held).
func TestClustersHeldAgainstH100(t *testing.T) {
	type measurement struct {
		Name   string
		Params struct {
			Cluster, Warps int
			Registers      int `json:"by_registers"`
			Shared         int `json:"by_shared"`
		}
		Value float64
	}
	d, err := Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, m := range measured.Records[measurement](t, "../../deploy/calibrate/results/h100-pieces.jsonl.gz") {
		if m.Name != "clusters.held" {
			continue
		}
		p := m.Params
		o, err := Occupy(d, Kernel{Threads: 32 * p.Warps, Registers: 16, Cluster: p.Cluster}, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := float64(min(o.CTAs, p.Registers, p.Shared) * d.ClusterSMs(p.Cluster) / p.Cluster)
		if got > m.Value || got < 0.95*m.Value { // what is left of several GPCs may hold one more
			t.Errorf("%+v: %v clusters, measured %v", p, got, m.Value)
		}
		checked++
	}
	if checked < 8 {
		t.Errorf("%d measurements", checked)
	}
}

func TestCheckCluster(t *testing.T) {
	h100, _ := Load("h100")
	a100, _ := Load("a100")
	for _, c := range []struct {
		d             *Descriptor
		grid, cluster [3]int
		ok            bool
		want          int // of the limit it is beyond
	}{
		{h100, [3]int{64, 1, 1}, [3]int{}, true, 0},
		{h100, [3]int{64, 2, 1}, [3]int{4, 2, 1}, true, 0},
		{h100, [3]int{62, 1, 1}, [3]int{4, 1, 1}, false, 0},
		{h100, [3]int{64, 1, 1}, [3]int{32, 1, 1}, false, 32},
		{h100, [3]int{64, 1, 1}, [3]int{-1, 1, 1}, false, 0},
		{h100, [3]int{64, 1, 1}, [3]int{2, 0, 1}, false, 0},
		{h100, [3]int{64, 1, 1}, [3]int{1 << 30, 1 << 30, 1 << 30}, false, 1_000_000},
		{a100, [3]int{64, 1, 1}, [3]int{1, 1, 1}, true, 0},
		{a100, [3]int{64, 1, 1}, [3]int{2, 1, 1}, false, 2},
	} {
		err := CheckCluster(c.d, c.grid, c.cluster)
		var l *LaunchError
		if (err == nil) != c.ok || errors.As(err, &l) != (c.want > 0) || l != nil && l.Want != c.want {
			t.Errorf("%s, grid %v in clusters of %v: %v", c.d.Name, c.grid, c.cluster, err)
		}
	}
}
