// The answers of a subscription come as server-sent events, one of them named next for each.

export function isStream(response) {
  return (response.headers.get('Content-Type') ?? '').startsWith('text/event-stream');
}

// listen tells each answer as it comes and gives the last, in the form of send, when there are no more.
export async function listen(response, elapsed, signal, tell) {
  let last = { status: response.status, statusText: 'Listening', milliseconds: elapsed(), bytes: 0, text: '', problem: '', events: 0 };
  try {
    for await (const { name, data, bytes } of eventsOf(response.body)) {
      if (name !== 'next') continue;
      last = { ...last, text: data, answer: JSON.parse(data), milliseconds: elapsed(), bytes, events: last.events + 1 };
      tell(last);
    }
    return { ...last, statusText: 'Completed', milliseconds: elapsed() };
  } catch (error) {
    if (signal?.aborted) return { ...last, statusText: 'Stopped', milliseconds: elapsed() };
    return { ...last, statusText: 'Cut off', milliseconds: elapsed(), problem: `The stream broke off (${error.message}).` };
  }
}

// eventsOf gives the events of a stream as {name, data, bytes}, where bytes are those of the stream so far.
export async function* eventsOf(stream) {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for await (const chunk of chunksOf(stream)) {
    bytes += chunk.byteLength;
    text += decoder.decode(chunk, { stream: true });
    const whole = text.split('\n\n');
    text = whole.pop();
    for (const event of whole) yield { name: member(event, 'event'), data: member(event, 'data'), bytes };
  }
}

// chunksOf reads a stream, which not every browser lets one iterate over.
async function* chunksOf(stream) {
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

function member(event, name) {
  const lines = event.split('\n').filter((line) => line.startsWith(`${name}:`));
  return lines.map((line) => line.slice(name.length + 1).replace(/^ /, '')).join('\n');
}
