package inputprop

// Warning is what is allowed in an input, but may not be what was meant.
type Warning struct {
	// Pointer is the place as a JSON Pointer.
	Pointer string
	// Rule is the stable name of the warning.
	Rule string
	// Message reads on after the pointer.
	Message string
}
