package worldtest

import "sync"

// Statement is one that a world's store ran.
type Statement struct {
	Text string
	Args []any
}

// statements keeps the statements that a world's store runs, while somebody wants to know.
type statements struct {
	mu   sync.Mutex
	kept *[]Statement
}

func (s *statements) record(text string, args []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept != nil {
		*s.kept = append(*s.kept, Statement{text, args})
	}
}

func (s *statements) keep(in *[]Statement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = in
}

// Recorded returns every SQL statement that the world ran while f did, its requests' included, in the
// order they began; without BEGIN, COMMIT and ROLLBACK. The first request of a token also reads the token.
// Calls neither nest nor run beside each other.
func (w *World) Recorded(f func()) (kept []Statement) {
	w.statements.keep(&kept)
	defer w.statements.keep(nil)
	f()
	return kept
}

// Statements returns the texts of what Recorded returns.
func (w *World) Statements(f func()) []string {
	var texts []string
	for _, statement := range w.Recorded(f) {
		texts = append(texts, statement.Text)
	}
	return texts
}
