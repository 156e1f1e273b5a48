import { useEffect, useState } from 'react';
import { tokenOf } from '../../lite/settings.js';
import { fieldStorage } from './storage.js';

// Credentials are the fields that go with every request: changed is told {token, organization} at once and
// after each change. problem is what is wrong with them, or with the server.
export function Credentials({ settings, problem, changed }) {
  const [kept] = useState(() => fieldStorage(settings.edition));
  const [token, setToken] = useState(() => kept.read('token') ?? settings.token);
  const [organization, setOrganization] = useState(() => kept.read('organization') ?? '');
  const [shown, setShown] = useState(false);
  useEffect(() => {
    kept.write('token', token);
    kept.write('organization', organization);
    changed({ token: tokenOf(token), organization: organization.trim() });
  }, [token, organization]);
  const field = { autoComplete: 'off', spellCheck: false, autoCapitalize: 'off' };
  return (
    <header className="credentials">
      <h1><span className="sign" aria-hidden="true" />Slipway <small>GraphQL playground</small></h1>
      <a href="docs">REST API</a>
      <label className="token">
        Bearer token
        <input {...field} type={shown ? 'text' : 'password'} placeholder="none: anonymous" value={token} onChange={(event) => setToken(event.target.value)} />
      </label>
      <button type="button" aria-pressed={shown} onClick={() => setShown(!shown)}>{shown ? 'Hide' : 'Show'} token</button>
      <label className="organization">
        Organization
        <input {...field} placeholder="the token’s own" value={organization} onChange={(event) => setOrganization(event.target.value)}
          title="For superadmins: the id or slug of the organization that requests are about" />
      </label>
      <p role="alert">{problem}</p>
    </header>
  );
}
