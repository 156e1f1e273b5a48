package meter

// Kind is a kind of work.
type Kind int

// The kinds of work that are counted while a request runs. The work that is known before is counted by the package
// that reads the request.
const (
	// Fields are the fields of a document, for each item of its lists.
	Fields Kind = iota
	// Inputs are bytes of inputs and values that are read and validated, with their defaults.
	Inputs
	// Stored are bytes of releases and of deployments' data that are read back.
	Stored
	// Proved are bytes of releases of which only the digest is computed.
	Proved
	// Leaves are values that are compared.
	Leaves
	// Patterns are the bytes of patterns that are compiled.
	Patterns
	// Matches are texts that a pattern is tried on.
	Matches
	// Matched are the bytes of these texts.
	Matched
	// Rules are rules of release control that are read or judged, and deployments that are judged by them.
	Rules
	// Searched are records that a text is looked for in.
	Searched
	// Counted are fives of records that are only counted.
	Counted
	// Surveyed are module instances whose state is looked up.
	Surveyed
	// Tallied are deployments that statistics are made of.
	Tallied
	// Archived are records that are archived or unarchived with a place.
	Archived
	// Texts are bytes of long texts and of stored JSON that are answered, which may have to be compressed.
	Texts
	kinds
)

// weights are what a unit of each kind costs, so that 10,000 of any take at most 0.1 s of CPU; that of
// Fields is the document's. docs/benchmarks.md has the measurements.
var weights = [kinds]struct {
	each float64
	unit string
}{
	Fields:   {1, "the fields of each item of its lists"},
	Inputs:   {6.0 / 1024, "6 for each KiB of inputs and values, with what their defaults add to each item"},
	Stored:   {3.0 / 1024, "3 for each KiB of releases and data"},
	Proved:   {1.0 / 1024, "1 for each KiB of releases that are proved"},
	Leaves:   {0.5, "1 for two values that are compared"},
	Patterns: {80.0 / 1024, "80 for each KiB of patterns"},
	Matches:  {1, "each text that a pattern is tried on"},
	Matched:  {1.0 / 128, "1 for each 128 bytes that patterns are tried on"},
	Rules:    {1, "each rule and each deployment that is judged"},
	Searched: {0.5, "1 for each 2 records that are searched"},
	Counted:  {1, "1 for each 5 records that are counted"},
	Surveyed: {1.0 / 3, "1 for each 3 instances whose state is looked up"},
	Tallied:  {0.5, "1 for each 2 deployments that statistics are made of"},
	Archived: {1, "each record that is archived with it"},
	Texts:    {2.0 / 1024, "2 for each KiB of long texts and stored JSON"},
}

const (
	// patternSteps is how many steps the patterns of one request may take in all, about 0.2 s of CPU.
	patternSteps = 48_000_000
	// stepsPerCost is how many steps of patterns cost 1.
	stepsPerCost = 2_400
)

// Stage is where bytes of an answer are counted.
type Stage int

// The stages of an answer, in the order in which bytes come to them.
const (
	// Read are bytes of records that are read for the answer. A quarter more than an answer has is allowed, because a
	// record has more than what is selected of it.
	Read Stage = iota
	// Made are bytes that a service computes, such as the titles of items.
	Made
	// Taken are bytes of large values that fields resolve to.
	Taken
	// Written are the bytes of the answer itself.
	Written
	stages
)
