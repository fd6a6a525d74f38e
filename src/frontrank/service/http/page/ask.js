// Questions to the service that this page came from, with a token if it wants one, and its live updates.

const KEY = "frontrank-token";

export class Refused extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

export function setToken(token) {
  sessionStorage.setItem(KEY, token);
}

function heads(more = {}) {
  const token = sessionStorage.getItem(KEY);
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}

async function answered(response) {
  if (response.ok) return response;
  let sentence = `the service answered with status ${response.status}`;
  try {
    sentence = (await response.json()).error;
  } catch {
    // not ours: a proxy's, perhaps
  }
  throw new Refused(response.status, sentence);
}

function path(crawl, name, query = {}) {
  const asked = new URLSearchParams(query).toString();
  const where = crawl === null ? `api/v1/${name}` : `api/v1/crawls/${encodeURIComponent(crawl)}/${name}`;
  return asked ? `${where}?${asked}` : where;
}

export async function get(crawl, name, query) {
  const response = await answered(await fetch(path(crawl, name, query), { headers: heads() }));
  return response.json();
}

export async function text(name) {
  return (await answered(await fetch(name, { headers: heads() }))).text();
}

export async function post(crawl, name, body) {
  const made = { method: "POST", headers: heads({ "Content-Type": "application/json" }), body: JSON.stringify(body) };
  return (await answered(await fetch(path(crawl, name), made))).json();
}

// Live updates until the signal aborts: told(status) for each; throws when the stream ends.
export async function live(crawl, told, signal) {
  const response = await answered(await fetch(path(crawl, "events"), { headers: heads(), signal }));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Refused(0, "the service is gone");
    held += value;
    const parts = held.split("\n\n");
    held = parts.pop();
    for (const part of parts) {
      const data = part.split("\n").find((line) => line.startsWith("data: "));
      if (data) told(JSON.parse(data.slice(6)));
    }
  }
}
