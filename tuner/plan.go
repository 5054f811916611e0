package tuner

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"

	"github.com/warptune/warptune/search"
)

// Space is what the ledger needs of a search space. *search.Space is one.
type Space interface {
	Size() int64
	// At returns configuration i, 0 <= i < Size.
	At(i int64) search.Config
}

// Plan is a spec made concrete: where to search and how. Planning one spec
// twice must give plans that behave alike.
type Plan struct {
	Space    Space
	Names    []string // of the parameters, in the order of Config.Values
	Strategy search.Strategy
	// Window is Sweep.Window of a new sweep. Strategies that ignore what they
	// are told, such as exhaustive and random search, want WideWindow, so that
	// one slow trial holds up no other.
	Window int64
	// Refusal says why nothing of the space can be evaluated, nil if something can. No new
	// sweep is made of such a plan; what is stored of one can be read.
	Refusal error
}

// WideWindow is the widest window there is.
const WideWindow = 1 << 16

// Planner makes plans: it knows kernel definitions and strategies.
type Planner interface {
	// Plan makes the spec's plan from the files it names. It returns soon after ctx
	// has ended, however long it would take.
	Plan(ctx context.Context, spec Spec, files Files) (Plan, error)
}

// Files are the contents of what a spec names by digest.
type Files struct {
	Bundle      []byte // Spec.Bundle
	Descriptor  []byte // Spec.Descriptor; nil: it names none
	Predictions []byte // Spec.Predictions; nil: it names none
}

// Known finds outcomes that other sweeps have stored.
type Known interface {
	// Any reports whether there may be some: false saves making keys.
	Any() bool
	// Find returns what is stored under an answer key.
	Find(key []byte) (Answer, bool)
}

// Answer is a result that answers another sweep's question, or one of the same
// sweep before it started over.
type Answer struct {
	Result Result
	Own    bool // it is of the same sweep
}

// maxAnswerKey is the length in bytes above which an answer key is hashed.
const maxAnswerKey = 64

// AnswerKey returns the key under which the outcome of a configuration is
// found again by other sweeps of the same scope. Keys of one scope sort about
// as an exhaustive sweep enumerates, which keeps the store's pages together.
func AnswerKey(scope string, values []search.Value) []byte {
	s := newAnswerScope(scope)
	return s.key(values)
}

// answerScope is what the answer keys of a scope begin with.
type answerScope [8]byte

func newAnswerScope(scope string) answerScope {
	var sum [32]byte
	if n, err := hex.Decode(sum[:], []byte(scope[:min(len(scope), 64)])); err != nil || n < len(answerScope{}) || len(scope) > 64 {
		sum = sha256.Sum256([]byte(scope))
	}
	return answerScope(sum[:8])
}

func (s *answerScope) key(values []search.Value) []byte {
	key := append(make([]byte, 0, 32), s[:]...)
	for _, v := range values {
		key = appendValue(key, v)
	}
	if len(key) > maxAnswerKey {
		all := sha256.Sum256(key)
		key = append(append(key[:8], 0xff), all[:16]...)
	}
	return key
}

// appendValue writes a value so that no two are alike and small integers are
// short and in order.
func appendValue(key []byte, v search.Value) []byte {
	switch v.Kind {
	case search.Int:
		if v.I >= 0 && v.I < 0x40 {
			return append(key, 0x40+byte(v.I))
		}
		if v.I > 0 && v.I < 1<<16 {
			return binary.BigEndian.AppendUint16(append(key, 0x80), uint16(v.I))
		}
		return binary.BigEndian.AppendUint64(append(key, 0x81), uint64(v.I)^1<<63)
	case search.Float:
		return binary.BigEndian.AppendUint64(append(key, 0x10), math.Float64bits(v.F))
	case search.Bool:
		return append(key, 0x20+byte(v.I&1))
	}
	key = append(key, 0x30+byte(v.Kind&7))
	return append(binary.AppendUvarint(key, uint64(len(v.S))), v.S...)
}
