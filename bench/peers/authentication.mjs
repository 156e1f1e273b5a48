// Who asks: the token of a request, looked up by its digest.

import { createHash } from 'node:crypto';
import { query } from './database.mjs';

const goodFor = 5000; // milliseconds

// The actors of good tokens by digest, of which there are no more than tokens.
const known = new Map();

// authenticate returns the actor of an Authorization header, null where it has no good token of an organization.
export async function authenticate(header) {
  const token = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
  if (!token) return null;
  const hash = createHash('sha256').update(token).digest('hex');
  const now = Date.now();
  const entry = known.get(hash);
  if (entry && now - entry.asked < goodFor && !(entry.expiresAt <= now)) return entry.actor;
  const [row] = await query(
    `SELECT id, name, role, scope, organization_id AS "organizationId", expires_at AS "expiresAt" FROM tokens
     WHERE hash = $1 AND organization_id IS NOT NULL AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
    [hash],
  );
  if (!row) {
    known.delete(hash);
    return null;
  }
  const { expiresAt, ...actor } = row;
  known.set(hash, { actor, asked: now, expiresAt: expiresAt ? Date.parse(expiresAt) : Infinity });
  return actor;
}

// The answer to a request without a good token, which has the status 401.
export const unauthenticated = {
  errors: [{ message: 'A good bearer token is needed.', extensions: { code: 'slipway:Request:UNAUTHENTICATED' } }],
};
