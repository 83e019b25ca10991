// Server-sent events read by fetch, since an EventSource cannot send a key.

const FIRST_WAIT = 500; // milliseconds before the connection is tried again, doubled each time
const LONGEST_WAIT = 8_000;
const ENDED = new Set(["succeeded", "failed", "cancelled"]);

// Yields {id, kind, data} until the job has ended. `open(last)` gives the answer that begins after the event `last`.
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
        if (event.kind === "state" && ENDED.has(event.data.state)) return;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error.status && error.status < 500 && error.status !== 429) throw error; // it will say the same again
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
      const event = parsed(block);
      if (event) yield event;
    }
  }
}

function parsed(block) {
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
    signal?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
