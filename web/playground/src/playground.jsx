import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { GraphiQL, HISTORY_PLUGIN } from 'graphiql';
import { useEffect, useMemo, useState } from 'react';
import { Api } from './api.js';
import { Credentials } from './credentials.jsx';
import { examplesPlugin } from './examples.jsx';
import { Live } from './live.js';
import { operationOf } from './operation.js';
import { tabStorage } from './storage.js';
import { LiveUpdates } from './updates.jsx';

const firstQuery = `# Ctrl+Enter runs the operation, Ctrl+Space completes it.
query Catalogue {
  moduleDefinitions(first: 5) {
    nodes { name type latestVersion }
  }
}
`;

// Playground is the whole page: the fields for the token and the organization, and GraphiQL below.
export function Playground({ settings }) {
  const [problem, setProblem] = useState('');
  const { api, live, ...graphiql } = useMemo(() => assemble(settings, setProblem), [settings]);
  return (
    <>
      <Credentials settings={settings} problem={problem} changed={(credentials) => { api.credentials = credentials; }} />
      <GraphiQL {...graphiql} inputValueDeprecation schemaDescription showPersistHeadersSettings={false} defaultEditorToolsVisibility="variables">
        <GraphiQL.Logo><span /></GraphiQL.Logo>
        <GraphiQL.Footer><LiveUpdates live={live} /></GraphiQL.Footer>
        <SystemTheme />
        <OwnButton />
      </GraphiQL>
    </>
  );
}

// SystemTheme has the editors follow the system's theme also when that changes, which GraphiQL looks at once.
function SystemTheme() {
  const theme = useGraphiQL((state) => state.theme);
  const { setTheme } = useGraphiQLActions();
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const changed = () => setTheme(theme);
    dark.addEventListener('change', changed);
    return () => dark.removeEventListener('change', changed);
  }, [theme]);
  return null;
}

// OwnButton has each tab begin with Run: GraphiQL lets go of a tab's subscription where another tab is chosen, but not
// where one is added, and would show its Stop there. The subscription goes on.
function OwnButton() {
  const tab = useGraphiQL((state) => state.tabs[state.activeTabIndex].id);
  const { stop } = useGraphiQLActions();
  useEffect(() => stop(), [tab]);
  return null;
}

// assemble makes what has to stay the same for as long as the page is open.
function assemble({ examples, edition }, report) {
  const api = new Api(report);
  const live = new Live(api);
  const tabs = examples.filter(({ tab }) => tab).map(({ query, variables }) => ({ query, variables }));
  return {
    api,
    live,
    fetcher: ({ operationName, ...request }, { headers } = {}) => {
      const { kind, name } = operationOf({ operationName, ...request });
      const named = { ...request, operationName: name };
      if (kind === 'subscription') return live.observe(named, headers);
      const answer = api.ask(named, headers);
      return kind === 'mutation' ? answer.then((given) => live.mutated(given)) : answer;
    },
    onTabChange: (state) => live.tabsChanged(state),
    plugins: [HISTORY_PLUGIN, ...(examples.length ? [examplesPlugin(examples)] : [])],
    storage: tabStorage(edition),
    defaultTabs: tabs.length ? tabs : undefined,
    defaultQuery: firstQuery,
  };
}
