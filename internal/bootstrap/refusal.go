package bootstrap

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/bootstrap/state"
	"github.com/fleetwright/fleetwright/internal/bounds"
)

// phase is a step of helmfile's: it goes through all files and releases in one
// before it begins the next.
type phase int

const (
	loading    phase = iota // parts, bases and values of the state
	executing               // the templates of releases
	selecting               // conditions, and releases of one name
	writing                 // values files
	installing              // Helm's command line
)

// refusal is a reason for which helmfile stops, and where.
type refusal struct {
	text
	phase phase
	// doubtful says that it depends on what cannot be known here whether helmfile stops.
	doubtful bool
	// absent says that the reason is a file that isn't there, of which the verdicts on the
	// releases tell.
	absent bool
}

// deliberate says that a template stops helmfile by the function fail: whatever is unknown, it came
// there in the world under way.
func (r refusal) deliberate() bool { return strings.Contains(r.value, "error calling fail:") }

// maxRefusals bounds the reasons of one phase: the first one counts.
const maxRefusals = 50

// refuse notes a reason for which helmfile stops.
func (h *helmfile) refuse(at place, reason string) {
	h.note(refusal{text: text{place: at, value: reason}})
}

// refuseIf notes a reason for which helmfile stops, and whether it certainly does.
func (h *helmfile) refuseIf(certain bool, at place, reason string) {
	h.note(refusal{text: text{place: at, value: reason}, doubtful: !certain})
}

// refuseAbsent notes that helmfile stops at a file that isn't there.
func (h *helmfile) refuseAbsent(at place, reason string) {
	h.note(refusal{text: text{place: at, value: reason}, absent: true})
}

func (h *helmfile) note(r refusal) {
	r.phase = h.phase
	r.doubtful = r.doubtful || h.guessed || strings.Contains(r.value, markOpen)
	if h.noted[r.phase]++; h.noted[r.phase] <= maxRefusals {
		h.refusals = append(h.refusals, r)
	}
}

// firsts are the first reasons of each phase and kind in some lists: however many releases and
// files stop helmfile, they are few.
func firsts(lists ...[]refusal) []refusal {
	type kind struct {
		phase            phase
		doubtful, absent bool
	}
	seen := map[kind]bool{}
	var all []refusal
	for _, list := range lists {
		for _, r := range list {
			if k := (kind{r.phase, r.doubtful, r.absent}); !seen[k] {
				seen[k] = true
				all = append(all, r)
			}
		}
	}
	return all
}

// inPhases sorts refusals as helmfile comes to them.
func inPhases(all []refusal) []refusal {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b refusal) int { return cmp.Compare(a.phase, b.phase) })
	return all
}

var (
	topLevelKey = regexp.MustCompile(`^([a-zA-Z]+):`)
	separator   = regexp.MustCompile(`^--- *$`)
)

// againstPolicy says why helmfile refuses the order of a file's top-level keys,
// and at which line (pkg/policy, v1.8.0); "" where it doesn't.
func againstPolicy(content string) (string, int) {
	type key struct {
		name string
		line int
	}
	var keys []key
	for i, line := range strings.Split(content, "\n") {
		line = strings.TrimRight(line, " \t\r\f\v")
		if separator.MatchString(line) {
			keys = append(keys, key{"---", i + 1})
		} else if m := topLevelKey.FindStringSubmatch(line); m != nil {
			keys = append(keys, key{m[1], i + 1})
		}
	}
	releases := false
	for _, k := range keys {
		switch {
		case k.name == "releases":
			releases = true
		case (k.name == "bases" || k.name == "environments") && releases:
			return fmt.Sprintf("top-level config key %s must be defined before releases", k.name), k.line
		}
	}
	if !slices.ContainsFunc(keys, func(k key) bool { return k.name != "---" }) {
		return "no top-level config keys are found", 1
	}
	last := key{name: "---"}
	seen := map[string]bool{}
	for _, k := range keys {
		if k.name != "---" && (k.name != "environments" && k.name != "releases" || seen[k.name]) {
			continue
		}
		seen[k.name] = true
		if last.name != "---" && k.name != "---" {
			return "environments and releases cannot be defined within the same YAML part. Use --- to extract the environments into a dedicated part", k.line
		}
		last = k
	}
	return "", 0
}

// maxChecked is how many fields a part may have about which helmfile's decoding is asked: it
// compares all keys of a map with each other.
const maxChecked = 5000

// checkFields notes what helmfile's strict decoding refuses of a part: a field
// that it doesn't know, a type that doesn't fit. What stands for an unknown value
// has no type.
func (r *reader) checkFields(h *helmfile, source string, offset int, original func(int) int) {
	if strings.Contains(source, markOpen) {
		return
	}
	if strings.Count(source, ":") > maxChecked {
		bounds.Refuse(r.unit, fmt.Sprintf("a part of it has more than %d fields", maxChecked))
		return
	}
	// Worlds often render the same text.
	digest := sha256.Sum256([]byte(source))
	err, known := r.checked[digest]
	if !known {
		err = state.Check([]byte(source))
		r.checked[digest] = err
	}
	if err == nil {
		return
	}
	reason := shortened(err.Error())
	line := offset + 1
	if m := yamlLine.FindStringSubmatch(reason); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = original(n)
		}
	}
	if strings.HasPrefix(reason, "yaml: invalid map key") {
		nodes, _ := parseText(h.file, source)
		line = original(max(lineOfMapKey(nodes), 1))
	}
	h.refuse(place{h.file, line}, reason)
}

// lineOfMapKey is the line of the first key that is a map or a list, 0 where there is none.
func lineOfMapKey(nodes []*yaml.Node) int {
	for _, n := range nodes {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Kind == yaml.MappingNode || n.Content[i].Kind == yaml.SequenceNode {
				return n.Content[i].Line
			}
		}
		if line := lineOfMapKey(n.Content); line > 0 {
			return line
		}
	}
	return 0
}

var yamlLine = regexp.MustCompile(`line (\d+):`)

var templateLine = regexp.MustCompile(`template: [^:]*:(\d+)`)

// lineOfTemplateError is the line of the template that an error is about, 1
// where it names none.
func lineOfTemplateError(err error) int {
	if m := templateLine.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			return n
		}
	}
	return 1
}

// helmfilesNames are helmfile's names of the types that templates see here.
var helmfilesNames = strings.NewReplacer("bootstrap.stateData", "*state.EnvironmentTemplateData",
	"bootstrap.releaseData", "state.releaseTemplateData", "bootstrap.releaseInfo", "state.releaseTemplateDataRelease",
	"bootstrap.environmentData", "environment.Environment")

// templateReason is the reason for which a template fails, in helmfile's words, without secrets.
func templateReason(err error) string {
	// What exceeds a bound of this evaluation is clearer without where it did.
	for _, bound := range ownBounds {
		if errors.Is(err, bound) {
			return bound.Error()
		}
	}
	return shortened(withoutSecrets(helmfilesNames.Replace(err.Error())))
}

// ownBounds are the errors about what only this evaluation refuses.
var ownBounds = []error{errTooLarge, errTooDeep, errNested, errInherits}

// errUndecided is about a condition on what cannot be known here: helmfile may
// well accept the template.
var errUndecided = errors.New("a condition depends on what cannot be known")

func isUndecided(err error) bool {
	var unknown *unknownError
	return errors.As(err, &unknown) || errors.Is(err, errUndecided) ||
		slices.ContainsFunc(ownBounds, func(bound error) bool { return errors.Is(err, bound) })
}

// checkReleases notes the releases that helmfile refuses as a whole: two of one
// name, and needs of what isn't there.
func (h *helmfile) checkReleases(all []*release) {
	h.phase = selecting
	seen := map[string]*release{}
	for _, r := range all {
		if r.name.unknown != nil || r.namespace.unknown != nil || r.unreadable != "" {
			return
		}
		if id := r.id(); r.skipped == nil {
			if first := seen[id]; first != nil {
				h.refuseIf(!first.undecided && !r.undecided, r.place, fmt.Sprintf("duplicate release %q found", r.name.value))
			}
			seen[id] = r
		}
	}
}

// textKeys fails on a map with a key that is no text. Where only the outermost map
// counts, so do those within one that has such a key.
func textKeys(n *yaml.Node, outermost bool, depth int) error {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if depth > maxValueDepth {
		return errTooDeep
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		var key any
		if k := n.Content[i]; k.Kind == yaml.ScalarNode && k.ShortTag() != "!!str" && k.ShortTag() != "!!merge" && k.Decode(&key) == nil {
			return keyError(key)
		}
	}
	for i, child := range n.Content {
		if outermost || n.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		if err := textKeys(child, false, depth+1); err != nil {
			return err
		}
	}
	return nil
}
