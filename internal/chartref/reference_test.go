package chartref

import "testing"

func TestFromReference(t *testing.T) {
	for _, c := range []struct {
		ref        string
		file       bool // that only files are possible
		want       string
		at         string
		submodules bool
		problem    bool
	}{
		{ref: "https://github.com/org/repo//deploy/base?ref=v1.2.0", want: "git https://github.com/org/repo, ref v1.2.0", at: "deploy/base", submodules: true},
		{ref: "https://github.com/org/repo/deploy?version=v1&submodules=false", want: "git https://github.com/org/repo, ref v1", at: "deploy"},
		{ref: "github.com/org/repo?ref=main", want: "git https://github.com/org/repo, ref main", at: ".", submodules: true},
		{ref: "http://GitHub.com/org/repo", want: "git https://github.com/org/repo, ref HEAD", at: ".", submodules: true},
		{ref: "git::https://git.example.org/a/b/c.git//x?ref=1", want: "git https://git.example.org/a/b/c.git, ref 1", at: "x", submodules: true},
		{ref: "https://git.example.org/a/b.git/x/y", want: "git https://git.example.org/a/b.git, ref HEAD", at: "x/y", submodules: true},
		{ref: "https://git.example.org/a/b/x/y", want: "git https://git.example.org/a/b, ref HEAD", at: "x/y", submodules: true},
		{ref: "https://dev.azure.com/org/project/_git/repo/x", want: "git https://dev.azure.com/org/project/_git/repo, ref HEAD", at: "x", submodules: true},
		{ref: "git@github.com:org/repo.git//x?ref=v1", want: "git ssh://git@github.com/org/repo.git, ref v1", at: "x", submodules: true},
		{ref: "git@gitlab.com:org/repo//x", want: "git ssh://git@gitlab.com/org/repo, ref HEAD", at: "x", submodules: true},
		{ref: "ssh://git@example.org/org/repo//x", want: "git ssh://git@example.org/org/repo, ref HEAD", at: "x", submodules: true},
		{ref: "https://github.com/org/repo//deploy/app.yaml?ref=v1", want: "git https://github.com/org/repo, ref v1", at: "deploy/app.yaml", submodules: true},
		{ref: "https://github.com/org/repo/releases/download/v1/install.yaml", want: "file https://github.com/org/repo/releases/download/v1/install.yaml, the file", at: "install.yaml"},
		{ref: "https://example.org/patch", file: true, want: "file https://example.org/patch, the file", at: "patch"},
		{ref: "https://example.org/a.yaml?token=x", problem: true},
		{ref: "https://user:password@example.org/org/repo", problem: true},
		{ref: "https://github.com/org/repo//../../x", problem: true},
		{ref: "file:///srv/repo", problem: true},
		{ref: "https://example.org/", problem: true},
		{ref: "https://${HOST}/a.yaml", problem: true},
		{ref: "https://example.org", file: true, problem: true},
	} {
		s, at, err := FromReference(c.ref, !c.file)
		if (err != nil) != c.problem {
			t.Errorf("%s: %v", c.ref, err)
		}
		if err == nil && (s.String() != c.want || at != c.at || s.Submodules != c.submodules || s.Whole != (s.Kind == Git)) {
			t.Errorf("%s: got %v, at %q, %+v", c.ref, s, at, s)
		}
	}
}
