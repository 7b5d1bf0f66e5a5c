package version

import (
	"runtime/debug"
	"testing"
)

func TestRead(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Settings: []debug.BuildSetting{
		{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"},
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-11-23T06:00:00Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	want := Build{Version: devel, Revision: "abc", Time: "2026-11-23T06:00:00Z", Modified: true, Go: "go1.26.8", Platform: "linux/arm64"}
	if got := read(info); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	info.Main.Version = "v1.2.3"
	if got := read(info).Version; got != "v1.2.3" {
		t.Errorf("the version is %q", got)
	}
}

func TestRelease(t *testing.T) {
	for version, release := range map[string]bool{
		"v1.2.3": true, "v0.1.0": true, "v1.2.3-rc.1": true,
		devel: false, "": false, "1.2.3": false, "v1.2": false, "v1.2.3+dirty": false,
		"v0.0.0-20261123060000-abcdefabcdef": false, "v1.2.4-0.20261123060000-abcdefabcdef": false,
		"v1.2.3-rc.1.0.20261123060000-abcdefabcdef+dirty": false,
	} {
		want := ""
		if release {
			want = version
		}
		if got := (Build{Version: version}).Release(); got != want {
			t.Errorf("%q: the release is %q, want %q", version, got, want)
		}
	}
}

func TestInstallable(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "v1.2.3", devel: "latest", "": "latest", "v1.2.3+dirty": "latest",
		"v0.0.0-20261123060000-abcdefabcdef":       "v0.0.0-20261123060000-abcdefabcdef",
		"v0.0.0-20261123060000-abcdefabcdef+dirty": "latest",
	} {
		if got := (Build{Version: version}).Installable(); got != want {
			t.Errorf("%q: go install gets it by %q, want %q", version, got, want)
		}
	}
}

func TestBefore(t *testing.T) {
	for _, c := range []struct {
		build, release string
		want           bool
	}{
		{"v1.2.3", "v1.2.4", true}, {"v1.2.3", "v1.2.3", false}, {"v1.10.0", "v1.9.0", false}, {"v1.2.3-rc.1", "v1.2.3", true},
		{"v1.2.4-0.20261123060000-abcdefabcdef", "v1.2.3", false}, {"v1.2.4-0.20261123060000-abcdefabcdef+dirty", "v1.2.4", true},
		{devel, "v9.0.0", false}, {"v1.2.3", "", false}, {"v1.2.3", "nonsense", false},
	} {
		if got := (Build{Version: c.build}).Before(c.release); got != c.want {
			t.Errorf("%q before %q: %v", c.build, c.release, got)
		}
	}
}
