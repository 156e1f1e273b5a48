// Package base is the wing of what every other one stands on: who acts, errors, ids, texts, strict JSON, what work
// costs. It imports nothing of the program but itself.
package base
