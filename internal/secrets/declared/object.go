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
)

// publicKey begins the annotations with the public keys of private ones: they stand
// in clear, so that nobody has to decrypt a Secret for them.
const publicKey = "public-key.fleetwright.dev/"

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

// labelsOf are the labels of a Secret, that of its tenant among them.
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

// annotate adds public keys to annotations.
func annotate(annotations, public map[string]string) map[string]string {
	out := maps.Clone(annotations)
	for _, name := range sortedKeys(public) {
		key := publicKey + name
		if len(validation.IsQualifiedName(key)) > 0 {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[key] = public[name]
	}
	return out
}

// objectOf is a Secret in clear.
func objectOf(d *v1alpha1.DeclaredSecret, v values) ([]byte, error) {
	data := make(map[string]string, len(v.data))
	for key, value := range v.data {
		data[key] = base64.StdEncoding.EncodeToString(value)
	}
	return manifest.YAML("", secretObject{
		APIVersion: "v1", Kind: "Secret",
		Metadata: secretMeta{Name: d.Name, Namespace: d.Namespace, Labels: labelsOf(d), Annotations: annotate(d.Annotations, v.public)},
		Type:     d.Type, Data: data,
	})
}

// object is a Secret in a file, encrypted or in clear.
type object struct {
	root *yaml.Node
	// Type, Labels and so on stand in clear in both.
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

// differences are the keys of the data that are declared and not there, those that
// are there and not declared, and the fields that are otherwise.
func (o *object) differences(d *v1alpha1.DeclaredSecret) (added, removed, changed []string) {
	declared := d.DataKeys()
	there := append(sortedKeys(o.Data), sortedKeys(o.StringData)...)
	for _, key := range declared {
		if !slices.Contains(there, key) {
			added = append(added, key)
		}
	}
	for _, key := range there {
		if !slices.Contains(declared, key) {
			removed = append(removed, key)
		}
	}
	own := maps.Clone(o.Metadata.Annotations)
	maps.DeleteFunc(own, func(key, _ string) bool { return strings.HasPrefix(key, publicKey) })
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
	return added, removed, changed
}

// publicKeys are those of a Secret's private keys, as its annotations tell them.
func (o *object) publicKeys(d *v1alpha1.DeclaredSecret) map[string]string {
	public := map[string]string{}
	for _, k := range d.Keys {
		if key := o.Metadata.Annotations[publicKey+k.Name]; key != "" && (k.From.AgeKey != nil || k.From.SSHKeyPair != nil) {
			public[k.Name] = key
		}
	}
	return public
}

// changeObject brings a Secret in clear to what is declared. Values that are there
// stay; all stand under data.
func changeObject(plain []byte, d *v1alpha1.DeclaredSecret, v values) ([]byte, error) {
	o, err := readObject(plain)
	if err != nil {
		return nil, err
	}
	data := map[string][]byte{}
	for key, value := range o.Data {
		if data[key], err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(value), "")); err != nil {
			return nil, errors.New("a value under data is no base64")
		}
	}
	for key, value := range o.StringData {
		data[key] = []byte(value)
	}
	declared := d.DataKeys()
	maps.DeleteFunc(data, func(key string, _ []byte) bool { return !slices.Contains(declared, key) })
	maps.Copy(data, v.data)
	public := o.publicKeys(d)
	maps.Copy(public, v.public)
	return objectOf(d, values{data: data, public: public})
}
