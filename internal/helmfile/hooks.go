package helmfile

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Hook is a hook of a release that calls kubectl.
type Hook struct {
	finding.Place
	// Shared says that it is a hook of the whole helmfile.
	Shared bool
	// Before says that it runs before the release is installed. Event is the event that it runs on.
	Before bool
	Event  string
	// Applied are the files of the repository that it applies.
	Applied []located.Text
	// Scripts are the files of the repository that it runs.
	Scripts []located.Text
	// Definitions are the names of the CustomResourceDefinitions that it waits for, and Workloads the Deployments,
	// DaemonSets and StatefulSets, as KIND/NAMESPACE/NAME.
	Definitions, Workloads []located.Text
	// texts are the parts of its commands that may write files, and runs all scripts that it runs.
	texts, runs []string
}

// before are the events of hooks that run before a release is installed.
var before = []string{"prepare", "preapply", "presync"}

// hooksOf returns the hooks of a release, with paths relative to the folder of the helmfile, where helmfile runs them.
// Applied and Scripts omit absolute paths, URLs, names that depend on a template or a pattern, and files that another hook
// of the release mentions, as it may write them.
func hooksOf(file string, n *yaml.Node) []Hook {
	var all []Hook
	named := map[string]bool{} // words of the other arguments
	for _, node := range located.Items(n, "hooks") {
		h := Hook{Place: located.At(file, node.Line)}
		for _, event := range located.Items(node, "events") {
			if h.Event = event.Value; slices.Contains(before, h.Event) {
				h.Before = true
				break
			}
		}
		rest := h.applies(node)
		h.waits(node)
		h.texts = append(h.texts, rest...)
		for _, t := range h.Scripts {
			h.runs = append(h.runs, t.Value)
		}
		for _, arg := range rest {
			for word := range strings.FieldsFuncSeq(arg, separates) {
				named[word] = true
			}
		}
		all = append(all, h)
	}
	for i := range all {
		foreign := func(t located.Text) bool {
			return t.Value == "" || t.Value == "-" || path.IsAbs(t.Value) || strings.Contains(t.Value, "//") || named[path.Base(t.Value)] ||
				strings.ContainsAny(ownName.ReplaceAllString(t.Value, ""), "{}$*?[~\\")
		}
		all[i].Applied = slices.DeleteFunc(all[i].Applied, foreign)
		all[i].Scripts = slices.DeleteFunc(all[i].Scripts, foreign)
	}
	return all
}

// separates reports whether a character ends a file name in a shell command.
func separates(r rune) bool { return strings.ContainsRune("/ \t\n\"'`=:;,|&<>()", r) }

// applies records the files that a hook applies or runs, and returns its other arguments. Of the commands of a shell it reads
// the simple ones.
func (h *Hook) applies(hook *yaml.Node) (others []string) {
	if direct := repository.Lookup(hook, "kubectlApply"); direct != nil {
		for _, field := range []string{"filename", "kustomize"} {
			h.apply("", field == "kustomize", located.ScalarText(h.File, direct, field))
		}
		return nil
	}
	var args []located.Text
	nodes := located.Items(hook, "args")
	for _, arg := range nodes {
		args = append(args, located.Text{Place: located.At(h.File, arg.Line), Value: arg.Value})
	}
	command := located.ScalarText(h.File, hook, "command")
	if isPath(command.Value) {
		h.Scripts = append(h.Scripts, command)
	}
	if slices.Contains([]string{"bash", "sh"}, path.Base(command.Value)) {
		at, commands := shellScript(args)
		switch {
		case at < 0:
		case commands:
			for _, arg := range args[at+1:] {
				others = append(others, arg.Value)
			}
			return append(others, h.script(nodes[at])...)
		default:
			h.Scripts = append(h.Scripts, args[at])
			args = args[at+1:]
		}
	}
	return h.kubectl("", append([]located.Text{command}, args...))
}

// apply records a file that a command in a folder applies, or a kustomization that it builds, unless kustomize fetches that.
func (h *Hook) apply(dir string, kustomization bool, t located.Text) {
	if kustomization && chartref.IsRemote(t.Value) {
		return
	}
	t.Value = inFolder(dir, t.Value)
	h.Applied = append(h.Applied, t)
}

// kubectl notes the files that a command in a folder applies, and returns its other arguments.
func (h *Hook) kubectl(dir string, words []located.Text) (others []string) {
	args, reads := words[1:], isApply(words)
	for i := 0; i < len(args); i++ {
		name, value, inline := fileFlag(args[i].Value)
		switch {
		case !reads || name == "":
			others = append(others, args[i].Value)
			continue
		case !inline && i+1 == len(args):
			continue
		case !inline:
			i++
			value = args[i].Value
		}
		files := []string{value}
		if name == "-f" || name == "--filename" {
			files = strings.Split(value, ",") // kubectl's flag accepts a list
		}
		for _, file := range files {
			h.apply(dir, name == "-k" || name == "--kustomize", located.Text{Place: args[i].Place, Value: file})
		}
	}
	return others
}

// fileFlag returns the kubectl flag by which an argument names files, "" if it names none, and the value that follows it in
// the same argument, as in -f=a.yaml, -fa.yaml and -Rf a.yaml.
func fileFlag(arg string) (name, value string, inline bool) {
	if strings.HasPrefix(arg, "-Rf") {
		arg = "-" + arg[2:]
	}
	name, value, inline = strings.Cut(arg, "=")
	switch {
	case slices.Contains([]string{"-f", "--filename", "-k", "--kustomize"}, name):
		return name, value, inline
	case strings.HasPrefix(arg, "-f") || strings.HasPrefix(arg, "-k"):
		return arg[:2], arg[2:], true
	}
	return "", "", false
}

// waits records what a hook waits for: with kubectl wait or kubectl rollout status, also in a shell, or with a loop until
// kubectl get succeeds. Commands of another form are skipped, as they may go on without it.
func (h *Hook) waits(hook *yaml.Node) {
	var words []located.Text
	for _, arg := range append([]*yaml.Node{repository.Lookup(hook, "command")}, located.Items(hook, "args")...) {
		if arg == nil {
			continue
		}
		if strings.Contains(arg.Value, "||") {
			return // it may go on
		}
		whole := ownName.ReplaceAllStringFunc(arg.Value, func(match string) string { return strings.ReplaceAll(match, " ", "") })
		for i, line := range strings.Split(whole, "\n") {
			for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" \t\"'`;|&<>()", r) }) {
				words = append(words, located.Text{Place: located.LineIn(h.File, arg, i+1), Value: word})
			}
		}
	}
	has := func(word string) bool {
		return slices.ContainsFunc(words, func(t located.Text) bool { return t.Value == word })
	}
	if !has("kubectl") || has("delete") || has("--for=delete") || !has("wait") && !has("rollout") && !has("until") {
		return
	}
	namespace := namespaceOf(words)
	listed := false // whether the words name definitions
	for _, t := range words {
		kind, name, is := strings.Cut(t.Value, "/")
		switch {
		case isDefinition(kind):
			if listed = !is; is && definitionName.MatchString(name) {
				h.Definitions = append(h.Definitions, located.Text{Place: t.Place, Value: name})
			}
		case listed && definitionName.MatchString(t.Value):
			h.Definitions = append(h.Definitions, t)
		case is && workloads[kind] != "" && plainName.MatchString(ownName.ReplaceAllString(name, "x")):
			h.Workloads = append(h.Workloads, located.Text{Place: t.Place, Value: workloads[kind] + "/" + namespace + "/" + name})
		case t.Value == "do" || t.Value == "done":
			listed = false
		}
	}
}

// namespaceOf returns the namespace in the words of a command.
func namespaceOf(words []located.Text) string {
	for i, t := range words {
		name, value, inline := strings.Cut(t.Value, "=")
		switch {
		case name != "-n" && name != "--namespace":
		case inline:
			return value
		case i+1 < len(words):
			return words[i+1].Value
		}
	}
	return "default"
}

var (
	definitionName = regexp.MustCompile(`^[a-z0-9]+(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)
	plainName      = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	// ownName matches a template of the release's own name or namespace.
	ownName = regexp.MustCompile(`\{\{-? *\.Release\.(Name|Namespace) *-?\}\}`)
)

// workloads maps kubectl's names of workload kinds to the kinds.
var workloads = map[string]string{"deployment": "Deployment", "deployments": "Deployment", "deploy": "Deployment", "deployment.apps": "Deployment",
	"daemonset": "DaemonSet", "daemonsets": "DaemonSet", "ds": "DaemonSet", "daemonset.apps": "DaemonSet",
	"statefulset": "StatefulSet", "statefulsets": "StatefulSet", "sts": "StatefulSet", "statefulset.apps": "StatefulSet"}

func isDefinition(kind string) bool {
	kind = strings.TrimSuffix(kind, ".apiextensions.k8s.io")
	return kind == "crd" || kind == "crds" || kind == "customresourcedefinition" || kind == "customresourcedefinitions"
}

// common returns the hooks that two variants of a release share.
func common(a, b []Hook) []Hook {
	same := func(x, y []located.Text) bool {
		return slices.EqualFunc(x, y, func(t, u located.Text) bool { return t.Value == u.Value })
	}
	return slices.DeleteFunc(slices.Clone(a), func(h Hook) bool {
		return !slices.ContainsFunc(b, func(o Hook) bool {
			return h.Before == o.Before && same(h.Applied, o.Applied) && same(h.Scripts, o.Scripts) && same(h.Definitions, o.Definitions) && same(h.Workloads, o.Workloads)
		})
	})
}
