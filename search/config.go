package search

// Config is one assignment of all parameters of a space: Values[i] belongs to
// the space's parameter i.
type Config struct {
	Names  []string // shared with the space: do not modify
	Values []Value
}

// Get returns the value of a parameter.
func (c Config) Get(name string) (Value, bool) {
	for i, n := range c.Names {
		if n == name {
			return c.Values[i], true
		}
	}
	return Value{}, false
}
