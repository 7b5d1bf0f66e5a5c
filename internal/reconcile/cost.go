package reconcile

import (
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// A build cannot be stopped once kustomize runs, and a few lines can make it run for ever:
// bases that list one another twice, patches of everything, replacements that double a text.
// So what a build will cost is estimated from what the files say, before it runs. The times
// were measured on one core of 2024; the limits leave an order of magnitude to the largest
// builds known.
const (
	// microseconds
	costBuild   = 1000 // a kustomization
	costObject  = 150  // an object, for each kustomization that it passes
	costPair    = 0.8  // two objects of one build: kustomize looks for each among all
	costPatched = 400  // a patch on an object
	costSelect  = 0.7  // a patch that looks at an object

	mostWork      = 10e6  // of a build
	mostAmplified = 1e6   // of a build whose objects are mostly copies
	mostBytes     = 32e6  // of a build's objects as text
	mostSteps     = 5_000 // kustomizations that are passed
	mostFeedback  = 12    // replacements that may lengthen what they read
)

// cost is what building a folder takes.
type cost struct {
	objects, bytes, work float64
	kinds                map[string]float64 // objects by kind
}

func (c *cost) add(other cost) {
	c.objects += other.objects
	c.bytes += other.bytes
	c.work += other.work
	for kind, n := range other.kinds {
		c.count(kind, n)
	}
}

func (c *cost) count(kind string, n float64) {
	if c.kinds == nil {
		c.kinds = map[string]float64{}
	}
	c.kinds[kind] += n
}

// estimator estimates one build.
type estimator struct {
	repo *repository.Repository
	// known are the folders that are done, nil those that are not: a circle, which kustomize
	// refuses.
	known map[string]*cost
	// files are the files that were counted; distinct are the objects in them.
	files    map[string]bool
	distinct float64
	steps    int
	feedback int
}

// estimate says what a build of a folder takes, and why it takes too much.
func estimate(repo *repository.Repository, dir string, k *types.Kustomization) (cost, error) {
	e := &estimator{repo: repo, known: map[string]*cost{}, files: map[string]bool{}}
	e.known[dir] = nil
	c := e.kustomization(dir, k, cost{})
	switch {
	case e.steps > mostSteps:
		return c, &limitError{fmt.Errorf("the build passes more than %d kustomizations", mostSteps)}
	case e.feedback > mostFeedback:
		return c, &limitError{fmt.Errorf("more than %d replacements may lengthen what they read", mostFeedback)}
	case c.bytes > mostBytes:
		return c, &limitError{fmt.Errorf("the build makes up to %.0f MB", c.bytes/1e6)}
	case c.work > mostWork, c.work > mostAmplified && c.objects > 3*e.distinct:
		return c, &limitError{fmt.Errorf("the build makes up to %.0f objects, and takes up to %.0f seconds", c.objects, c.work/1e6)}
	}
	return c, nil
}

// kustomization adds what a kustomization makes to what it is given: nothing, or for a
// component all that was made before it.
func (e *estimator) kustomization(dir string, k *types.Kustomization, c cost) cost {
	if e.steps++; e.steps > mostSteps {
		return c
	}
	c = cost{objects: c.objects, bytes: c.bytes, work: c.work + costBuild, kinds: c.kinds}
	given := c.kinds
	c.kinds = nil
	for kind, n := range given {
		c.count(kind, n)
	}
	for _, ref := range append(k.Resources[:len(k.Resources):len(k.Resources)], k.Bases...) { //nolint:staticcheck // older repositories use it
		c.add(e.resource(dir, ref))
	}
	generated := float64(len(k.ConfigMapGenerator) + len(k.SecretGenerator) + len(k.Generators))
	c.objects += generated
	e.distinct += generated
	c.count("ConfigMap", float64(len(k.ConfigMapGenerator)))
	c.count("Secret", float64(len(k.SecretGenerator)))
	for _, ref := range k.Components {
		at, inside := repository.Join(dir, ref)
		component, ok := e.repo.KustomizeAt(at)
		if _, busy := e.known[at]; !inside || !ok || component.Spec == nil || busy {
			continue
		}
		e.known[at] = nil
		c = e.kustomization(at, component.Spec, c)
		delete(e.known, at)
	}
	e.transform(dir, k, &c)
	c.work += c.objects*costObject + c.objects*c.objects*costPair
	return c
}

// resource is what a resource adds: a file's objects, or a folder's.
func (e *estimator) resource(dir, ref string) cost {
	at, inside := repository.Join(dir, ref)
	if !inside {
		return cost{}
	}
	if file, ok := e.repo.File(at); ok {
		c := cost{bytes: float64(file.Size)}
		for _, d := range file.Documents {
			for _, o := range d.Objects {
				c.objects++
				c.count(o.Kind, 1)
			}
		}
		if !e.files[at] {
			e.files[at] = true
			e.distinct += c.objects
		}
		return c
	}
	if known, ok := e.known[at]; ok {
		if known == nil {
			return cost{}
		}
		return *known
	}
	k, ok := e.repo.KustomizeAt(at)
	if !ok || k.Spec == nil {
		return cost{}
	}
	e.known[at] = nil
	c := e.kustomization(at, k.Spec, cost{})
	e.known[at] = &c
	return c
}

// transform adds what the changes of a kustomization to its objects take.
func (e *estimator) transform(dir string, k *types.Kustomization, c *cost) {
	length := len(k.Namespace) + len(k.NamePrefix) + len(k.NameSuffix)
	for _, pairs := range []map[string]string{k.CommonLabels, k.CommonAnnotations} { //nolint:staticcheck // older repositories use it
		for name, value := range pairs {
			length += 3 * (len(name) + len(value)) // labels stand in selectors and templates too
		}
	}
	for _, label := range k.Labels {
		for name, value := range label.Pairs {
			length += 3 * (len(name) + len(value))
		}
	}
	for _, image := range k.Images {
		length += len(image.NewName) + len(image.NewTag) + len(image.Digest)
	}
	c.bytes += float64(length) * c.objects
	c.work += float64(len(k.Images)+len(k.Replicas)+len(k.Labels)+len(k.Vars)) * c.objects * 20 //nolint:staticcheck // older repositories use it
	for _, p := range append(k.Patches[:len(k.Patches):len(k.Patches)], k.PatchesJson6902...) { //nolint:staticcheck // older repositories use it
		c.patch(p.Target, e.length(dir, p.Path, p.Patch))
	}
	c.work += float64(len(k.PatchesStrategicMerge)) * (costPatched + costSelect*c.objects) //nolint:staticcheck // older repositories use it
	for _, text := range k.Transformers {
		objects, bytes := e.plugin(dir, text)
		c.work += objects * c.objects * costPatched
		c.bytes += float64(bytes) * c.objects
	}
	for _, r := range k.Replacements {
		e.replace(dir, r, c)
	}
	c.variables(k)
}

// patch adds a patch of what a selector selects; one without is about an object or two.
func (c *cost) patch(target *types.Selector, length int) {
	selected := 2.0
	if target != nil {
		selected = c.objects
		if target.Kind != "" {
			selected = 0
			match := matcher(target.Kind)
			for kind, n := range c.kinds {
				if match(kind) {
					selected += n
				}
			}
		}
		if isLiteral(target.Name) {
			selected = min(selected, 2*float64(len(c.kinds)+1))
		}
	}
	c.work += selected*costPatched + c.objects*costSelect
	c.bytes += selected * float64(length)
}

// matcher matches as kustomize matches the fields of a selector.
func matcher(pattern string) func(string) bool {
	if isLiteral(pattern) {
		return func(text string) bool { return text == pattern }
	}
	compiled, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return func(string) bool { return true }
	}
	return compiled.MatchString
}

func isLiteral(pattern string) bool { return pattern != "" && regexp.QuoteMeta(pattern) == pattern }

// length is that of a patch, inline or in a file.
func (e *estimator) length(dir, ref, text string) int {
	if at, inside := repository.Join(dir, ref); inside {
		if file, ok := e.repo.File(at); ok {
			return int(file.Size)
		}
	}
	return len(text)
}

// plugin gives the number of configurations of a generator, transformer or validator, and
// their length; it counts those that replace with feedback.
func (e *estimator) plugin(dir, ref string) (objects float64, length int) {
	if strings.Contains(ref, "\n") {
		e.mention(ref)
		return 1 + float64(strings.Count(ref, "\n---")), len(ref)
	}
	at, inside := repository.Join(dir, ref)
	if !inside {
		return 0, 0
	}
	for _, file := range e.repo.Files() {
		if file.Path != at && !contains(at, file.Path) {
			continue
		}
		objects += float64(len(file.Documents))
		length += int(file.Size)
		if data, err := e.repo.ReadFile(file.Path); err == nil {
			e.mention(string(data))
		}
	}
	return objects, length
}

// mention counts the delimiters of replacements in a text.
func (e *estimator) mention(text string) {
	if strings.Contains(text, "ReplacementTransformer") {
		e.feedback += strings.Count(text, "delimiter")
	}
}

// replace adds a replacement: a target with a delimiter keeps its text and adds to it.
func (e *estimator) replace(dir string, r types.ReplacementField, c *cost) {
	if r.Path != "" {
		at, _ := repository.Join(dir, r.Path)
		if data, err := e.repo.ReadFile(at); err == nil {
			e.feedback += strings.Count(string(data), "delimiter")
			c.work += float64(strings.Count(string(data), "select")) * c.objects * (costSelect + costPatched/4)
		}
		return
	}
	for _, target := range r.Targets {
		if target == nil {
			continue
		}
		c.work += c.objects * costSelect * float64(1+len(target.FieldPaths))
		if target.Select != nil && target.Select.Kind == "" {
			c.work += c.objects * costPatched / 4
		} else if target.Select != nil {
			c.work += c.kinds[target.Select.Kind] * costPatched / 4
		}
		if r.Source == nil || target.Options == nil || target.Options.Delimiter == "" || target.Select == nil {
			continue
		}
		same := func(a, b string) bool { return a == "" || b == "" || a == b || !isLiteral(b) }
		if same(r.Source.Kind, target.Select.Kind) && same(r.Source.Name, target.Select.Name) {
			e.feedback++
		}
	}
}

// variables adds what the vars of a kustomization may make of references to them: each is a
// field, and may stand as often as there are texts.
func (c *cost) variables(k *types.Kustomization) {
	if len(k.Vars) > 0 && c.objects > 0 { //nolint:staticcheck // older repositories use it
		c.work += c.objects * costObject
	}
}

// What all builds together may take, and what substitution may add to the objects, in
// microseconds and bytes. Which build exceeds them may differ from run to run.
const (
	mostTotalWork   = 120e6
	mostTotalBytes  = 256e6
	mostTotalGrowth = 64 << 20
)

// budget is shared by all builds.
type budget struct{ work, bytes, growth atomic.Int64 }

// build charges a build, and says why there is nothing left for it.
func (b *budget) build(c cost) error {
	if b.work.Add(int64(c.work)) > mostTotalWork || b.bytes.Add(int64(c.bytes)) > mostTotalBytes {
		return &limitError{fmt.Errorf("the builds before it take all the time or memory that there is")}
	}
	return nil
}

// grow charges what substitution adds.
func (b *budget) grow(bytes int) error {
	if b.growth.Add(int64(bytes)) > mostTotalGrowth {
		return &limitError{fmt.Errorf("substitution makes the objects larger by more than %d MB", mostTotalGrowth>>20)}
	}
	return nil
}
