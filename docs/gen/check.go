package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// checkVersions fails unless all tables of all pages carry one version of the simulator.
func (g *generator) checkVersions() error {
	where := map[string][]string{}
	for i := range g.sets.Sets {
		s := &g.sets.Sets[i]
		for _, page := range []string{g.page(s), g.levelsPage(s)} {
			if page == "" || s.Latest != nil {
				continue
			}
			text, err := os.ReadFile(page)
			if err != nil {
				return err
			}
			found := versions.FindAllSubmatch(text, -1)
			if len(found) == 0 {
				return fmt.Errorf("%s names no version of the simulator", page)
			}
			for _, m := range found {
				if v := string(m[1]); !slices.Contains(where[v], page) {
					where[v] = append(where[v], page)
				}
			}
		}
	}
	if len(where) == 1 {
		return nil
	}
	var all []string
	for v, pages := range where {
		all = append(all, fmt.Sprintf("%s in %d pages, %s among them", v, len(pages), pages[0]))
	}
	slices.Sort(all)
	return fmt.Errorf("tables are of %d versions of the simulator (%s): make fidelity", len(where), strings.Join(all, "; "))
}
