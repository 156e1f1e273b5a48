package record

import "slipway/ent/deploymentchange"

// KindOfChange returns what a change did to a deployment, by the version that it made and by whether it ended the
// deployment.
func KindOfChange(version int32, ends bool) deploymentchange.Kind {
	switch {
	case ends:
		return deploymentchange.KindCOMPLETED
	case version == 1:
		return deploymentchange.KindCREATED
	default:
		return deploymentchange.KindUPDATED
	}
}
