import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';

// examplesPlugin is a panel of GraphiQL's that lists the server's examples and opens them, each in a new tab.
export function examplesPlugin(examples) {
  return { title: 'Examples', icon: Icon, content: () => <Examples examples={examples} /> };
}

function Examples({ examples }) {
  const { addTab } = useGraphiQLActions();
  const { queryEditor, variableEditor } = useGraphiQL(pick('queryEditor', 'variableEditor'));
  const open = ({ query, variables }) => {
    addTab();
    variableEditor?.setValue(variables);
    queryEditor?.setValue(query);
  };
  return (
    <section className="examples" aria-label="Examples">
      <h2>Examples</h2>
      <ul>
        {examples.map((example) => (
          <li key={example.name}><button type="button" onClick={() => open(example)}>{example.name}</button></li>
        ))}
      </ul>
    </section>
  );
}

function Icon(properties) {
  return (
    <svg height="1em" viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="1.5" {...properties}>
      <path d="M4 5h16M4 12h16M4 19h10" strokeLinecap="round" />
    </svg>
  );
}
