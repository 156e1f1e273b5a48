package main

import "fmt"

// maxPages is how many pages of a list are read. AWS has up to 100 items on a page, but may send fewer.
const maxPages = 200

// eachPage reads a list to its end. read reads the page of a token, nil for the first, and returns the token of the
// next one, nil for none. The error says so if there are more than maxPages, for what is on the rest is not known.
func eachPage(list string, read func(token *string) (next *string, err error)) error {
	var token *string
	for range maxPages {
		next, err := read(token)
		if err != nil {
			return explain(err)
		}
		if text(next) == "" {
			return nil
		}
		token = next
	}
	return fmt.Errorf("there are more than %d pages of %s", maxPages, list)
}
