package page

import "time"

// Cursor returns the cursor of a position in a list.
func Cursor(s Scope, at time.Time, id string) string {
	return s.binding().write(position{at: at, id: id})
}

// Position returns the position of a cursor of a list.
func Position(s Scope, cursor string) (at time.Time, id string, err error) {
	p, err := s.binding().read("after", &cursor)
	if err != nil {
		return time.Time{}, "", err
	}
	return p.at, p.id, nil
}
