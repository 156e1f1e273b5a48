package backup

import "context"

// RestoreUntil is Restore killed after so many of its steps. It reports whether any are left.
func RestoreUntil(ctx context.Context, databaseURL, file string, steps int) (bool, error) {
	t, err := parseSQLite(databaseURL)
	if err != nil {
		return false, err
	}
	unlock, err := lockExclusively(t)
	if err != nil {
		return false, err
	}
	defer unlock()
	r := replacement{path: t.Path, from: file}
	all := r.steps()
	for _, step := range all[:min(steps, len(all))] {
		if err := step(ctx); err != nil {
			return false, err
		}
	}
	if r.inUse != nil {
		err = r.inUse.Close()
	}
	return steps < len(all), err
}
