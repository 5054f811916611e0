package tunertest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Environment variables of tests with random faults.
const (
	longEnv = "WARPTUNE_SOAK" // any value: the long forms, as make soak runs them
	seedEnv = "WARPTUNE_SEED" // the seed to replay
)

// Times returns how often a test does a thing: short times in go test, long
// times in make soak.
func Times(short, long int) int {
	if os.Getenv(longEnv) != "" {
		return long
	}
	return short
}

// IsLong reports whether an entry of the environment asks for the long forms.
func IsLong(entry string) bool { return strings.HasPrefix(entry, longEnv+"=") }

// Seed returns a test's seed: a new one, or the one to replay. It is logged, so
// that a failure says how to replay it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(seedEnv); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
	}
	t.Logf("seed: %s=%d replays it", seedEnv, seed)
	return seed
}

// Rand returns random numbers from Seed.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Seed(t), 1))
}
