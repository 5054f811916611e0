package arch

import "fmt"

// mostCluster is the most CTAs of a cluster, more than 8 after opting in (CUDA C++ Programming Guide, thread
// block clusters).
const mostCluster = 16

// mostOfClusters is the CTAs of clusters of two and more that an SM holds at most. Of cluster_norm with CTAs of four
// warps an H100 holds 528 clusters of two and 248 of four (launch__cluster_max_active). That is 8 CTAs an SM, where
// warps and shared memory leave room for 13 and 16. 0.48 of its warps are active (deploy/calibrate clusters.held).
// The CUDA documentation does not name the limit.
const mostOfClusters = 8

// CheckCluster reports what keeps a grid from being launched in clusters, zeros for none: a *LaunchError where they
// are larger than the GPU has room for.
func CheckCluster(d *Descriptor, grid, cluster [3]int) error {
	n := ClusterCTAs(cluster)
	if n == 1 {
		return nil
	}
	if n < 1 {
		return fmt.Errorf("a cluster of %v blocks: each dimension must be at least 1", cluster)
	}
	most := mostCluster
	if d.Clusters2 == 0 {
		most = 1
	}
	if n > most {
		return &LaunchError{Arch: d.Name, Limit: LimitCluster, Want: n, Most: most, What: "blocks"}
	}
	for k, c := range cluster {
		if c > 0 && grid[k]%c != 0 {
			return fmt.Errorf("grid of %v blocks is not one of whole clusters of %v", grid, cluster)
		}
	}
	return nil
}

// ClusterCTAs is the CTAs of a cluster; 1 for zeros, 0 for what is none. Beyond a million it is a million.
func ClusterCTAs(cluster [3]int) int {
	const plenty = 1_000_000
	if cluster == [3]int{} {
		return 1
	}
	n := 1
	for _, c := range cluster {
		if c < 1 {
			return 0
		}
		n = min(n*min(c, plenty), plenty)
	}
	return n
}

// ClusterSMs is how many SMs clusters of so many CTAs fill: a cluster is in one GPC, and GPCs have room that no whole
// cluster fits into. Between the sizes measured the smaller one's leftover counts.
func (d *Descriptor) ClusterSMs(ctas int) int {
	sms := d.SMs
	for _, c := range [...]struct{ ctas, clusters int }{{2, d.Clusters2}, {4, d.Clusters4}, {8, d.Clusters8}, {16, d.Clusters16}} {
		if ctas >= c.ctas && c.clusters > 0 {
			sms = min(sms, c.ctas*c.clusters)
		}
	}
	return sms
}
