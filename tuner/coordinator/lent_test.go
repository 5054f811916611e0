package coordinator

import (
	"errors"
	"testing"
)

// A bundle is in memory once, however many have it, and not when nobody does.
func TestBundlesAreShared(t *testing.T) {
	var l lent
	reads := 0
	read := func(string) ([]byte, error) { reads++; return []byte{1}, nil }
	var releases []func()
	var first []byte
	for range 100 {
		content, release, err := l.take("a", read)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = content
		}
		if &content[0] != &first[0] {
			t.Fatal("two have copies of their own")
		}
		releases = append(releases, release)
	}
	for i, release := range releases {
		if len(l.bundles) != 1 {
			t.Fatalf("after %d of %d have given it back it is gone", i, len(releases))
		}
		release()
		release() // again does nothing
	}
	if reads != 1 || len(l.bundles) != 0 {
		t.Errorf("it was read %d times, and %d are kept", reads, len(l.bundles))
	}
	if _, _, err := l.take("b", func(string) ([]byte, error) { return nil, errors.New("none") }); err == nil || len(l.bundles) != 0 {
		t.Errorf("a bundle that is not there: %v, %d are kept", err, len(l.bundles))
	}
}
