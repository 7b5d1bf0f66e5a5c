package sealed

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/regular"
	"github.com/fleetwright/fleetwright/internal/replace"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// Action is the change that was made to a file.
type Action string

// The actions.
const (
	Encrypted Action = "encrypted"
	Updated   Action = "updated" // other recipients, the same data key
	Rotated   Action = "rotated" // a new data key
	Kept      Action = "kept"    // unchanged
	NoRule    Action = "no rule" // unchanged, because no rule contains its recipients
)

// Result is the result for a file.
type Result struct {
	File   string
	Action Action
	// Change is the change of the recipients.
	Change envelope.Change
	// Recipients are the new recipients.
	Recipients []secrets.Recipient
	// Content is the new content of the file; the old content if the file is not changed.
	Content []byte
	// Config is the .sops.yaml for the file; "" if none was needed.
	Config string
	// Clear are the values in plaintext in Content.
	Clear []secrets.ClearValue

	// before is the content of the file on disk.
	before []byte
}

// Encrypt encrypts files in memory by the rules. Encrypted files are not changed. The results are in
// the order of the files; the error covers all files that fail.
func (r *Rules) Encrypt(ctx context.Context, files []string, now time.Time) ([]Result, error) {
	return each(ctx, files, func(file string) (Result, error) {
		data, err := read(file)
		if err != nil {
			return Result{}, err
		}
		if secrets.IsEncrypted(file, data) {
			clear, _ := secrets.ClearIn(file, data, secrets.Selection{})
			return Result{File: file, Action: Kept, Content: data, Clear: clear}, nil
		}
		rule, config, err := r.For(file)
		if err != nil {
			return Result{}, err
		}
		out, err := envelope.Encrypt(file, data, rule, now)
		clear, _ := secrets.ClearIn(file, out, secrets.Selection{})
		return Result{File: file, Action: Encrypted, Config: config.File, Content: out, Clear: clear, Recipients: rule.Recipients, before: data}, err
	})
}

// UpdateKeys updates the recipients of encrypted files, in memory, to those that the rules name; with
// rotate, it encrypts the values again with new data keys. If compare is set, it only reports the
// change, which needs no key. It is an error if a named file is in plaintext or matches no rule.
func (r *Rules) UpdateKeys(ctx context.Context, files []string, o UpdateOptions) ([]Result, error) {
	return each(ctx, files, func(file string) (Result, error) {
		data, err := read(file)
		if err != nil {
			return Result{}, err
		}
		rule, config, err := r.For(file)
		if missing := (*ErrNoRule)(nil); errors.As(err, &missing) && o.Found {
			return Result{File: file, Action: NoRule, Content: data}, nil
		}
		if err != nil {
			return Result{}, err
		}
		res, err := o.update(file, data, rule)
		res.Config = config.File
		return res, err
	})
}

// UpdateOptions are the options of an update of recipients.
type UpdateOptions struct {
	// Rotate generates new data keys.
	Rotate bool
	// Compare only reports the change.
	Compare bool
	// Found is set if the files were found in folders, not named by the user.
	Found bool
	Keys  *keys.Identities
	Now   time.Time
}

func (o UpdateOptions) update(file string, data []byte, rule *secrets.CreationRule) (Result, error) {
	res := Result{File: file, Action: Kept, Content: data, Recipients: rule.Recipients, before: data}
	var err error
	switch {
	case o.Compare:
		res.Change, err = envelope.Compare(file, data, rule)
		if res.Change.Any() {
			res.Action = Updated
		}
		if o.Rotate {
			res.Action = Rotated
		}
	case o.Rotate:
		res.Action = Rotated
		res.Content, res.Change, err = envelope.Rotate(file, data, rule, o.Keys, o.Now)
		if err == nil && secrets.HasGeneratedValues(data) {
			res.Content = secrets.MarkGenerated(res.Content) // the values are the same, encrypted again
		}
	default:
		res.Content, res.Change, err = envelope.UpdateKeys(file, data, rule, o.Keys)
		if res.Change.Any() {
			res.Action = Updated
		}
	}
	return res, err
}

// each calls work for each file and joins the errors. It stops when the context ends.
func each(ctx context.Context, files []string, work func(file string) (Result, error)) ([]Result, error) {
	results := make([]Result, 0, len(files))
	var failed []error
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		res, err := work(file)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		results = append(results, res)
	}
	return results, errors.Join(failed...)
}

// Write replaces all changed files, or none.
func Write(ctx context.Context, results []Result) error {
	var changes []replace.Change
	for _, res := range results {
		if res.Action != Kept && res.Action != NoRule {
			changes = append(changes, replace.Change{File: res.File, Old: res.before, New: res.Content})
		}
	}
	return replace.All(ctx, changes)
}

// FindEncrypted returns the encrypted files in a folder, including those with broken metadata. It skips
// files for which known is true; known may be nil.
func FindEncrypted(ctx context.Context, dir string, known func(file string) bool) ([]string, error) {
	none := func(string) error { return nil }
	return find(ctx, dir, none, func(file string, data []byte) bool {
		return filepath.Base(file) != secrets.ConfigName && (known == nil || !known(file)) && secrets.StateOf(file, data) != secrets.Plaintext
	})
}

// FindPlain returns the files in a folder that are in plaintext although the rules require encryption. left contains an
// error for each file that looks like a secret but needs no encryption by the rules, or that may contain one and can't be
// parsed or is too large. FindPlain returns an error without a .sops.yaml, or with a broken one, because then it is
// unknown which files should be encrypted.
func (r *Rules) FindPlain(ctx context.Context, dir string) (plain []string, left, err error) {
	var leftOver, broken []error
	_, _, above := r.For(filepath.Join(dir, "any"))
	if missing := (*ErrNoRule)(nil); above != nil && !errors.As(above, &missing) {
		return nil, nil, above
	}
	large := func(file string) error {
		if err := unreadLarge(file); err != nil {
			leftOver = append(leftOver, err)
		}
		return nil
	}
	plain, err = find(ctx, dir, large, func(file string, data []byte) bool {
		if filepath.Base(file) == secrets.ConfigName {
			broken = append(broken, r.checkConfig(file))
			return false
		}
		if secrets.StateOf(file, data) != secrets.Plaintext || len(data) == 0 {
			return false
		}
		rule, config, err := r.For(file)
		if err == nil && rule.Wants(file, data) {
			return true
		}
		if unread := unread(file, data); unread != nil {
			leftOver = append(leftOver, unread)
			return false
		}
		if !looksSecret.Wants(file, data) {
			return false
		}
		if err == nil {
			err = &ErrByNameOnly{File: file, Config: config.File}
		}
		leftOver = append(leftOver, err)
		return false
	})
	if err = errors.Join(err, errors.Join(broken...)); err != nil {
		return nil, nil, err
	}
	if missing := (*ErrNoRule)(nil); len(plain) == 0 && len(broken) == 0 && errors.As(above, &missing) && missing.Config == "" {
		return nil, nil, &ErrNoRule{File: filepath.ToSlash(dir)}
	}
	return plain, errors.Join(leftOver...), nil
}

// looksSecret is a rule that matches every file that looks like a secret.
var looksSecret = secrets.CreationRule{PathRegex: "."}

// putAway are folders that contain no files of the repository.
var putAway = []string{".git", "node_modules"}

// find returns the regular files in a folder for which choose is true, sorted. It follows no link. For a file that is too
// large, it calls large, or returns an error if the file's name says that the file is encrypted.
func find(ctx context.Context, dir string, large func(file string) error, choose func(file string, data []byte) bool) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && file != dir && slices.Contains(putAway, d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // the file was removed meanwhile
		}
		if info.Size() > limits.FileBytes {
			if secrets.IsNamedEncrypted(file) {
				return tooLarge(file)
			}
			return large(file)
		}
		data, err := regular.Read(file, limits.FileBytes)
		if err != nil {
			return readError(file, err)
		}
		if choose(file, data) {
			files = append(files, file)
		}
		return nil
	})
	return files, err
}
