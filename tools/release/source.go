package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// source is a clean clone of the commit to build, tagged with the version, because the Go toolchain writes both
// into the executable.
type source struct {
	dir, revision string
	time          time.Time
}

var (
	versionPattern = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)
	// pinned matches the files that may differ between the tagged commit and the commit to build: see pin in
	// sums.go.
	pinned = regexp.MustCompile(`^(action\.sums|README\.md|docs/[a-z0-9-]+\.md|functions/([a-z]+/)?README\.md|templates/gitlab-ci\.yml)$`)
)

// command runs a program in a folder and returns what it printed.
func command(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, &stderr, &out)
	}
	return out.String(), nil
}

// clean returns an error if the work tree of the source has changes.
func (r *release) clean(ctx context.Context) error {
	changed, err := command(ctx, r.source, nil, "git", "status", "--porcelain")
	if err == nil && changed != "" {
		err = fmt.Errorf("the work tree is not clean:\n%s", strings.TrimSpace(changed))
	}
	return err
}

// checkout clones the commit to build into dir.
func (r *release) checkout(ctx context.Context, dir string) (*source, error) {
	git := func(in string, args ...string) (string, error) {
		out, err := command(ctx, in, nil, "git", args...)
		return strings.TrimSpace(out), err
	}
	root, err := filepath.Abs(r.source)
	if err != nil {
		return nil, err
	}
	revision, err := r.revision(git)
	if err != nil {
		return nil, err
	}
	steps := [][]string{
		{"clone", "--quiet", "--no-checkout", "--no-tags", "--", root, dir},
		{"-C", dir, "-c", "core.autocrlf=false", "checkout", "--quiet", "--detach", revision},
		{"-C", dir, "-c", "tag.gpgSign=false", "tag", r.version},
	}
	for _, args := range steps {
		if _, err := git(r.source, args...); err != nil {
			return nil, err
		}
	}
	seconds, err := git(dir, "show", "--no-patch", "--format=%ct", revision)
	if err != nil {
		return nil, err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	return &source{dir: dir, revision: revision, time: time.Unix(unix, 0).UTC()}, err
}

// revision returns the commit to build. If action.sums in the checkout already pins this version, it is the
// commit named there, and else the checkout's.
func (r *release) revision(git func(string, ...string) (string, error)) (string, error) {
	head, err := git(r.source, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	sums, err := readSums(filepath.Join(r.source, sumsFile))
	if err != nil || sums.version != r.version {
		return head, err
	}
	changed, err := git(r.source, "diff", "--name-only", sums.revision, head)
	if err != nil {
		return "", err
	}
	for _, file := range strings.Fields(changed) {
		if !pinned.MatchString(file) {
			return "", errors.New(sumsFile + " pins " + r.version + ", which has another " + file)
		}
	}
	return sums.revision, nil
}
