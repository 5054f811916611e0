package compile

import "container/list"

// recent is a least-recently-used map of results. It is not safe for concurrent
// use.
type recent struct {
	limit int
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
		e.Value.(*recentEntry).result = res
		r.order.MoveToFront(e)
		return
	}
	r.byKey[key] = r.order.PushFront(&recentEntry{key, res})
	if r.order.Len() > r.limit {
		last := r.order.Back()
		r.order.Remove(last)
		delete(r.byKey, last.Value.(*recentEntry).key)
	}
}
