package reconcile

import "cmp"

// Creates returns the Secrets or ConfigMaps that a controller creates for the object, such as an ExternalSecret or
// SealedSecret. The namespace "*" means any namespace.
func (o *Object) Creates() []Identity {
	id := Identity{Kind: "Secret", Namespace: o.Namespace}
	name := func(names ...string) []Identity {
		id.Name = cmp.Or(names...)
		return []Identity{id}
	}
	switch o.Kind {
	case "ExternalSecret":
		if of := o.Text("spec", "target", "manifest", "kind"); of != "" {
			id.Kind = of
		}
		return name(o.Text("spec", "target", "name"), o.Name)
	case "ClusterExternalSecret":
		id.Namespace = "*"
		return name(o.Text("spec", "externalSecretSpec", "target", "name"), o.Text("spec", "externalSecretName"), o.Name)
	case "SealedSecret":
		return name(o.Text("spec", "template", "metadata", "name"), o.Name)
	case "Certificate", "BitwardenSecret":
		return name(o.Text("spec", "secretName"))
	case "VaultStaticSecret", "VaultDynamicSecret", "VaultPKISecret":
		return name(o.Text("spec", "destination", "name"))
	case "InfisicalSecret":
		return name(o.Text("spec", "managedSecretReference", "secretName"))
	case "ObjectBucketClaim":
		return append(name(o.Name), Identity{Kind: "ConfigMap", Namespace: o.Namespace, Name: o.Name})
	case "OnePasswordItem":
		return name(o.Name)
	case "SopsSecret":
		var ids []Identity
		for i := range o.List("spec", "secretTemplates") {
			ids = append(ids, name(o.Text("spec", "secretTemplates", i, "name"))...)
		}
		return ids
	}
	return nil
}
