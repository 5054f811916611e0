package coordinator

import "sync"

// lent are the bundles that calls are sending now. A thousand workers that begin a
// sweep ask for the same one at once: it is in memory once.
type lent struct {
	mu      sync.Mutex
	bundles map[string]*lentBundle // by digest
}

type lentBundle struct {
	content []byte
	users   int
}

// take returns a bundle, which read reads unless somebody has it. One is read at a
// time, so that those who ask for the same need not wait for one another otherwise.
func (l *lent) take(digest string, read func(digest string) ([]byte, error)) (content []byte, release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bundles[digest]
	if b == nil {
		content, err := read(digest)
		if err != nil {
			return nil, nil, err
		}
		if l.bundles == nil {
			l.bundles = map[string]*lentBundle{}
		}
		b = &lentBundle{content: content}
		l.bundles[digest] = b
	}
	b.users++
	return b.content, sync.OnceFunc(func() { l.release(digest) }), nil
}

func (l *lent) release(digest string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.bundles[digest]; b.users > 1 {
		b.users--
	} else {
		delete(l.bundles, digest)
	}
}
