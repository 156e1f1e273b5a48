// The answers of a subscription come as server-sent events, one of them named next for each.

export function isStream(response) {
  return (response.headers.get('Content-Type') ?? '').startsWith('text/event-stream');
}

// listen tells each answer as it comes and gives the last, in the form of send, when there are no more.
export async function listen(response, elapsed, signal, tell) {
  let last = { status: response.status, statusText: 'Listening', milliseconds: elapsed(), text: '', problem: '', events: 0 };
  try {
    for await (const { name, data } of eventsOf(response.body)) {
      if (name !== 'next') continue;
      last = { ...last, text: data, answer: JSON.parse(data), milliseconds: elapsed(), events: last.events + 1 };
      tell(last);
    }
    return { ...last, statusText: 'Completed', milliseconds: elapsed() };
  } catch (error) {
    if (signal.aborted) return { ...last, statusText: 'Stopped', milliseconds: elapsed() };
    return { ...last, statusText: 'Cut off', milliseconds: elapsed(), problem: `The stream broke off (${error.message}).` };
  }
}

// eventsOf gives the events of a stream as {name, data}.
export async function* eventsOf(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const whole = (text + read.value).split('\n\n');
    text = whole.pop();
    for (const event of whole) yield { name: member(event, 'event'), data: member(event, 'data') };
  }
}

function member(event, name) {
  const lines = event.split('\n').filter((line) => line.startsWith(`${name}:`));
  return lines.map((line) => line.slice(name.length + 1).replace(/^ /, '')).join('\n');
}
