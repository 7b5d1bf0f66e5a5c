// Package render renders a specification in four steps: it loads the specification, generates its targets, compares them
// with the files in their folders or branches, and applies the differences. All commands and functions that render use
// it.
package render

import "context"

// ToFolders writes the targets of a loaded specification to folders, and returns what it generated and did. Each folder
// is written completely or not at all. When it writes in place, it skips the targets of tenants. It first completes or
// undoes an interrupted write.
func ToFolders(ctx context.Context, loaded *Specification, o FolderOptions) (*Rendered, []Planned, error) {
	generated, recovery, err := generateOver(loaded, o)
	if err != nil {
		return nil, nil, err
	}
	planned, err := compareFolders(generated, recovery, o)
	if err != nil {
		return nil, nil, err
	}
	if o.Check {
		return generated, planned, nil
	}
	return generated, planned, applyFolders(ctx, generated, planned, o)
}

// Commit commits each target of a loaded specification to its repository and branch: one commit each, on top of the
// branch's head, and none if nothing changed. It plans and checks everything before the first commit. The result lists
// every target. If it returns an error, too, targets that are not Done are not committed; another call commits the rest.
func Commit(ctx context.Context, loaded *Specification, o CommitOptions) (*Rendered, []Committed, error) {
	c := &committer{from: loaded, options: o}
	defer c.close()
	err := c.generate(ctx)
	if err == nil {
		err = c.compareAll(ctx)
	}
	if err == nil && !o.DryRun {
		err = c.applyAll(ctx)
	}
	return c.rendered, c.results(), err
}

// Load reads the specification in a folder. fluxManifests is a folder with Flux's manifests, or empty.
func Load(dir, fluxManifests string) (*Specification, error) {
	s, err := ReadSpecification(dir)
	if err != nil {
		return nil, err
	}
	s.Components, err = FluxComponents(s.Spec, fluxManifests)
	return s, err
}
