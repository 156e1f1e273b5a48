package inputprop

//go:generate go run ./cmd/inputschema ../../docs/input-property.schema.json
