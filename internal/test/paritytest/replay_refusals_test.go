package paritytest_test

import (
	"cmp"
	"maps"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

// refusedReplay is a replay that is refused.
type refusedReplay struct {
	source string
	role   actor.Role
	terms
	code fault.Code
	// more is all that the refusal says beside its code and message.
	more map[string]any
}

// by is who asks: a developer if nobody is named.
func (r refusedReplay) by() actor.Role { return cmp.Or(r.role, actor.Developer) }

type object = map[string]any

// refusedReplays makes one replay for each reason to refuse it. Those named in onlyRollback and
// onlyRedeploy are refused to one of the two alone.
var refusedReplays = map[string]func(*testing.T, *worldtest.World, *worldtest.Fixture) refusedReplay{
	"absent": func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) refusedReplay {
		return refusedReplay{source: absent(p.Succeeded(t).ID), code: fault.DeploymentNotFound}
	},
	"another organization's": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) refusedReplay {
		return refusedReplay{source: w.Fixture(t, w.Globex, p.Project.Slug).Succeeded(t).ID, code: fault.DeploymentNotFound}
	},
	"a viewer asks": func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) refusedReplay {
		return refusedReplay{source: p.Succeeded(t).ID, role: actor.Viewer, code: fault.DeploymentForbidden}
	},
	"a runner asks": func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) refusedReplay {
		return refusedReplay{source: p.Succeeded(t).ID, role: actor.Runner, code: fault.DeploymentForbidden}
	},
	"failed": func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) refusedReplay {
		return notSucceeded(p.Failed(t), "FAILED")
	},
	"canceled": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) refusedReplay {
		return notSucceeded(canceled(t, w, p), "CANCELED")
	},
	"running": func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) refusedReplay {
		return notSucceeded(running(t, p), "RUNNING")
	},
	"no release": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) refusedReplay {
		d := p.Succeeded(t)
		tamper(t, w, w.Acme, `UPDATE deployments SET release_id = NULL WHERE id = $1`, d.ID)
		return refusedReplay{source: d.ID, code: fault.ReleaseUnavailable}
	},
	"content changed": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) refusedReplay {
		d := deploy(t, p, "content")
		tamper(t, w, w.Acme, `UPDATE releases SET content = replace(content, 'content', 'another') WHERE id = $1`, *d.ReleaseID)
		return refusedReplay{source: d.ID, code: fault.ReleaseDigestMismatch}
	},
	"digest changed": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) refusedReplay {
		d := deploy(t, p, "digest")
		tamper(t, w, w.Acme, `UPDATE releases SET digest = 'sha256:' || substr(digest, 9) || '0' WHERE id = $1`, *d.ReleaseID)
		return refusedReplay{source: d.ID, code: fault.ReleaseDigestMismatch}
	},
	"digest of another algorithm": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) refusedReplay {
		d := deploy(t, p, "algorithm")
		tamper(t, w, w.Acme, `UPDATE releases SET digest = replace(digest, 'sha256', 'sha1') WHERE id = $1`, *d.ReleaseID)
		return refusedReplay{source: d.ID, code: fault.ReleaseDigestMismatch}
	},
	"quarantined for good": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) refusedReplay {
		d := deploy(t, p, "good")
		return inQuarantine(d, quarantine(t, w, *d.ReleaseID, ""))
	},
	"quarantined for a time": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) refusedReplay {
		d := deploy(t, p, "time")
		return inQuarantine(d, quarantine(t, w, *d.ReleaseID, "2999-12-31T23:59:59.5Z"))
	},
	"another is running": func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) refusedReplay {
		source := p.Succeeded(t)
		return inProgress(source, running(t, p), "RUNNING")
	},
	"it is running itself": func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) refusedReplay {
		d := running(t, p)
		return inProgress(d, d, "RUNNING")
	},
	"another is live": func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) refusedReplay {
		was, live := p.Succeeded(t), deploy(t, p, "live")
		return liveChanged(was, was.ID, object{"expectedLiveDeploymentId": was.ID, "liveDeploymentId": live.ID})
	},
	"what is expected is nothing": func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) refusedReplay {
		live := p.Succeeded(t)
		return liveChanged(live, `"x" <é>`, object{"expectedLiveDeploymentId": `"x" <é>`, "liveDeploymentId": live.ID})
	},
	"none is live": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) refusedReplay {
		source := canceled(t, w, p)
		return liveChanged(source, source.ID, object{"expectedLiveDeploymentId": source.ID})
	},
	"the key was used": func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) refusedReplay {
		d, key := p.Succeeded(t), `used "by" \another`
		made := rollback.with(terms{key: &key}).graphQL(t, w, w.Acme.Tokens[actor.Developer], d.ID, "").Text(t, append(rollback.at, "id")...)
		w.Cancel(t, w.Acme, made)
		return refusedReplay{source: made, terms: terms{key: &key}, code: fault.RequestIdempotencyReused,
			more: object{"metadata": object{"idempotencyKey": key, "deploymentId": made}}}
	},
	"another is pending": func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) refusedReplay {
		source := p.Succeeded(t)
		return inProgress(source, p.Deploy(t, p.Instance.ID, `{"image":"web:pending"}`), "PENDING")
	},
}

var (
	onlyRollback = map[string]bool{"failed": true, "canceled": true, "running": true}
	onlyRedeploy = map[string]bool{"it is running itself": true, "none is live": true}
)

func TestEveryReasonToRefuseAReplayIsToldAlike(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for name, make := range refusedReplays {
			p := w.Fixture(t, w.Acme, strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), "'", ""))
			r := make(t, w, p)
			want := object{"code": string(r.code)}
			maps.Copy(want, r.more)
			writesNothing(t, w, func() {
				for _, o := range replays {
					if o.name == redeploy.name && onlyRollback[name] || o.name == rollback.name && onlyRedeploy[name] {
						continue
					}
					wants(t, name, want, o.with(r.terms).refused(t, w, w.Acme.Tokens[r.by()], r.source, "", r.code))
				}
			})
			end(t, w, p)
		}
	})
}
