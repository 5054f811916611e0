package simengine

// cache keeps the entries put last.
type cache[K comparable, V any] struct {
	entries map[K]V
	order   []K // oldest first
	most    int
}

func newCache[K comparable, V any](most int) cache[K, V] {
	return cache[K, V]{entries: make(map[K]V, most), most: most}
}

func (c *cache[K, V]) get(k K) (V, bool) {
	v, ok := c.entries[k]
	return v, ok
}

func (c *cache[K, V]) put(k K, v V) {
	if _, ok := c.entries[k]; !ok {
		if len(c.order) == c.most {
			delete(c.entries, c.order[0])
			c.order = append(c.order[:0], c.order[1:]...)
		}
		c.order = append(c.order, k)
	}
	c.entries[k] = v
}
