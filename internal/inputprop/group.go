package inputprop

// groups are the runs of collapsible inputs that follow one another once what is hidden is gone. A
// section, or an input that is not collapsible, ends one.
func groups(f *level) [][]string {
	var all [][]string
	var run []string
	end := func() {
		if run != nil {
			all, run = append(all, run), nil
		}
	}
	for i := range f.fields {
		fl := &f.fields[i]
		if !fl.visible {
			continue
		}
		if fl.in.Traits.Collapsible {
			run = append(run, fl.in.ID)
			continue
		}
		end()
	}
	end()
	return all
}
