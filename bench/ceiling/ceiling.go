// Package ceiling has the best statements for the answer to each kind of request, as scripts of pgbench. What a server
// can do at most is what PostgreSQL does when nothing stands before it.
//
// The scripts find the rows that belong together by their numbers, as package data does.
package ceiling

import "embed"

// Scripts has a file for each kind of request, by its name with a hyphen for a space. The variables "deployments" and
// "clients" are how many there are, and "turn" begins at -1.
//
//go:embed *.sql
var Scripts embed.FS
