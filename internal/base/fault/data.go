package fault

import "errors"

// Data is the wire form of an error, UserFacingErrorData of both interfaces. A failed deployment stores it too.
type Data struct {
	Code        string         `json:"code"`
	Message     string         `json:"message"`
	Description string         `json:"description,omitempty"`
	Action      *Action        `json:"action,omitempty"`
	Details     []Section      `json:"details,omitempty"`
	IsInternal  bool           `json:"isInternal,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	RequestID   string         `json:"requestId,omitempty"`
}

// Action is a suggested remedy.
type Action struct {
	Label string `json:"label"`
	URL   string `json:"url"`
}

// Section is one part of an error's details: a list of items or an object.
type Section struct {
	Title  string         `json:"title"`
	Render Render         `json:"render"`
	Items  []string       `json:"items,omitempty"`
	Object map[string]any `json:"object,omitempty"`
}

// Render is how a section is meant to be shown.
type Render string

// The two ways to show a section.
const (
	RenderList   Render = "list"
	RenderObject Render = "object"
)

// View is who an error is shown to, and where.
type View struct {
	// RequestID correlates the error with the server's log.
	RequestID string
	// Superadmin callers see the inside of internal errors.
	Superadmin bool
	// Root is the JSON Pointer of the operation's input on this surface: "/data" over REST, "/input"
	// over GraphQL.
	Root string
}

// Public returns what may be shown of err. Whatever is no Error is masked as ServerInternal: its text is for the log
// and for superadmins only.
func Public(err error, view View) Data {
	var e *Error
	if !errors.As(err, &e) {
		return internal(err, view)
	}
	data := Data{
		Code:        string(e.Code),
		Message:     e.Message,
		Description: e.Description,
		Action:      e.Action,
		Details:     e.Details,
		Metadata:    e.Metadata,
		RequestID:   view.RequestID,
	}
	if len(e.Violations) > 0 {
		data.addViolations(e.Violations, view.Root)
	}
	return data
}

// internal returns what may be shown of an error that is no Error.
func internal(err error, view View) Data {
	data := Data{Code: string(ServerInternal), Message: "Internal server error.", RequestID: view.RequestID}
	if view.Superadmin {
		data.IsInternal = true
		data.Description = err.Error()
	}
	return data
}

// addViolations lists the violations for people in details and for programs in metadata.
func (d *Data) addViolations(violations []Violation, root string) {
	items := make([]string, len(violations))
	placed := make([]any, len(violations))
	for i, v := range violations {
		v = v.under(root)
		items[i] = v.Pointer + ": " + v.Message
		placed[i] = v
	}
	d.Details = append([]Section{{Title: "Violations", Render: RenderList, Items: items}}, d.Details...)
	metadata := map[string]any{"violations": placed}
	for k, v := range d.Metadata {
		metadata[k] = v
	}
	d.Metadata = metadata
}
