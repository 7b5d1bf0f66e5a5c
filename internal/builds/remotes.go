package builds

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Remote is an entry of a kustomization that kustomize would fetch.
type Remote struct {
	finding.Place
	// Ref is the entry, and Field the field of the kustomization that lists it.
	Ref, Field string
	// Ask is the request for its files; if it is zero, Unfetchable says why nothing can be fetched.
	Ask         chartref.Source
	Unfetchable string
}

// Remotes are the fetched files for the remote entries of kustomizations, for all builds.
type Remotes struct {
	// Find returns the files of a source, or why they are not available: "" where the lock does not name the source.
	Find func(chartref.Source) (files *Files, why string)

	mounted sync.Map // folder in remotesDir → *Files
}

// remotesDir is the folder in which a build sees fetched files; the names of the folders of resources begin with
// ofResources.
const (
	remotesDir  = ".fleetwright/fetched"
	ofResources = "resources-"
)

// mount adds files to those that builds see, and returns their path; resources are in folders with a prefix of their own.
func (r *Remotes) mount(ask chartref.Source, files *Files, resources bool) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", ask))
	name := hex.EncodeToString(sum[:8])
	if resources {
		name = ofResources + name
	}
	r.mounted.LoadOrStore(name, files)
	return path.Join(remotesDir, name)
}

// at returns the files that a path leads to, and the path in these: fetched files are below the folder of the files that
// list them.
func (f *Files) at(rel string) (*Files, string) {
	if f.Remotes == nil {
		return f, rel
	}
	rest, below := strings.CutPrefix(canonical(rel), remotesDir+"/")
	if !below {
		return f, rel
	}
	name, rest, _ := strings.Cut(rest, "/")
	if files, known := f.Remotes.mounted.Load(name); known {
		return files.(*Files), path.Clean(rest)
	}
	return f, rel
}

// OfResources reports whether a file that a build read may contain objects: it was not fetched for a patch or another
// field without resources.
func OfResources(file string) bool {
	return !isRemotePath(file) || strings.HasPrefix(file, remotesDir+"/"+ofResources)
}

// Holder returns the repository that contains a file which a build read, and the path of the file in it.
func (f *Files) Holder(file string) (*repository.Repository, string) {
	holder, at := f.at(file)
	return holder.Repo, at
}

// canonical returns the one path at which builds see a fetched file, however it is reached.
func canonical(rel string) string {
	if i := strings.LastIndex(rel, "/"+remotesDir+"/"); i >= 0 {
		return rel[i+1:]
	}
	return rel
}

// named returns the name of a reference to a path for messages: fetched files have the name of their source.
func (f *Files) named(at, ref string) string {
	if isRemotePath(at) {
		return f.Origin(at)
	}
	return ref
}

// isRemotePath reports whether a path leads to fetched files.
func isRemotePath(rel string) bool { return strings.HasPrefix(rel, remotesDir+"/") }

// shown replaces the paths at which builds see fetched files in a message with the names of the files.
func (f *Files) shown(message string) string {
	if f.Remotes == nil {
		return message
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(message, remotesDir+"/")
		if !found {
			out.WriteString(message)
			return out.String()
		}
		end := strings.IndexAny(after, "/ '\"")
		if end < 0 {
			end = len(after)
		}
		if files, known := f.Remotes.mounted.Load(after[:end]); known {
			before = before[:strings.LastIndexAny(before, " '\"")+1] // the path up to the fetched files
			out.WriteString(before + files.(*Files).Origin("."))
		} else {
			out.WriteString(before + remotesDir + "/" + after[:end])
		}
		message = after[end:]
	}
}
