package inputprop

// keySet finds duplicate keys without making many keys cost their square.
type keySet struct{ index map[string]struct{} }

// add says whether key is new to those before it.
func (s *keySet) add(before []string, key string) bool {
	if len(before) < 16 {
		for _, k := range before {
			if k == key {
				return false
			}
		}
		return true
	}
	if s.index == nil {
		s.index = make(map[string]struct{}, 2*len(before))
		for _, k := range before {
			s.index[k] = struct{}{}
		}
	}
	_, known := s.index[key]
	s.index[key] = struct{}{}
	return !known
}
