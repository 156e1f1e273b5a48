package auth

// recent is a map that forgets: of what was put into it, it keeps at least the last half and at most
// limit entries. It is two generations of maps, so that making room costs nothing. It does not lock.
type recent[K comparable, V any] struct {
	half       int
	young, old map[K]V
}

func newRecent[K comparable, V any](limit int) *recent[K, V] {
	return &recent[K, V]{half: limit / 2, young: map[K]V{}, old: map[K]V{}}
}

func (r *recent[K, V]) get(key K) (V, bool) {
	if value, ok := r.young[key]; ok {
		return value, true
	}
	value, ok := r.old[key]
	return value, ok
}

func (r *recent[K, V]) put(key K, value V) {
	if _, ok := r.young[key]; !ok && len(r.young) >= r.half {
		r.old, r.young = r.young, map[K]V{}
	}
	r.young[key] = value
}

func (r *recent[K, V]) drop(key K) {
	delete(r.young, key)
	delete(r.old, key)
}
