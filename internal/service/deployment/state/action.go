package state

// Action is what the program of a deployment is to do.
type Action string

// The actions.
const (
	Apply         Action = "APPLY"
	DestroyAction Action = "DESTROY"
)

// ActionOf returns what the program of a deployment is to do, by what started that.
func ActionOf(triggerSource string) Action {
	if triggerSource == TriggerDestroy {
		return DestroyAction
	}
	return Apply
}
