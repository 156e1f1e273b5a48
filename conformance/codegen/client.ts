// A typed client for Slipway: what a document asks for is what comes back.
import type { TypedDocumentString } from './generated/graphql.js';

export interface Refusal {
  message: string;
  path?: (string | number)[];
  extensions: { code: string };
}

export class RefusedError extends Error {
  readonly refusals: Refusal[];

  constructor(refusals: Refusal[]) {
    super(refusals.map(({ message }) => message).join(' '));
    this.refusals = refusals;
  }
}

export type Ask = <Data, Variables>(document: TypedDocumentString<Data, Variables>, variables: Variables) => Promise<Data>;

// makeClient gives what asks an endpoint. It throws a RefusedError where anything was refused.
export function makeClient(url: string, token: string): Ask {
  return async (document, variables) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        Accept: 'application/graphql-response+json',
      },
      body: JSON.stringify({ query: document.toString(), variables }),
    });
    const { data, errors } = await response.json();
    if (errors) throw new RefusedError(errors);
    return data;
  };
}
