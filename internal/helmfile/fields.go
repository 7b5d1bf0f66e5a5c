package helmfile

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
	"github.com/fleetwright/fleetwright/schemas"
)

// The forms of a field: suffixes of its name in the lists below.
const (
	isList   = "[]"
	isMap    = "{}"
	isAny    = "?"
	isScalar = ""
)

// fieldsOf maps each kind of map in a helmfile to the fields that helmfile 1.8 knows in it (pkg/state), and their forms.
var fieldsOf = map[string]map[string]string{
	"helmfile": forms(`helmBinary kustomizeBinary values[] environments{} bases[] helmDefaults{} helmfiles[] kubeContext
		namespace chart repositories[] commonLabels{} releases[] llm{} apiVersions[] kubeVersion hooks[] templates{}
		defaultInherit? missingFileHandler missingFileHandlerConfig{} lockFilePath`),
	"environment": forms(`values[] secrets[] kubeContext missingFileHandler missingFileHandlerConfig{} mergeStrategy`),
	"helmDefaults": forms(`kubeContext args[] diffArgs[] syncArgs[] templateArgs[] verify keyring enableDNS
		skipSchemaValidation devel wait waitRetries waitForJobs timeout recreatePods force atomic rollbackOnFailure
		cleanupOnFail forceConflicts historyMax createNamespace skipCRDs skipDeps skipRefresh resolveOCIVersions
		reuseValues postRenderer postRendererArgs[] cascade suppressOutputLineRegex[]
		disableAutoDetectedKubeVersionForDiff disableValidation disableOpenAPIValidation insecureSkipTLSVerify plainHttp
		deleteWait deleteTimeout syncReleaseLabels takeOwnership serverSide trackMode helmStuckGrace`),
	"call": forms(`path selectors[] selectorsInherited inherits[] values[]`),
	"repository": forms(`name url caFile certFile keyFile username password registryConfig managed oci verify keyring
		passCredentials skipTLSVerify plainHttp`),
	"release": forms(`chart chartPath directory version verify keyring enableDNS devel wait waitRetries waitForJobs timeout
		recreatePods force installed updateStrategy atomic rollbackOnFailure cleanupOnFail forceConflicts historyMax
		condition createNamespace reuseValues disableOpenAPIValidation disableValidation disableValidationOnInstall
		missingFileHandler missingFileHandlerConfig{} needs[] hooks[] unitTests[] name description namespace labels{}
		values[] secrets[] set[] setString[] valuesTemplate[] setTemplate[] apiVersions[] kubeVersion env[]
		valuesPathPrefix kubeContext insecureSkipTLSVerify plainHttp verifyTemplate waitTemplate installedTemplate
		conditionTemplate dependencies[] jsonPatches[] strategicMergePatches[] transformers[] adopt[] forceGoGetter
		forceNamespace skipDeps skipRefresh resolveOCIVersions postRenderer skipSchemaValidation postRendererArgs[]
		cascade suppressOutputLineRegex[] disableAutoDetectedKubeVersionForDiff inherit? suppressDiff deleteWait
		deleteTimeout syncReleaseLabels takeOwnership serverSide trackMode trackTimeout trackLogs trackFailedLogs
		helmStuckGrace trackKinds[] skipKinds[] trackResources[] kubedogQPS kubedogBurst trackFailOnError`),
	"hook":    forms(`name events[] command kubectlApply{} args[] showlogs`),
	"setting": forms(`name value file values[]`),
	"inherit": forms(`template except[]`),
}

// partsOf maps the fields that have fields of their own, or whose items have, to the kind of map they are.
var partsOf = map[string]string{"environments": "environment", "helmDefaults": "helmDefaults", "helmfiles": "call",
	"repositories": "repository", "releases": "release", "templates": "release", "hooks": "hook", "set": "setting",
	"setString": "setting", "setTemplate": "setting", "env": "setting", "inherit": "inherit"}

func forms(list string) map[string]string {
	all := map[string]string{}
	for field := range strings.FieldsSeq(list) {
		name := strings.TrimRight(field, "[]{}?")
		all[name] = strings.TrimPrefix(field, name)
	}
	return all
}

// checkFields records the fields of a map that helmfile refuses: unknown ones, and those of the wrong form. A placeholder for an
// unknown value passes as any form.
func (h *helmfile) checkFields(of string, n *yaml.Node) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key, v := n.Content[i], n.Content[i+1]
		for v.Kind == yaml.AliasNode {
			v = v.Alias
		}
		form, known := fieldsOf[of][key.Value]
		at := located.At(h.file, key.Line)
		switch {
		case key.Kind != yaml.ScalarNode, strings.Contains(key.Value, templates.MarkOpen):
		case key.Value == "<<":
			h.checkFields(of, v)
		case !known:
			reason := fmt.Sprintf("a %s has no field %q", of, key.Value)
			if near, slip := schemas.Misspelt(key.Value, slices.Sorted(maps.Keys(fieldsOf[of]))); slip {
				reason += fmt.Sprintf("; did you mean %q?", near)
			}
			h.refuse(at, reason)
		case !hasForm(v, form):
			h.refuse(at, fmt.Sprintf("%s of a %s is not %s", key.Value, of, map[string]string{isList: "a list", isMap: "a map", isScalar: "a string, number or boolean"}[form]))
		case partsOf[key.Value] != "":
			h.checkParts(partsOf[key.Value], key.Value, v)
		}
	}
}

// checkParts checks the fields of a map, or of the items of a map or list.
func (h *helmfile) checkParts(of, field string, v *yaml.Node) {
	if v.Kind == yaml.MappingNode && (of == field || of == "inherit") {
		h.checkFields(of, v)
		return
	}
	for i, item := range v.Content {
		if v.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		for item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		h.checkFields(of, item)
	}
}

func hasForm(v *yaml.Node, form string) bool {
	switch {
	case form == isAny || v.ShortTag() == "!!null" || v.Kind == yaml.ScalarNode && strings.Contains(v.Value, templates.MarkOpen):
		return true
	case form == isList:
		return v.Kind == yaml.SequenceNode
	case form == isMap:
		return v.Kind == yaml.MappingNode
	}
	return v.Kind == yaml.ScalarNode
}

// unquoted returns the line of the first key that is a map or a list itself, 0 if there is none: YAML reads an unquoted
// template as one.
func unquoted(nodes []*yaml.Node) int {
	for _, n := range nodes {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Kind == yaml.MappingNode || n.Content[i].Kind == yaml.SequenceNode {
				return n.Content[i].Line
			}
		}
		if line := unquoted(n.Content); line > 0 {
			return line
		}
	}
	return 0
}

var (
	topLevelKey = regexp.MustCompile(`^([a-zA-Z]+):`)
	separator   = regexp.MustCompile(`^---\s*$`)
)

// checkOrder records that helmfile, which searches the lines of a file for its top-level fields (pkg/policy), refuses their
// order, or finds none.
func (h *helmfile) checkOrder(content string) {
	released, section, keys := false, "", 0
	for i, line := range strings.Split(content, "\n") {
		if separator.MatchString(line) {
			section = ""
		}
		m := topLevelKey.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		keys++
		key, at := m[1], located.At(h.file, i+1)
		switch {
		case (key == "bases" || key == "environments") && released:
			h.refuse(at, key+" must come before releases")
			return
		case key != "environments" && key != "releases":
			continue
		case section != "" && section != key:
			h.refuse(at, "environments and releases must not be in the same part of the file: separate them by a line ---")
			return
		}
		section, released = key, released || key == "releases"
	}
	if keys == 0 {
		h.refuse(located.At(h.file, 1), "no line begins with a top-level field: helmfile does not find the fields of a map in braces")
	}
}
