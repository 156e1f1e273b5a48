import { useSyncExternalStore } from 'react';

// LiveUpdates lists the subscriptions of the page with what they have told, and offers to follow the
// deployment that was started last. It is nothing where there is neither.
export function LiveUpdates({ live }) {
  const list = useSyncExternalStore(live.view, () => live.list);
  const started = useSyncExternalStore(live.view, () => live.started);
  if (!list.length && !started) return null;
  return (
    <section className="updates" aria-label="Live updates">
      {started && (
        <p>
          Deployment <code>{started}</code>
          <button type="button" onClick={() => live.followStarted()}>Follow it live</button>
        </p>
      )}
      {list.map((each) => <Subscription key={each.key} {...each} live={live} id={each.key} />)}
    </section>
  );
}

function Subscription({ live, id, title, state, count, events, stop }) {
  const button = stop
    ? <button type="button" onClick={() => live.stop(id)} aria-label={`Stop ${title}`}>Stop</button>
    : <button type="button" onClick={() => live.dismiss(id)} aria-label={`Dismiss ${title}`}>Dismiss</button>;
  return (
    <article aria-label={title}>
      <p>
        <strong>{title}</strong>
        <span role="status">{state}, {count} {count === 1 ? 'event' : 'events'}</span>
        {button}
      </p>
      <ol reversed start={count}>
        {events.map(({ at, answer, number }) => (
          <li key={number}>
            <details>
              <summary><time dateTime={at.toISOString()}>{at.toLocaleTimeString()}</time> <code>{brief(answer.data ?? answer.errors)}</code></summary>
              <pre>{JSON.stringify(answer, null, 2)}</pre>
            </details>
          </li>
        ))}
      </ol>
    </article>
  );
}

// brief is one line of an answer: without what all its fields are within, and of each list the last item alone.
function brief(value) {
  const inner = value && typeof value === 'object' ? Object.values(value) : [];
  if (inner.length === 1) return brief(inner[0]);
  return JSON.stringify(value, (_, member) => (Array.isArray(member) && member.length > 1 ? ['…', member.at(-1)] : member));
}
