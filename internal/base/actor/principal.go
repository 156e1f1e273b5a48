package actor

import "slices"

// HolderPrincipal returns the principal of the tokens of a holder. No id of a token is one.
func HolderPrincipal(holder string) string { return "holder:" + holder }

// SamePerson reports whether a voter may be the author in another guise: they are one principal, or either is among the
// makers of the other, which are all that made a token of a principal, of those that did, and so on.
func SamePerson(author, voter string, makers map[string][]string) bool {
	return author == voter || slices.Contains(makers[author], voter) || slices.Contains(makers[voter], author)
}
