// Reads server-sent events with fetch, because an EventSource cannot send an API key.

const FIRST_WAIT = 500; // milliseconds before the first reconnection; each further wait is twice as long
const LONGEST_WAIT = 8_000; // milliseconds
const FINAL_STATES = new Set(["succeeded", "failed", "cancelled"]);

// Yields {id, kind, data} until the job has ended. `open(last)` requests the stream after the event with the id `last`.
export async function* events(open, { signal, onConnection = () => {} }) {
  let last = null;
  let wait = FIRST_WAIT;
  for (;;) {
    try {
      const answer = await open(last);
      onConnection(true);
      for await (const event of read(answer.body)) {
        wait = FIRST_WAIT;
        last = event.id ?? last;
        yield event;
        if (event.kind === "state" && FINAL_STATES.has(event.data.state)) return;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error.status && error.status < 500 && error.status !== 429) throw error; // a retry would get the same answer
    }
    onConnection(false);
    await pause(wait, signal);
    if (signal?.aborted) return;
    wait = Math.min(2 * wait, LONGEST_WAIT);
  }
}

async function* read(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    for (const block of blocks) {
      const event = parse(block);
      if (event) yield event;
    }
  }
}

function parse(block) {
  const fields = {};
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
  }
  return fields.data ? { id: fields.id ?? null, kind: fields.event, data: JSON.parse(fields.data) } : null;
}

function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}
