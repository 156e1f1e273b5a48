// Package quota bounds what the requests of each caller cost. What one costs is known before it runs from its document
// (package document) and counted as it runs (package meter); here it is taken from what its caller has.
package quota
