// The database: one pool for each worker, named statements, transactions under row-level security.

import pg from 'pg';
import { parse } from 'pg-connection-string';
import { connections } from './settings.mjs';

// Times stay the text that the database has, to the microsecond; as Date they would lose that.
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => text.replace(' ', 'T').replace('+00', 'Z'));

if (!process.env.DATABASE_URL) throw new Error('DATABASE_URL is not set: postgres://ROLE@HOST:PORT/NAME');
const url = parse(process.env.DATABASE_URL);

// The settings of Slipway's own sessions, and the zone that the parser above counts on.
export const pool = new pg.Pool({
  ...url,
  options: `-c random_page_cost=1 -c jit=off ${url.options ?? ''} -c statement_timeout=1000 -c idle_in_transaction_session_timeout=5000 -c app.isolation=filter -c TimeZone=UTC`,
  max: connections,
  idleTimeoutMillis: 0,
});

const maxNames = 1000;
const names = new Map();

// statement returns what node-postgres prepares once on each connection: a text under a name of its own. After
// maxNames texts, further ones stay without a name, so that a connection keeps no more.
export function statement(text, values) {
  let name = names.get(text);
  if (!name && names.size < maxNames) names.set(text, (name = `s${names.size}`));
  return { name, text, values };
}

// query returns the rows of a statement outside a transaction. The statement names its organization: the session
// reads in the isolation "filter".
export async function query(text, values) {
  const { rows } = await pool.query(statement(text, values));
  return rows;
}

// transaction runs f(client) in a transaction that can read and write the rows of one organization only.
export async function transaction(organizationId, f) {
  const client = await pool.connect();
  let broken;
  try {
    // One message for both, as Slipway sends it.
    await client.query(`BEGIN; SELECT set_config('app.org_id', ${pg.escapeLiteral(organizationId)}, true), set_config('app.isolation', 'strict', true)`);
    const result = await f(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((failed) => (broken = failed));
    throw error;
  } finally {
    client.release(broken);
  }
}
