package templates

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/located"
)

// The delimiters of actions in a ResourceSet's templates.
const (
	SetLeft  = "<<"
	SetRight = ">>"
)

// RenderInputs evaluates a template of a ResourceSet with a set of inputs.
func (e *Engine) RenderInputs(source string, inputs map[string]any) (string, error) {
	e.rendering.inputs = inputs
	return e.Render(".", source, nil)
}

// NewForResourceSets returns an engine for the templates of ResourceSets, which can read no file.
func NewForResourceSets(ctx context.Context) *Engine {
	e := New(ctx, noFiles{})
	r := e.rendering
	r.left, r.right = SetLeft, SetRight
	known := r.functions
	known["get"] = known["sprigGet"]
	known["slugify"] = r.slugify
	for _, name := range []string{"toYaml", "mustToYaml"} {
		known[name] = r.guard("toYaml", marshalled)
	}
	r.functions = template.FuncMap{conditionFunction: known[conditionFunction],
		loopFunction: known[loopFunction],
		"inputs":     func() any { return r.inputs }}
	for _, name := range strings.Fields(setFunctions) {
		if f, ok := known[name]; ok {
			r.functions[name] = f
		} else {
			r.functions[name] = r.refused(name)
		}
	}
	return e
}

// setFunctions are the functions that the operator provides to templates: those of text/template, those of
// github.com/go-task/slim-sprig/v3 v3.0.0 that are deterministic, and its own. Functions that
// helmfiles don't have are not evaluated.
const setFunctions = `and or not print printf println html js urlquery len index call eq ne lt le gt ge slice
	ago date duration durationRound htmlDate mustToDate toDate unixEpoch
	trunc trim upper lower title substr repeat trimall trimAll trimSuffix trimPrefix contains hasPrefix hasSuffix
	quote squote cat indent nindent replace plural sha1sum sha256sum adler32sum toString atoi int64 int float64 seq
	toDecimal split splitList splitn toStrings until untilStep add1 add sub div mod mul randInt biggest max
	min maxf minf ceil floor round join sortAlpha default empty coalesce all any compact mustCompact fromJson toJson
	toPrettyJson toRawJson mustFromJson mustToJson mustToPrettyJson mustToRawJson ternary typeOf typeIs typeIsLike kindOf
	kindIs deepEqual base dir clean ext isAbs osBase osClean osDir osExt osIsAbs b64enc b64dec b32enc b32dec tuple list
	dict get set unset hasKey pluck keys pick omit values append push mustAppend mustPush prepend mustPrepend first
	mustFirst rest mustRest last mustLast initial mustInitial reverse mustReverse uniq mustUniq without mustWithout has
	mustHas mustSlice concat dig chunk mustChunk fail regexMatch mustRegexMatch regexFindAll mustRegexFindAll regexFind
	mustRegexFind regexReplaceAll mustRegexReplaceAll regexReplaceAllLiteral mustRegexReplaceAllLiteral regexSplit
	mustRegexSplit regexQuoteMeta urlParse urlJoin slugify toYaml mustToYaml`

func marshalled(v any) (string, error) {
	text, err := yaml.Marshal(v)
	return string(text), err
}

var slug = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// slugify returns a string that already is a slug; for other strings it returns a mark, because the conversion
// (github.com/gosimple/slug) is not evaluated.
func (r *rendering) slugify(text string) string {
	if slug.MatchString(text) && len(text) <= 63 {
		return text
	}
	m, bad := r.Marked(text)
	if !bad {
		m = located.Unknown{Reason: fmt.Sprintf("a template calls slugify of %q, which is not evaluated", text)}
	}
	return r.Mark(m)
}

// noFiles is a repository without files.
type noFiles struct{}

func (noFiles) ReadFile(p string) ([]byte, error) {
	return nil, fmt.Errorf("a ResourceSet cannot read files, such as %q", path.Base(p))
}

func (noFiles) Exists(string) bool { return false }

func (noFiles) Paths() []string { return nil }
