package v1alpha1

// Encryption says who can decrypt which secrets: SOPS recipients for each scope. It contains only
// public keys.
type Encryption struct {
	TypeMeta `json:",inline"`
	Metadata ObjectMeta     `json:"metadata" jsonschema:"required"`
	Spec     EncryptionSpec `json:"spec" jsonschema:"required"`
}

// EncryptionSpec is the specification of an Encryption; a specification has at
// most one.
type EncryptionSpec struct {
	// Recipients for each scope.
	Recipients ScopedRecipients `json:"recipients" jsonschema:"required"`
	// Rules are inserted in the platform's .sops.yaml before the generated ones.
	Rules []EncryptionRule `json:"rules,omitempty"`
	// EncryptedRegex selects the keys that are encrypted.
	EncryptedRegex string `json:"encryptedRegex,omitempty" jsonschema:"default=^(data|stringData)$"`
	// SecretRef names the Secret with the age key, in the key age.agekey and in the namespace of each
	// Kustomization that decrypts; sops-age by default.
	SecretRef *SecretRef `json:"secretRef,omitempty"`
	// Secrets that clusters get, declared without their values: `fleetwright secrets sync` creates
	// them, encrypted.
	Secrets []DeclaredSecret `json:"secrets,omitempty"`
}

// ScopedRecipients are the recipients of each scope.
type ScopedRecipients struct {
	// Platform recipients (the platform team) can read every secret of the
	// platform repository.
	Platform Recipients `json:"platform,omitempty"`
	// Clusters maps a cluster's name to its recipients.
	Clusters map[string]Recipients `json:"clusters,omitempty"`
	// Tenants maps a tenant's name to its recipients.
	Tenants map[string]Recipients `json:"tenants,omitempty"`
}

// Recipients are public keys.
type Recipients struct {
	// Age recipients (age1…), or SSH public keys (ssh-ed25519 …, ssh-rsa …). Clusters and tenants need
	// an age recipient, because kustomize-controller does not support SSH keys.
	Age []string `json:"age,omitempty" jsonschema:"minItems=1,pattern=^(age1|ssh-ed25519 |ssh-rsa )"`
}

// EncryptionRule is a creation rule of SOPS.
type EncryptionRule struct {
	// PathRegex matches the path of a file, relative to the repository's root.
	PathRegex string `json:"pathRegex" jsonschema:"required,minLength=1,example=^docs/.*$"`
	// EncryptedRegex selects the keys that are encrypted; by default that of the Encryption.
	EncryptedRegex string `json:"encryptedRegex,omitempty"`
	// Recipients who can decrypt.
	Recipients Recipients `json:"recipients" jsonschema:"required"`
}
