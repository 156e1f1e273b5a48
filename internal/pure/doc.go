// Package pure is the wing of what holds without a database: inputs, outputs, releases, events, modules, and the rules
// that deployments are judged by. It imports base.
package pure
