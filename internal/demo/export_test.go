package demo

import "slices"

// Files are those that the content is read from.
var Files = files

// Unknown returns the names in demo.json that stand for nothing.
func Unknown() (names []string, err error) {
	c, err := readContent()
	if err != nil {
		return nil, err
	}
	places := map[string]bool{}
	for _, p := range c.Projects {
		for _, e := range p.Environments {
			for _, i := range e.Instances {
				places[p.Slug+"/"+e.Slug+"/"+i.Name] = true
				for _, name := range i.History {
					if moves[name].start.run == nil {
						names = append(names, name)
					}
				}
			}
		}
	}
	named := []string{c.Shown.Live, c.Shown.Failed, c.Shown.Followed, c.Shown.Broken}
	for _, u := range c.UnderWay {
		named = append(named, u.Place)
		if moves[u.Move].start.run == nil {
			names = append(names, u.Move)
		}
	}
	names = append(names, slices.DeleteFunc(named, func(place string) bool { return places[place] })...)
	if !slices.ContainsFunc(c.Definitions, func(d definitionFile) bool { return d.GivenID == c.Shown.Definition }) {
		names = append(names, c.Shown.Definition)
	}
	return names, nil
}
