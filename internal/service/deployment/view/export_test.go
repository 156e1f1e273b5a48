package view

// Columns returns the columns that a filter has conditions on, and those of which the conditions last: what a
// subscription takes for a deployment that has left the filter still meets these.
func (f Filter) Columns() (all, lasting []string) {
	for _, c := range f.comparisons() {
		all = append(all, c.Column())
	}
	for _, c := range f.lasting().comparisons() {
		lasting = append(lasting, c.Column())
	}
	return all, lasting
}
