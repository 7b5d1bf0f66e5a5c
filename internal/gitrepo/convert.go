package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// convert lets git store the files of changes that git converts, such as by a filter or to other line endings, and sets
// their hashes. In a dry run nothing is stored. It refuses such files of a branch that is not checked out.
func (b *Branch) convert(ctx context.Context, changes []Change, dry bool) error {
	if b.home.dir == "" {
		return b.checkFilters(changes)
	}
	var paths []string
	for _, c := range changes {
		if !c.Delete {
			paths = append(paths, c.Path)
		}
	}
	converted, err := b.attributed(ctx, paths, append(byteAttributes, "ident")...)
	if err != nil {
		return err
	}
	for i, c := range changes {
		if c.Delete || !converted[c.Path] && !bytes.ContainsRune(c.Content, '\r') {
			continue
		}
		args := []string{"-c", "core.fsync=committed,loose-object", "hash-object", "--stdin", "--path=" + c.Path}
		if !dry {
			args = append(args, "-w")
		}
		out, err := b.homeGit().run(ctx, string(c.Content), args...)
		if err != nil {
			return fmt.Errorf("git cannot convert %q as its attributes require: %w", c.Path, err)
		}
		changes[i].hash = plumbing.NewHash(strings.TrimSpace(out))
	}
	return nil
}

// homeGit returns git in the work tree in which the branch is checked out.
func (b *Branch) homeGit() program {
	git := b.git
	git.dir = b.home.dir
	return git
}

// attributed returns the paths of the work tree that have a value for one of the attributes.
func (b *Branch) attributed(ctx context.Context, paths []string, names ...string) (map[string]bool, error) {
	found := map[string]bool{}
	if len(paths) == 0 {
		return found, nil
	}
	out, err := b.homeGit().run(ctx, strings.Join(paths, "\x00")+"\x00", append([]string{"check-attr", "-z", "--stdin"}, names...)...)
	if err != nil {
		return nil, fmt.Errorf("the attributes of files cannot be read: %w", err)
	}
	fields := strings.Split(out, "\x00")
	for ; len(fields) > 3; fields = fields[3:] {
		if value := fields[2]; value != "unspecified" && value != "unset" && value != "" {
			found[fields[0]] = true
		}
	}
	return found, nil
}

// smudge returns the content that a file of the branch has in the work tree, if a filter stores other content. Line
// endings and encodings stay as stored, as in changes.
func (b *Branch) smudge(path string, hash plumbing.Hash, stored []byte) ([]byte, error) {
	if b.filtered == nil {
		b.filtered = map[string]bool{}
		if b.home.dir != "" && b.hasFilters() {
			files, _, err := b.List()
			if err == nil {
				b.filtered, err = b.attributed(context.Background(), files, "filter")
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if !b.filtered[path] {
		return stored, nil
	}
	out, err := b.homeGit().run(context.Background(), "", "cat-file", "--filters", "--path="+path, hash.String())
	if err != nil {
		return nil, fmt.Errorf("git cannot convert %q back as its filter stored it: %w", path, err)
	}
	return []byte(out), nil
}

// hasFilters reports whether git's configuration defines filters.
func (b *Branch) hasFilters() bool {
	settings, err := readSettings(b.env, b.home.dir)
	if err != nil {
		return true
	}
	for key := range settings.values {
		if strings.HasPrefix(key, "filter.") {
			return true
		}
	}
	return false
}
