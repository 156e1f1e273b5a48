package fault

//go:generate go run ./cmd/errordocs ../../docs/errors.md
