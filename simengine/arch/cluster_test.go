package arch

import (
	"errors"
	"testing"
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
