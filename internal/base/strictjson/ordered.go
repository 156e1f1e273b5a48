package strictjson

// Ordered is an object whose members may have any name, and keep their order. Keys is nil if it is absent.
type Ordered[T any] struct {
	Keys   []string
	Values []T
}

// Get returns the value of a member, and whether there is one of the key.
func (o Ordered[T]) Get(key string) (value T, ok bool) {
	for i, k := range o.Keys {
		if k == key {
			return o.Values[i], true
		}
	}
	return value, false
}

// DecodeJSON implements Decodable; the rules of the values are those for what is inside.
func (o *Ordered[T]) DecodeJSON(d *Decoder, n *Node, r *Rules) {
	if !d.Expect(n, Object, "", r) {
		return
	}
	o.Keys, o.Values = append(make([]string, 0, len(n.Keys)), n.Keys...), make([]T, len(n.Items))
	for i, item := range n.Items {
		d.Path.PushKey(n.Keys[i])
		d.Into(item, &o.Values[i], r.Items())
		d.Path.Pop()
	}
}

// AppendJSON implements Encodable.
func (o Ordered[T]) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, key := range o.Keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, key), ':')
		b = Append(b, o.Values[i])
	}
	return append(b, '}')
}
