package fake

import "strconv"

// The most that one request may name.
const (
	maxServices = 10
	maxArns     = 20
	maxPage     = 100
)

// pageOf returns the items of a page that begins at a token, and the token of the next page, nil for none. most is how
// many the page may have, 0 for as many as the account gives.
func pageOf[T any](c *Cloud, all []T, token *string, most int32) (page []T, next *string, err error) {
	from := 0
	if token != nil {
		from, err = strconv.Atoi(*token)
		if err != nil || from <= 0 || from > len(all) {
			return nil, nil, invalid("Invalid token.")
		}
	}

	size := c.Page
	if most > 0 {
		size = min(size, int(most))
	}
	if c.answering == c.Endless && len(all) > 0 {
		return nil, new("1"), nil
	}

	to := min(from+size, len(all))
	if to < len(all) {
		next = new(strconv.Itoa(to))
	}
	return all[from:to], next, nil
}

// atMost refuses a request that names too many.
func atMost(named, most int) error {
	if named > most {
		return invalid("At most %d can be described at once, found %d.", most, named)
	}
	return nil
}

// checkPage refuses a size of a page that ECS does not take.
func checkPage(size *int32) error {
	if outside(size, 1, maxPage) {
		return invalid("maxResults must be 1 to %d, found %d.", maxPage, *size)
	}
	return nil
}
