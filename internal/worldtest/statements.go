package worldtest

import "sync"

// statements keeps the statements that a world's store runs, while somebody wants to know.
type statements struct {
	mu   sync.Mutex
	kept *[]string
}

func (s *statements) tell(query string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept != nil {
		*s.kept = append(*s.kept, query)
	}
}

func (s *statements) keep(in *[]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = in
}

// Statements gives the text of every SQL statement that the world ran while f did, its requests'
// included, in the order they began; without BEGIN, COMMIT and ROLLBACK. The first request of a token
// also reads and notes the use of the token. Calls neither nest nor run beside each other.
func (w *World) Statements(f func()) (kept []string) {
	w.statements.keep(&kept)
	defer w.statements.keep(nil)
	f()
	return kept
}
