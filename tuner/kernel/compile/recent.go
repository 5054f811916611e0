package compile

import "container/list"

// recent is a least-recently-used map of results. It is not safe for concurrent
// use.
type recent struct {
	limit int        // results
	bytes int        // of PTX that is kept
	order *list.List // of *recentEntry, most recent first
	byKey map[string]*list.Element
}

type recentEntry struct {
	key    string
	result Result
}

func newRecent(limit int) recent {
	return recent{limit: limit, order: list.New(), byKey: map[string]*list.Element{}}
}

func (r *recent) get(key string) (Result, bool) {
	e, ok := r.byKey[key]
	if !ok {
		return Result{}, false
	}
	r.order.MoveToFront(e)
	return e.Value.(*recentEntry).result, true
}

func (r *recent) put(key string, res Result) {
	if e, ok := r.byKey[key]; ok {
		r.remove(e)
	}
	r.byKey[key] = r.order.PushFront(&recentEntry{key, res})
	r.bytes += len(res.PTX)
	for r.order.Len() > r.limit || r.bytes > recentBytes && r.order.Len() > 1 {
		r.remove(r.order.Back())
	}
}

func (r *recent) remove(e *list.Element) {
	last := r.order.Remove(e).(*recentEntry)
	delete(r.byKey, last.key)
	r.bytes -= len(last.result.PTX)
}
