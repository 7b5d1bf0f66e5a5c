package limits

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table into docs/security.md")

// TestTable compares the table of the counters in docs/security.md with the counters.
func TestTable(t *testing.T) {
	const file, head, end = "../../docs/security.md", "| Counter | Limit | The error is about |\n|---|---|---|\n", "\n\n"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), head)
	_, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatal("docs/security.md has no table of the counters")
	}
	var table strings.Builder
	for _, rows := range [][]row{ofRepositories(), ofExpressions(), ofClusters(), ofTemplates(), ofReports()} {
		for _, r := range rows {
			fmt.Fprintf(&table, "| %s | %s | %s |\n", r.what, r.limit, r.about)
		}
	}
	want := before + head + strings.TrimSuffix(table.String(), "\n") + end + after
	if *update {
		err = os.WriteFile(file, []byte(want), 0o644)
	} else if want != string(page) {
		t.Error("the table of docs/security.md differs: run go test ./internal/limits -update")
	}
	if err != nil {
		t.Error(err)
	}
}

// TestEachHasARow: the table names each counter.
func TestEachHasARow(t *testing.T) {
	own, err := os.ReadFile("table_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(own), "func ofRepositories()")
	parsed, err := parser.ParseFile(token.NewFileSet(), "limits.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, object := range parsed.Scope.Objects {
		if object.Kind == ast.Con && !regexp.MustCompile(`\b`+name+`\b`).MatchString(rows) {
			t.Errorf("the table has no row with %s", name)
		}
	}
}

// row is a counter, or several of the same subject, as docs/security.md describes them.
type row struct {
	what, limit string
	about       string // what the error names
}

func bytes(n int) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 1<<20:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d kB", n>>10)
}

// number returns a number with commas.
func number(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func ofRepositories() []row {
	return []row{
		{"bytes of a file, and of a commit, tag or tree", bytes(FileBytes), "the file; a revision or the index"},
		{"bytes of all YAML and JSON files, or of a ResourceList", bytes(TotalBytes), "the first file that is not read; stdin"},
		{"files and folders; YAML and JSON files", number(Files) + "; " + number(Parsed), "the run, which ends with status 2; the revision"},
		{"documents of a file", number(Documents), "the file"},
		{"nesting of values, of folders, and of parentheses in a chart's template", number(Nesting), "the file, the folder, the HelmRelease, the bootstrap file, the ResourceSet"},
		{"values of a file, estimated before it is parsed", number(FileValues), "the file"},
		{"values of all files or of a ResourceList, estimated likewise", fmt.Sprintf("%s, or one for %d bytes up to %s", number(TotalValues), ValueBytes, number(MostValues)), "the first file that is not read; stdin"},
		{"sum of the levels of the values of deep documents", number(Levels), "the file"},
		{"pairs of keys in large maps", number(KeyPairs), "the file"},
		{"values, or bytes, that aliases add", number(AliasValues) + ", or " + bytes(AliasBytes), "the file; the Kustomization for a patch"},
		{"bytes of a `.sourceignore`; patterns of all; characters of one; characters compared with parts of paths", bytes(IgnoreBytes) + "; " + number(IgnorePatterns) + "; " + number(IgnoreLength) + "; " + number(IgnoreSteps), "the `.sourceignore`: only Flux's own patterns count"},
		{"branches and tags of the repository that sources name", number(Branches), "the source"},
		{"decisions to ignore a rule, in one annotation or file", number(Ignores), "the first one that has no effect ([ignore-invalid](rules/ignore-invalid.md))"},
		{"deltas in the chain of a Git object; their bytes; bytes of all their results", number(Deltas) + "; " + bytes(DeltaBytes) + "; " + bytes(ChainBytes), "the revision"},
		{"bytes of an object of a repository that is committed to", bytes(Committed), "the target, with status 3"},
	}
}

func ofExpressions() []row {
	return []row{
		{"digits of a quantity or of a number in a chart's schema, and its exponent", number(Digits), "the field, or the schema"},
		{"instructions of a regular expression of a schema, a rule in CEL or a specification", number(Pattern), "the object, the chart, the specification"},
		{"instructions of one that many names, keys or paths are compared with: `path_regex`, `encrypted_regex`, selectors of patches", number(ShortPattern), "the `.sops.yaml`, the encrypted file, the Kustomization"},
		{"instructions of all patterns of a schema; of a `.sops.yaml`", number(PatternsTogether) + "; " + number(PatternsOfRules), "the schema; the `.sops.yaml`"},
		{"instructions of a schema's largest pattern above " + number(ShortPattern) + ", times the bytes of an object's strings", number(PatternSteps), "the object"},
		{"elements that indexes create in lists; elements copied while lists grow: `targetPath` of a HelmRelease, `set` of a helmfile", number(ListElements) + "; " + number(ListCopies), "the HelmRelease, the bootstrap file"},
		{"parts of a JSON Schema of `--schemas`", number(SchemaParts), "the object"},
		{"characters of an expression in CEL; cost of a policy's expression, or of a kind's rules for an object", number(CELCharacters) + "; " + number(CELCost), "the object, the policy"},
		{"cost of all policies' expressions", number(PolicyCost), "the policy"},
		{"bytes that `replace()` in CEL may return, computed beforehand", bytes(ReplacedBytes), "the object, the policy"},
		{"bytes of an audit policy or an authentication of k0rdent", bytes(JudgedBytes), "the object"},
	}
}

func ofClusters() []row {
	return []row{
		{"files that a build reads; kustomizations; nesting of components; bytes; bytes that a JSON patch copies; replacements in a kustomization that insert a field into itself; bytes of the largest file, for each use of a var", number(Reads) + "; " + number(BuiltFolders) + "; " + number(ComponentNesting) + "; " + bytes(TotalBytes) + "; " + bytes(PatchCopies) + "; " + number(Doublings) + "; " + bytes(Inserted), "the Kustomization"},
		{"objects that all Kustomizations apply", fmt.Sprintf("%s, and %d for each object of the repository", number(Objects), ObjectCopies), "the Kustomization"},
		{"variables of all Kustomizations; of an object; nested in defaults", number(Variables) + "; " + number(ObjectVariables) + "; " + number(VariableNesting), "the Kustomization"},
		{"bytes that substitution adds to a Kustomization's objects; to all", bytes(Growth) + "; " + bytes(TotalBytes), "the Kustomization"},
		{"square of the bytes of a variable that is compared with a pattern", number(ComparedSquares), "the Kustomization"},
		{"Kustomizations of a cluster; in a chain from one document", number(Kustomizations) + "; " + number(KustomizationChain), "the Kustomization that applies the next"},
		{"files, and bytes, that ArtifactGenerators copy", number(Files) + ", and " + bytes(TotalBytes), "the Kustomization"},
		{"comparisons of names and labels, steps along dependencies, in a cluster", number(Comparisons), "the cluster, or the first object that is not followed"},
		{"HelmReleases that are compared with a bootstrap; folders that no cluster applies; kustomizations around a file", number(HelmReleases) + "; " + number(UnappliedFolders) + "; " + number(EnclosingFolders), "the HelmReleases; the folders; the HelmRelease"},
		{"inputs of a ResourceSet, references to input providers; objects", number(SetInputs) + "; " + number(SetObjects), "the ResourceSet"},
		{"labels of a source of Kommander", number(Labels), "the object"},
	}
}

func ofTemplates() []row {
	return []row{
		{"files of a chart; bytes of one; of its archive; of all", number(ChartFiles) + "; " + bytes(ChartFileBytes) + "; " + bytes(ArchiveBytes) + "; " + bytes(ChartBytes), "the HelmRelease"},
		{"bytes of all charts; files and folders of `--charts`", bytes(AllChartBytes) + "; " + number(LibraryFiles), "the HelmRelease; the run, which ends with status 2"},
		{"nesting of archives; dependencies; chain of charts that contain HelmReleases", fmt.Sprintf("%d; %d; %d", Subcharts, Subcharts/2, Charts), "the HelmRelease"},
		{"values of a chart's values and definitions; of its output, its schema or other values, estimated", number(ChartValues) + "; " + number(ChartText), "the HelmRelease"},
		{"actions of a template; open control structures of a chart's template", number(Actions) + "; " + number(OpenBlocks), "the HelmRelease, the bootstrap file, the ResourceSet"},
		{"bytes of a template of a bootstrap or ResourceSet", bytes(TemplateBytes), "the bootstrap file, the ResourceSet"},
		{"bytes of a chart's output, or of the result of one of its functions; of everything that its templates repeat, create and print, where a repetition counts as 256 bytes more, and a `tpl` as 5,000 and 100 for each definition", bytes(ChartOutput) + "; " + bytes(ChartTexts), "the HelmRelease"},
		{"bytes of the output of a template of a bootstrap or ResourceSet, or of the result of a function", bytes(TemplateOutput), "the bootstrap file, the ResourceSet"},
		{"nesting of includes; repetitions of loops, where an include counts as 100; elements passed to functions: templates of a bootstrap or ResourceSet", number(Includes) + "; " + number(Repetitions) + "; " + number(Elements), "the bootstrap file, the ResourceSet"},
		{"other helmfiles of a helmfile; templates that its releases inherit", number(Helmfiles) + "; " + number(Inherited), "the bootstrap file"},
	}
}

func ofReports() []row {
	return []row{
		{"strings within strings that are searched for secrets", number(NestedTexts), "the text"},
		{"bytes of lines that mention secrets, in settings that are not YAML; of such a file", bytes(SettingsBytes) + "; " + bytes(SettingsBytes), "the first file that is not searched; a larger one is searched for private keys only"},
		{"bytes of text that is searched for private keys; with other files; of files that mention keys", bytes(SearchedText) + "; " + bytes(SearchedBytes) + "; " + bytes(KeyFileBytes), "the first file that is not searched"},
		{"findings of one rule in a report", number(Findings), "the rule"},
		{"bytes of a message or hint", bytes(MessageBytes), "nothing: the message says how long it was"},
	}
}
