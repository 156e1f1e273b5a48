// Package internal has the program in wings. From below: base; pure; data, edge and remote; service; and then server
// and demo, which put all of it together, with metrics beside them. What tests stand on is in test. The linter holds
// who may import whom, by a glob a wing.
package internal
