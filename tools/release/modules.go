package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// modules are the modules that are linked into an executable, and those from which it contains something else.
type modules struct {
	version, toolchain string
	list               []module
}

// module is one module, with the folder of its files. contained says what a release contains of a module that is
// not linked.
type module struct {
	Path, Version, Dir, Sum string
	contained               string
}

// linked reads the modules from the build information of the executable.
func linked(ctx context.Context, src *source, binary string) (*modules, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	m := &modules{version: info.Main.Version, toolchain: info.GoVersion}
	for _, d := range info.Deps {
		if d.Replace != nil {
			return nil, fmt.Errorf("module %s is replaced: go install would link another", d.Path)
		}
		m.list = append(m.list, module{Path: d.Path, Version: d.Version, Sum: d.Sum})
	}
	args := []string{"mod", "download", "-json"}
	for _, d := range m.list {
		args = append(args, d.Path+"@"+d.Version)
	}
	text, err := command(ctx, src.dir, []string{"GOFLAGS=-mod=mod"}, "go", args...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		var found module
		if err := d.Decode(&found); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(m.list, func(o module) bool { return o.Path == found.Path })
		if i < 0 || m.list[i].Sum != found.Sum {
			return nil, fmt.Errorf("module %s is not what was linked", found.Path)
		}
		m.list[i].Dir = found.Dir
	}
	root, err := command(ctx, src.dir, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	m.list = append(m.list, module{Path: "std", Version: m.toolchain, Dir: strings.TrimSpace(root)})
	schemas, err := schemaSources(ctx, src)
	m.list = append(m.list, schemas...)
	return m, err
}

// licenceName matches the names of files that licences require to be redistributed.
var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents|unlicense|authors)([-.].*)?$`)

// licences returns the licences and notices of all modules as one text.
func (m *modules) licences() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("Licences and notices of the modules that fleetwright is linked of, and of what else it contains.\n")
	for _, d := range m.list {
		text, err := d.licences()
		if err != nil {
			return nil, err
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}

// licences returns the licences and notices of a module. For one that is not linked, they come from its root.
func (d module) licences() ([]byte, error) {
	var out bytes.Buffer
	found, line := 0, strings.Repeat("=", 80)
	err := filepath.WalkDir(d.Dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && path != d.Dir && (d.Path == "std" || d.contained != "" || slices.Contains([]string{"testdata", "vendor", "node_modules", ".git"}, e.Name())) {
			return filepath.SkipDir
		}
		if !e.Type().IsRegular() || !licenceName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(d.Dir, path)
		fmt.Fprintf(&out, "\n%s\n%s %s: %s\n", line, d.Path, d.Version, filepath.ToSlash(rel))
		if d.contained != "" {
			out.WriteString(d.contained + "\n")
		}
		fmt.Fprintf(&out, "%s\n\n%s\n", line, text)
		found++
		return err
	})
	if err == nil && found == 0 {
		err = errors.New("module " + d.Path + " has no licence")
	}
	return out.Bytes(), err
}

type object = map[string]any

// spdx returns the software bill of materials of an executable, in SPDX 2.3, with the time of the commit.
func (m *modules) spdx(r *release, src *source, a *artifact, binary []byte) ([]byte, error) {
	const main = "SPDXRef-fleetwright"
	purl := func(path, version string) []object {
		return []object{{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:golang/" + path + "@" + version}}
	}
	packages := []object{{
		"name": "github.com/fleetwright/fleetwright", "SPDXID": main, "versionInfo": r.version, "filesAnalyzed": false,
		"packageFileName": filepath.Base(a.binary), "primaryPackagePurpose": "APPLICATION", "supplier": "Organization: The Fleetwright authors",
		"downloadLocation": "git+https://github.com/fleetwright/fleetwright@" + src.revision, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
		"copyrightText": "NOASSERTION", "externalRefs": purl("github.com/fleetwright/fleetwright", r.version),
		"checksums": []object{{"algorithm": "SHA256", "checksumValue": fmt.Sprintf("%x", sha256.Sum256(binary))}},
	}}
	relations := []object{{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": main}}
	for i, d := range m.list {
		id := fmt.Sprintf("SPDXRef-module-%d", i+1)
		p := object{
			"name": d.Path, "SPDXID": id, "versionInfo": d.Version, "filesAnalyzed": false, "primaryPackagePurpose": "LIBRARY",
			"downloadLocation": "NOASSERTION", "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
			"externalRefs": purl(strings.TrimPrefix(d.Path, "/"), d.Version),
		}
		if d.Sum != "" {
			p["comment"] = "go.sum: " + d.Sum
		}
		relation := "DEPENDS_ON"
		if d.contained != "" {
			p["comment"] = d.contained
			p["primaryPackagePurpose"], relation = "SOURCE", "GENERATED_FROM"
		}
		packages = append(packages, p)
		relations = append(relations, object{"spdxElementId": main, "relationshipType": relation, "relatedSpdxElement": id})
	}
	return json.MarshalIndent(object{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": a.name,
		"documentNamespace": r.base + "/" + r.version + "/" + a.name + ".spdx.json",
		"creationInfo":      object{"created": src.time.Format("2006-01-02T15:04:05Z"), "creators": []string{"Tool: fleetwright-release-" + r.number()}},
		"packages":          packages, "relationships": relations,
	}, "", " ")
}
