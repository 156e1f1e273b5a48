package prooftest_test

import (
	"database/sql"
	"fmt"
	"testing"

	"slipway/internal/base/fault"
)

// course is what the database has of a deployment.
type course struct {
	instance, status, code, replaces string
	version                          int
	overridden                       bool
	// versions are those of its change rows; queued is how many of these say that it was started.
	versions []int
	queued   int
	// audits are its audit rows but those of an override.
	audits int
	// voices are what was said of it, by whom; spoken are the audit rows of that.
	voices map[string][]bool
	spoken map[string]int
}

// change is one row of the changes.
type change struct{ deployment, kind string }

// kept counts what a check has found.
type kept struct{ deployments, voices, started, rejected, superseded int }

func (k *kept) String() string {
	return fmt.Sprintf("%d deployments, %d voices, %d started, %d rejected, %d superseded", k.deployments, k.voices, k.started, k.rejected, k.superseded)
}

// checkRows wants each change of a deployment to have its version, its change row and its audit row.
func (d *course) checkRows(t *testing.T, id string) {
	t.Helper()
	gaps := len(d.versions) != d.version
	for i, v := range d.versions {
		gaps = gaps || v != i+1
	}
	if gaps || d.audits != d.version {
		t.Errorf("%s has the version %d, the changes %v and %d audit rows", id, d.version, d.versions, d.audits)
	}
}

// starts is how often a deployment was started: at its creation, if that went past the rules, or later.
func (d *course) starts() int {
	if d.overridden {
		return d.queued + 1
	}
	return d.queued
}

// waitsStill is whether a deployment waits, or has ended before it was started.
func (d *course) waitsStill() bool {
	return d.starts() == 0 && (d.status == "AWAITING_APPROVAL" || d.status == "CANCELED")
}

// checkOrder wants the changes, one after the other, to have had at most one deployment of each instance in progress, and to
// have started only what was approved against what was live.
func checkOrder(t *testing.T, courses map[string]*course, changes []change) {
	t.Helper()
	active, live := map[string]string{}, map[string]string{}
	for _, change := range changes {
		id, d := change.deployment, courses[change.deployment]
		begins := change.kind == "QUEUED" || change.kind == "CREATED" && d.overridden
		if begins && active[d.instance] != "" {
			t.Errorf("%s was started while %s was in progress", id, active[d.instance])
		}
		switch {
		case begins && !d.overridden && d.replaces != live[d.instance]:
			t.Errorf("%s was started, which was to replace %q, while %q was live", id, d.replaces, live[d.instance])
		case change.kind == "COMPLETED" && active[d.instance] == id:
			delete(active, d.instance)
		}
		if begins {
			active[d.instance] = id
		}
		if change.kind == "COMPLETED" && d.status == "SUCCEEDED" {
			live[d.instance] = id
		}
	}
}

func (k *kept) add(d *course) {
	k.voices += len(d.voices)
	k.started += d.starts()
	switch fault.Code(d.code) {
	case fault.DeploymentRejected:
		k.rejected++
	case fault.DeploymentSuperseded:
		k.superseded++
	}
}

// coursesOf reads what the database has of the deployments, and their changes in order: those of one instance wait for each
// other, so that their numbers have the order of their commits.
func coursesOf(t *testing.T, tx *sql.Tx) (map[string]*course, []change) {
	t.Helper()
	courses := map[string]*course{}
	var id, by, kind string
	var d course
	each(t, tx, `SELECT id, module_instance_id, status, version, COALESCE(replaces_id, ''), COALESCE(error ->> 'code', ''), override IS NOT NULL FROM deployments`,
		func() {
			one := d
			one.voices, one.spoken = map[string][]bool{}, map[string]int{}
			courses[id] = &one
		}, &id, &d.instance, &d.status, &d.version, &d.replaces, &d.code, &d.overridden)
	of := func(what string) *course {
		if courses[id] == nil {
			t.Errorf("%s has %s and is not there", id, what)
			courses[id] = &course{voices: map[string][]bool{}, spoken: map[string]int{}}
		}
		return courses[id]
	}
	var changes []change
	var version int
	each(t, tx, `SELECT deployment_id, version, kind FROM deployment_changes ORDER BY id`, func() {
		changes = append(changes, change{id, kind})
		one := of("changes")
		one.versions = append(one.versions, version)
		if kind == "QUEUED" {
			one.queued++
		}
	}, &id, &version, &kind)
	var approves bool
	each(t, tx, `SELECT deployment_id, created_by, approved FROM approvals`, func() {
		one := of("a voice")
		one.voices[by] = append(one.voices[by], approves)
	}, &id, &by, &approves)
	each(t, tx, `SELECT object_id, action, actor_name FROM audit_events WHERE object_id LIKE 'dep%' AND action <> 'overrideRules'`, func() {
		one := of("an audit row")
		one.audits++
		if kind == approveMutation || kind == rejectMutation {
			one.spoken[by]++
		}
	}, &id, &kind, &by)
	return courses, changes
}
