// What the scenario asks of a client: the five operations, in the types that openapi-typescript makes. A client by
// another generator has to be assignable, so that both sets of types are held against each other.
import type { components, paths } from './generated/openapi-typescript.js';

type Schemas = components['schemas'];
export type InputProperty = Schemas['Module.InputProperty'];
export type Refusal = Schemas['UserFacingErrorData'];
export type Definition = Schemas['DefaultValueDefinitionEnvelope'];
export type Deployment = Schemas['DeploymentEnvelope'];
export type Page = Schemas['ModuleDefinitionPage'];
export type Listing = NonNullable<paths['/module-definitions']['get']['parameters']['query']>;

type Headers<Operation extends { parameters: { header?: unknown } }> = NonNullable<Operation['parameters']['header']>;
export type Changing = Headers<paths['/default-value-definitions/{id}']['patch']>;
export type Reading = Headers<paths['/deployments/{id}']['get']>;
export type Replaying = Headers<paths['/deployments/{id}/rollback']['post']>;

// Answer has data where the operation succeeded, and error where it was refused.
export interface Answer<Data> {
  response: Response;
  data?: Data | undefined;
  error?: Refusal | undefined;
}

// More are headers that the contract says nothing of.
export type More = Record<string, string>;

export interface Api {
  update(id: string, body: Schemas['DefaultValueDefinitionUpdate'], header?: Changing, more?: More): Promise<Answer<Definition>>;
  list(query?: Listing, more?: More): Promise<Answer<Page>>;
  get(id: string, header?: Reading, more?: More): Promise<Answer<Deployment>>;
  rollback(id: string, header?: Replaying, more?: More): Promise<Answer<Deployment>>;
  redeploy(id: string, header?: Replaying, more?: More): Promise<Answer<Deployment>>;
}

// Connect makes a client of the server at url, for the bearer of a token or for nobody.
export type Connect = (url: string, token?: string) => Api;
