// Package data is the wing of the database: the store and its migrations, records and pages, the journal of writes, and
// the feed of changes. It imports base and pure.
package data
