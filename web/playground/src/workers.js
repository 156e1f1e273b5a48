// The editors think in workers, which are files of this page's own server.
import EditorWorker from 'monaco-editor/esm/vs/editor/editor.worker.js?worker';
import JsonWorker from 'monaco-editor/esm/vs/language/json/json.worker.js?worker';
import GraphQLWorker from 'monaco-graphql/esm/graphql.worker.js?worker';

const workers = { json: JsonWorker, graphql: GraphQLWorker };

globalThis.MonacoEnvironment = {
  getWorker: (_, label) => new (workers[label] ?? EditorWorker)(),
};
