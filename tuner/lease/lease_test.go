package lease

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A table agrees with a model that is a plain list, whatever happens.
func TestAgreesWithAList(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	const ttl = 10 * time.Second
	now := time.Unix(1000, 0)
	table := NewTable(ttl, 100)
	var model []Lease
	fresh := map[uint64]bool{} // tokens granted or renewed since the round began
	last := uint64(100)
	find := func(k Key) int { return slices.IndexFunc(model, func(l Lease) bool { return l.Key == k }) }
	for range 20000 {
		key := Key{Sweep: uint64(rng.IntN(2)), Seq: int64(rng.IntN(30))}
		who := []string{"a", "b"}[rng.IntN(2)]
		at := find(key)
		token := uint64(0)
		if at >= 0 {
			token = model[at].Token - uint64(rng.IntN(2))
		}
		mine := at >= 0 && model[at].Token == token && model[at].Holder == who
		switch rng.IntN(8) {
		case 0, 1:
			l := table.Grant(now, key, who)
			fresh[l.Token] = true
			if l.Token <= last {
				t.Fatalf("token %d follows %d", l.Token, last)
			}
			last = l.Token
			if at >= 0 {
				model = slices.Delete(model, at, at+1)
			}
			model = append(model, Lease{key, l.Token, who, now.Add(ttl)})
		case 2:
			err := table.Renew(now, key, token, who)
			if want := wantErr(at >= 0, mine); !errors.Is(err, want) {
				t.Fatalf("renew gives %v, want %v", err, want)
			}
			if mine {
				model[at].Deadline = now.Add(ttl)
				fresh[token] = true
			}
		case 3:
			err := table.Release(key, token, who)
			if want := wantErr(at >= 0, mine); !errors.Is(err, want) {
				t.Fatalf("release gives %v, want %v", err, want)
			}
			if mine {
				model = slices.Delete(model, at, at+1)
			}
		case 4:
			now = now.Add(time.Duration(rng.IntN(4000)) * time.Millisecond)
			var want []Lease
			model = slices.DeleteFunc(model, func(l Lease) bool {
				gone := !l.Deadline.After(now)
				if gone {
					want = append(want, l)
				}
				return gone
			})
			slices.SortFunc(want, func(a, b Lease) int {
				return cmp.Or(a.Deadline.Compare(b.Deadline), cmp.Compare(a.Sweep, b.Sweep), cmp.Compare(a.Seq, b.Seq))
			})
			if got := table.Expire(now); !slices.Equal(got, want) {
				t.Fatalf("expired %v, want %v", got, want)
			}
		case 5:
			d := time.Duration(rng.IntN(2000)) * time.Millisecond
			table.Slept(d)
			now = now.Add(d)
			for i := range model {
				model[i].Deadline = model[i].Deadline.Add(d)
			}
		case 6:
			if l, ok := table.Get(key); ok != (at >= 0) || ok && l != model[at] {
				t.Fatalf("get %v gives %v (%v)", key, l, ok)
			}
		case 7:
			table.Round()
			clear(fresh)
		}
		var forgotten []Lease
		for _, l := range model {
			if l.Holder == who && !fresh[l.Token] {
				forgotten = append(forgotten, l)
			}
		}
		got := table.Forgotten(who)
		byToken := func(a, b Lease) int { return cmp.Compare(a.Token, b.Token) }
		slices.SortFunc(got, byToken)
		slices.SortFunc(forgotten, byToken)
		if !slices.Equal(got, forgotten) {
			t.Fatalf("%s has forgotten %v, want %v", who, got, forgotten)
		}
		held := 0
		table.Held(who, func(Lease) bool { held++; return true })
		if table.Len() != len(model) || held != table.Count(who) {
			t.Fatalf("%d leases, want %d; %s has %d, counted %d", table.Len(), len(model), who, held, table.Count(who))
		}
	}
}

func wantErr(exists, mine bool) error {
	switch {
	case !exists:
		return ErrUnknown
	case !mine:
		return ErrStale
	}
	return nil
}

func TestRestoredLeaseLastsItsFullTime(t *testing.T) {
	now := time.Unix(1000, 0)
	table := NewTable(time.Minute, 7)
	table.Restore(now, Key{1, 2}, 5, "a")
	if gone := table.Expire(now.Add(time.Minute - 1)); len(gone) != 0 {
		t.Errorf("gone early: %v", gone)
	}
	if l := table.Grant(now, Key{1, 3}, "b"); l.Token != 8 {
		t.Errorf("the next token is %d", l.Token)
	}
	if gone := table.Expire(now.Add(time.Minute)); len(gone) != 2 || gone[0].Token != 5 {
		t.Errorf("gone in time: %v", gone)
	}
}

func BenchmarkRenew(b *testing.B) {
	now := time.Unix(1000, 0)
	table := NewTable(time.Minute, 0)
	for i := range int64(1000) {
		table.Grant(now, Key{1, i}, "a")
	}
	i := int64(0)
	for b.Loop() {
		now = now.Add(time.Millisecond)
		_ = table.Renew(now, Key{1, i % 1000}, uint64(i%1000)+1, "a")
		i++
	}
}
