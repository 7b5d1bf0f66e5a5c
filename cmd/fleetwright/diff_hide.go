package main

// hide leaves texts out of names, values and messages.
func (r *diffReport) hide(hide func(text string) string) {
	objects := func(all []objectDiff) {
		for i := range all {
			all[i].hide(hide)
		}
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		objects(c.Added)
		objects(c.Removed)
		objects(c.Changed)
		for j := range c.Kept {
			c.Kept[j].hide(hide)
		}
		for j := range c.Unbuilt {
			u := &c.Unbuilt[j]
			u.Namespace, u.Name = hide(u.Namespace), hide(u.Name)
			for _, why := range []*cause{u.From, u.To} {
				if why != nil {
					why.Message = hide(why.Message)
				}
			}
		}
	}
}

func (d *objectDiff) hide(hide func(text string) string) {
	d.Object.Namespace, d.Object.Name = hide(d.Object.Namespace), hide(d.Object.Name)
	for i := range d.Origin.Kustomizations {
		d.Origin.Kustomizations[i] = hide(d.Origin.Kustomizations[i])
	}
	d.Origin.HelmRelease = hide(d.Origin.HelmRelease)
	for i := range d.Fields {
		d.Fields[i].Hide(hide)
	}
}
