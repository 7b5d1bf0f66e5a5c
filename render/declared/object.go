package declared

import (
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/secrets"
)

// publicKey is the prefix of the annotations with the public keys of private keys. Annotations are in plaintext, so that
// a public key can be read without decrypting the Secret.
const publicKey = "public-key.fleetwright.dev/"

// declaredKeys is the annotation with the keys of the data that were declared when the file was written. Other
// keys in the data were added by hand and are kept.
const declaredKeys = "fleetwright.dev/declared-keys"

// isOurs reports whether this package creates an annotation, so that it is not a declared annotation.
func isOurs(key string) bool {
	return key == declaredKeys || key == secrets.AnnotationGenerated || strings.HasPrefix(key, publicKey)
}

// secretObject is a Secret of Kubernetes.
type secretObject struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   secretMeta        `json:"metadata"`
	Type       string            `json:"type"`
	Data       map[string]string `json:"data"`
}

type secretMeta struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// labelsOf returns the labels of a Secret, including that of its tenant.
func labelsOf(d *v1alpha1.DeclaredSecret) map[string]string {
	labels := maps.Clone(d.Labels)
	if d.Scope == v1alpha1.ScopeTenant {
		if labels == nil {
			labels = map[string]string{}
		}
		labels[emit.LabelTenant] = d.Tenant
	}
	return labels
}

// annotate returns the declared annotations, the annotation with the declared keys, and the annotations with the public
// keys. With created, it adds the annotation that all values were created by Fleetwright.
func annotate(d *v1alpha1.DeclaredSecret, public map[string]string, created bool) map[string]string {
	out := maps.Clone(d.Annotations)
	if out == nil {
		out = map[string]string{}
	}
	out[declaredKeys] = strings.Join(slices.Sorted(slices.Values(d.DataKeys())), ",")
	if created {
		out[secrets.AnnotationGenerated] = secrets.NoDigest // the final value is set after encryption
	}
	for _, name := range sortedKeys(public) {
		key := publicKey + name
		if len(validation.IsQualifiedName(key)) > 0 {
			continue
		}
		out[key] = public[name]
	}
	return out
}

// objectOf returns a Secret in plaintext, as YAML.
func objectOf(d *v1alpha1.DeclaredSecret, v values) ([]byte, error) {
	data := make(map[string]string, len(v.data))
	for key, value := range v.data {
		data[key] = base64.StdEncoding.EncodeToString(value)
	}
	return manifest.YAML("", secretObject{
		APIVersion: "v1", Kind: "Secret",
		Metadata: secretMeta{Name: d.Name, Namespace: d.Namespace, Labels: labelsOf(d), Annotations: annotate(d, v.public, true)},
		Type:     d.Type, Data: data,
	})
}

// object is a Secret in a file, encrypted or in plaintext.
type object struct {
	root *yaml.Node
	// Type and the other fields are in plaintext, even in an encrypted file.
	Type     string `yaml:"type"`
	Metadata struct {
		Name        string            `yaml:"name"`
		Namespace   string            `yaml:"namespace"`
		Labels      map[string]string `yaml:"labels"`
		Annotations map[string]string `yaml:"annotations"`
	} `yaml:"metadata"`
	Data       map[string]string `yaml:"data"`
	StringData map[string]string `yaml:"stringData"`
}

func readObject(content []byte) (*object, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil || len(doc.Content) != 1 {
		return nil, errors.New("not a Secret in YAML")
	}
	o := &object{root: doc.Content[0]}
	if err := o.root.Decode(o); err != nil {
		return nil, errors.New("not a Secret: a field is not of its type")
	}
	return o, nil
}

func (o *object) name() string { return o.Metadata.Namespace + "/" + o.Metadata.Name }

// differences compares a Secret with its declaration. It returns the declared keys of the data that are
// missing, the keys that are no longer declared, the keys that somebody added, and the fields that differ.
func (o *object) differences(d *v1alpha1.DeclaredSecret) (added, removed, foreign, changed []string) {
	declared, before := d.DataKeys(), strings.Split(o.Metadata.Annotations[declaredKeys], ",")
	there := append(sortedKeys(o.Data), sortedKeys(o.StringData)...)
	for _, key := range declared {
		if !slices.Contains(there, key) {
			added = append(added, key)
		}
	}
	for _, key := range there {
		switch {
		case slices.Contains(declared, key):
		case slices.Contains(before, key):
			removed = append(removed, key)
		default:
			foreign = append(foreign, key)
		}
	}
	own := maps.Clone(o.Metadata.Annotations)
	maps.DeleteFunc(own, func(key, _ string) bool { return isOurs(key) })
	for _, field := range []struct {
		name string
		same bool
	}{
		{"type", o.Type == d.Type || o.Type == "" && d.Type == "Opaque"},
		{"labels", maps.Equal(o.Metadata.Labels, labelsOf(d))},
		{"annotations", maps.Equal(own, d.Annotations)},
	} {
		if !field.same {
			changed = append(changed, field.name)
		}
	}
	return added, removed, foreign, changed
}

// publicKeys returns the public keys of a Secret's private keys, from its annotations.
func (o *object) publicKeys(d *v1alpha1.DeclaredSecret) map[string]string {
	public := map[string]string{}
	for _, k := range d.Keys {
		if key := o.Metadata.Annotations[publicKey+k.Name]; key != "" && (k.From.AgeKey != nil || k.From.SSHKeyPair != nil) {
			public[k.Name] = key
		}
	}
	return public
}

// changeObject changes a plaintext Secret to match its declaration, and drops the removed keys. Existing values,
// comments, and undeclared fields and keys stay. All values end up in data. created reports whether Fleetwright created
// all values.
func changeObject(plain []byte, d *v1alpha1.DeclaredSecret, v values, removed []string, created bool) ([]byte, error) {
	o, err := readObject(plain)
	if err != nil {
		return nil, err
	}
	public := o.publicKeys(d)
	maps.Copy(public, v.public)
	data := mapping(o.root, "data")
	if text := mapping(o.root, "stringData"); text != nil {
		if data == nil {
			data = setMapping(o.root, "data")
		}
		for i := 0; i+1 < len(text.Content); i += 2 {
			setText(data, text.Content[i].Value, base64.StdEncoding.EncodeToString([]byte(text.Content[i+1].Value)))
		}
		drop(o.root, "stringData")
	}
	if data == nil {
		data = setMapping(o.root, "data")
	}
	for _, key := range removed {
		drop(data, key)
	}
	for _, key := range sortedKeys(v.data) {
		setText(data, key, base64.StdEncoding.EncodeToString(v.data[key]))
	}
	if o.Type != "" || d.Type != "Opaque" {
		setText(o.root, "type", d.Type)
	}
	metadata := mapping(o.root, "metadata")
	setAll(metadata, "labels", labelsOf(d))
	setAll(metadata, "annotations", annotate(d, public, created))
	return yaml.Marshal(o.root)
}

// at returns the index of a key in a mapping, -1 if it does not exist.
func at(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// mapping returns the mapping under a key, nil if it does not exist.
func mapping(n *yaml.Node, key string) *yaml.Node {
	if i := at(n, key); i >= 0 && n.Content[i+1].Kind == yaml.MappingNode {
		return n.Content[i+1]
	}
	return nil
}

// setMapping sets a key to an empty mapping.
func setMapping(n *yaml.Node, key string) *yaml.Node {
	value := &yaml.Node{Kind: yaml.MappingNode}
	set(n, key, value)
	return value
}

// set sets a key to a value.
func set(n *yaml.Node, key string, value *yaml.Node) {
	if i := at(n, key); i >= 0 {
		n.Content[i+1] = value
		return
	}
	name := &yaml.Node{}
	name.SetString(key)
	n.Content = append(n.Content, name, value)
}

// setText sets a key to a string, and keeps the comments of the value.
func setText(n *yaml.Node, key, text string) {
	value := &yaml.Node{}
	value.SetString(text)
	if i := at(n, key); i >= 0 {
		value.HeadComment, value.LineComment, value.FootComment = n.Content[i+1].HeadComment, n.Content[i+1].LineComment, n.Content[i+1].FootComment
	}
	set(n, key, value)
}

// setAll replaces the mapping under a key by a mapping with the strings. Without strings, it drops the key.
func setAll(n *yaml.Node, key string, texts map[string]string) {
	if len(texts) == 0 {
		drop(n, key)
		return
	}
	m := mapping(n, key)
	if m == nil {
		m = setMapping(n, key)
	}
	for i := len(m.Content) - 2; i >= 0; i -= 2 {
		if _, stays := texts[m.Content[i].Value]; !stays {
			m.Content = slices.Delete(m.Content, i, i+2)
		}
	}
	for _, name := range sortedKeys(texts) {
		setText(m, name, texts[name])
	}
}

// drop removes a key from a mapping.
func drop(n *yaml.Node, key string) {
	if i := at(n, key); i >= 0 {
		n.Content = slices.Delete(n.Content, i, i+2)
	}
}
