"use strict";
// The server: its refusals, its lists, its stream of events. The key lives in memory only.

const access = { key: "" };

class Refused extends Error {
  constructor(status, said) {
    super(said.message || `the server answered ${status}`);
    this.status = status;
    this.param = said.param || null;
  }
}

async function call(path, { headers, ...options } = {}) {
  const allowed = access.key ? { Authorization: `Bearer ${access.key}` } : {};
  const response = await fetch(path, { ...options, headers: { ...headers, ...allowed } }).catch(unreachable);
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Refused(response.status, body.error || {});
}

function unreachable(error) {
  if (error.name === "AbortError") throw error;
  throw new Refused(0, { message: "the server cannot be reached" });
}

async function list(path) {
  const body = await (await call(path)).json();
  return Array.isArray(body) ? body : body.data;
}

// The events of a chat completion, one a step.
async function* steps(request, signal) {
  const response = await call("v1/chat/completions", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
    signal,
  });
  for await (const data of events(response.body)) {
    if (data === "[DONE]") return;
    const event = JSON.parse(data);
    if (event.error) throw new Refused(200, event.error);
    yield event;
  }
  throw new Refused(200, { message: "the server went away before the answer was done" });
}

// The data of server-sent events.
async function* events(body) {
  let open = "";
  for await (const text of texts(body)) {
    const whole = (open + text).split(/\r?\n\r?\n/);
    open = whole.pop();
    for (const event of whole) {
      const lines = event.split(/\r?\n/).filter((line) => line.startsWith("data:"));
      if (lines.length) yield lines.map((line) => line.slice(5).trimStart()).join("\n");
    }
  }
}

async function* texts(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const read = () => reader.read().catch(unreachable);
  try {
    for (let next = await read(); !next.done; next = await read()) yield next.value;
  } finally {
    reader.cancel().catch(() => {});
  }
}

// A page of the server in a window of its own: a plain link could not carry the key.
async function openPage(path) {
  const html = await (await call(path)).blob();
  window.open(URL.createObjectURL(html), "_blank", "noopener");
}
