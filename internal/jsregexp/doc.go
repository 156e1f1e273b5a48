// Package jsregexp runs JavaScript regular expressions as a browser runs them: a pattern means
// new RegExp(pattern) without flags, and a match is .test(text), of ECMAScript 2025.
//
// Patterns come from outside and may be made to hang. Every match has a deadline, and an Engine has a
// fixed number of virtual machines, so such a pattern costs its caller an error and others a short wait.
// Two limits are narrower than those of browsers: a pattern has 254 capturing groups and 16 KiB at most.
package jsregexp
