// Package version describes the running build: a release, a build of a commit, or another build.
package version

import (
	"cmp"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
)

// Build contains the information that the Go toolchain wrote into the executable.
type Build struct {
	// Version is the module's version: a release, a pseudo-version of a commit, or "(devel)".
	Version string
	// Revision is the commit, and Time its date; both are empty for a build from the module proxy.
	Revision, Time string
	// Modified is set if the work tree differed from the commit.
	Modified bool
	// Go is the toolchain's version, and Platform the platform that it built for, such as linux/amd64.
	Go, Platform string
}

// Current returns the running executable's build.
var Current = sync.OnceValue(func() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{Version: devel}
	}
	return read(info)
})

const devel = "(devel)"

func read(info *debug.BuildInfo) Build {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	return Build{
		Version:  cmp.Or(info.Main.Version, devel),
		Revision: settings["vcs.revision"], Time: settings["vcs.time"], Modified: settings["vcs.modified"] == "true",
		Go: info.GoVersion, Platform: settings["GOOS"] + "/" + settings["GOARCH"],
	}
}

// pseudo matches the pseudo-versions of commits without a tag.
// Source: golang.org/x/mod/module, IsPseudoVersion.
var pseudo = regexp.MustCompile(`[-.]\d{14}-[0-9a-f]{12}$`)

// Release returns the version if the build is a release, and "" otherwise.
func (b Build) Release() string {
	v, err := semver.StrictNewVersion(strings.TrimPrefix(b.Version, "v"))
	if err != nil || !strings.HasPrefix(b.Version, "v") || v.Metadata() != "" || pseudo.MatchString(b.Version) {
		return ""
	}
	return b.Version
}

// Installable returns the version with which go install installs this build: its release, the pseudo-version of its commit, or
// "latest" if the commit is unknown or the work tree differed from it.
func (b Build) Installable() string {
	if release := b.Release(); release != "" {
		return release
	}
	if strings.HasPrefix(b.Version, "v") && pseudo.MatchString(b.Version) {
		return b.Version
	}
	return "latest"
}

// Before reports whether the build is older than a release. A build without a version is not.
func (b Build) Before(release string) bool {
	this, err := semver.NewVersion(b.Version)
	if err != nil {
		return false
	}
	other, err := semver.NewVersion(release)
	return err == nil && this.LessThan(other)
}
