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
	places, environments := map[string]bool{}, map[string]bool{}
	for _, p := range c.Projects {
		for _, e := range p.Environments {
			environments[p.Slug+"/"+e.Slug] = true
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
	named := []string{c.Shown.Live, c.Shown.Failed, c.Shown.Followed, c.Shown.Broken, c.Shown.Awaiting}
	for _, u := range c.UnderWay {
		named = append(named, u.Place)
		if moves[u.Move].start.run == nil {
			names = append(names, u.Move)
		}
	}
	for _, p := range c.Promotions {
		named = append(named, p.From, p.To)
	}
	for _, r := range c.RuleFiles {
		for _, place := range append(r.LiveIn, r.Place) {
			if !environments[place] {
				names = append(names, place)
			}
		}
	}
	names = append(names, slices.DeleteFunc(named, func(place string) bool { return places[place] })...)
	if !slices.ContainsFunc(c.Definitions, func(d definitionFile) bool { return d.GivenID == c.Shown.Definition }) {
		names = append(names, c.Shown.Definition)
	}
	return names, nil
}
