package kernel

import "testing"

func BenchmarkLaunch(b *testing.B) {
	d, _ := load(b, "filter.json")
	cfg := d.Default()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Launch(cfg, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, _, err := Load("testdata/filter.json"); err != nil {
			b.Fatal(err)
		}
	}
}
