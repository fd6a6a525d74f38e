// The dashboard: what a crawl does, what comes next and why, and a few things to say to it.

import { Refused, get, live, post, setToken, text } from "./ask.js";
import { $, bars, chart, count, empty, filled, make, moment, percent, rows, short, spoken } from "./draw.js";

const NEXT = 50;
const STALE_S = 5; // a crawl of another process is read now and then
const LISTED_S = 10; // between two looks at which crawls there are
let crawl = null;
let status = null;
let shownRules = "";
let names = [];
let stream = new AbortController();

// Status ---------------------------------------------------------------------------------------------------------------------
function facts(told) {
  const rate = told.pages_per_s;
  const left = told.left_s === null ? "–" : spoken(told.left_s);
  const until = { "budget spent": "until the budget is spent", "frontier empty": "if nothing new is found" }[told.left_until] ?? "";
  return [
    ["fetched", count(told.fetched), `${percent(told.fetched / Math.max(told.known, 1))} of known`],
    ["pages a second", short(Number(rate.lately.toPrecision(3))), `${short(Number(rate.overall.toPrecision(3)))} overall`],
    ["time left", left, until],
    ["waiting", count(told.waiting), told.scheduled ? `${count(told.scheduled)} of them later` : ""],
    ["in flight", count(told.leased), `of ${count(told.hosts.in_flight)} ${told.hosts.in_flight === 1 ? "host" : "hosts"}`],
    ["failed", count(told.failed), percent(told.failed / Math.max(told.fetched + told.failed, 1))],
    ["known", count(told.known), told.revisits ? `${count(told.revisits)} revisits` : ""],
    ["hosts", count(told.hosts.known), `${count(told.hosts.with_waiting)} waiting, ${count(told.hosts.resting)} resting`],
  ];
}

function show(told) {
  status = told;
  const state = !told.running ? ["stopped", ""] : !told.active ? ["service paused", "warn"] : told.paused ? ["paused", "warn"] : ["live", "good"];
  pill(...state);
  $("policy").textContent = told.policy;
  $("facts").replaceChildren(
    ...facts(told).map(([name, value, note]) => make("div", {}, make("dt", {}, name), make("dd", {}, value, make("small", {}, note)))),
  );
  const settled = told.fetched + told.failed;
  const share = told.budget ? told.asked / told.budget : settled / Math.max(told.known, 1);
  const whole = told.budget ? `${count(told.asked)} of a budget of ${count(told.budget)} pages` : `${count(settled)} of ${count(told.known)} known pages settled`;
  $("bar").firstElementChild.style.width = `${Math.min(share, 1) * 100}%`;
  $("bar").setAttribute("aria-valuenow", Math.round(share * 100));
  const gauges = Object.entries(told.gauges).map(([name, value]) => `${name} ${value >= 0 && value <= 1 ? percent(value) : short(value)}`);
  const last = told.last_event ? [`last event ${moment(told.last_event)}`] : [];
  if (told.running && Date.now() / 1000 - told.as_of > STALE_S) last.push(`as of ${moment(told.as_of)}`);
  $("progress-text").textContent = [`${whole} (${percent(share)})`, ...gauges, ...last].join(" · ");
  const ruled = JSON.stringify(told.rules);
  if (ruled !== shownRules) {
    shownRules = ruled;
    rules(told.rules);
  }
  $("pause").hidden = !told.running && told.active && !told.paused;  // nothing is at work that could pause
  $("stopped").hidden = told.running;
  $("stopped").textContent = `This crawl is stopped. To go on, where its directory is: frontrank crawl --resume ${told.id}`;
  $("pause").textContent = !told.active ? "Resume service" : told.paused ? "Resume" : "Pause";
  document.title = `${count(told.fetched)} pages · ${told.id} · frontrank`;
}

function rules(told) {
  $("rules").hidden = !told.length;
  const words = (rule) => [
    rule.boost ? `boosted by ${count(rule.boost)}` : "",
    rule.budget ? `${count(rule.taken)} of ${count(rule.budget)} pages taken` : "",
    rule.delay_s ? `${short(rule.delay_s)} s apart` : "",
  ].filter(Boolean).join(", ");
  const row = (name, said, about, doing) => make("tr", {},
    make("td", { class: "url" }, ...name),
    make("td", {}, said),
    make("td", {}, make("div", { class: "row" }, acting("End", about, doing))));
  rows("rules-table", [
    ...told.map((rule) => row([make("code", {}, rule.pattern)], words(rule), `end the rule ${rule.pattern}`, () => end(rule))),
  ]);
}

async function end(rule) {
  try {
    if (rule.boost) await act("boost", { pattern: rule.pattern, by: 0 });
    if (rule.budget || rule.delay_s) await act("families", { pattern: rule.pattern, budget: 0, delay_s: 0 });
  } catch (error) {
    trouble(error);
  }
}

function pill(text, kind) {
  $("state").textContent = text;
  $("state").className = `pill ${kind}`;
}

function notice(text) {
  $("notice").hidden = !text;
  $("notice").textContent = text;
}

// Panels: each is asked for now and then, while the page is seen ---------------------------------------------------------------
function priority(page) {
  return page.standing === "ranked" ? short(page.priority) : page.standing;
}

function urlCell(url, queue) {
  return make("td", { class: "url" }, make("button", { type: "button", class: "link", "data-key": url, title: "Why here?", onclick: () => why(url, queue) }, url));
}

async function next() {
  const told = await get(crawl, "next", { n: NEXT });
  const most = Math.max(...told.pages.map((page) => page.priority ?? 0), 1e-300);
  rows("next", told.pages.map((page, at) =>
    make("tr", {},
      make("td", { class: "number" }, at + 1),
      urlCell(page.url, page.queue),
      filled(make("td", { class: "number" }, priority(page)), (page.priority ?? 0) / most),
      make("td", { class: "number" }, page.depth ?? "–"))));
  $("next-note").textContent = told.pages.length ? `${count(told.pages.length)} of ${count(told.waiting)} that wait; choose one to see why` : "none waits";
}

async function history() {
  const told = await get(crawl, "history", { points: 120 });
  const points = told.points;
  const first = points[0]?.time ?? 0;
  const span = points.length ? points[points.length - 1].time + told.bucket_s - first : 1;
  const columns = points.map((point) => ({
    at: (point.time - first) / span,
    stacks: [["fetched", point.fetched / told.bucket_s], ["failed", point.failed / told.bucket_s]],
    title: `${moment(point.time)}: ${count(point.fetched)} fetched, ${count(point.failed)} failed in ${spoken(told.bucket_s)}`,
  }));
  const marks = points.length ? [{ at: 0, text: moment(first) }, { at: 1, text: moment(first + span) }] : [];
  chart("history-chart", columns, told.bucket_s / span, marks, `${count(told.fetched)} pages fetched and ${count(told.failed)} failed over ${spoken(span)}`);
  $("history-note").textContent = `settled a second, in steps of ${spoken(told.bucket_s)}${told.complete ? "" : "; still reading the log"}`;
}

async function scores() {
  const told = await get(crawl, "scores", { bins: 40 });
  const bins = told.bins;
  const columns = bins.map((bin, at) => ({
    at: at / bins.length,
    stacks: [["pages", bin.pages]],
    title: `${count(bin.pages)} pages from ${short(bin.from)} to ${short(bin.to)}`,
  }));
  const marks = bins.length ? [0, Math.floor(bins.length / 2), bins.length].map((at) => ({ at: at / bins.length, text: short(at < bins.length ? bins[at].from : bins[at - 1].to) })) : [];
  chart("scores-chart", columns, 1 / Math.max(bins.length, 1), bins.length > 1 ? marks : marks.slice(0, 1), "Distribution of priorities of waiting pages");
  const notes = [told.sampled < told.waiting ? `of ${count(told.sampled)} of ${count(told.waiting)}` : "", told.scale === "powers" ? "logarithmic" : ""];
  if (told.prioritised) notes.push(`${count(told.prioritised)} boosted apart`);
  if (told.unranked) notes.push(`${count(told.unranked)} not ranked yet`);
  $("scores-note").textContent = notes.filter(Boolean).join("; ");
}

async function coverage() {
  const told = await get(crawl, "coverage");
  const name = (depth) => (depth === told.deepest ? `depth ${depth}+, or none` : depth === 0 ? "seeds" : `depth ${depth}`);
  bars("coverage", told.by_depth.map((row) => ({
    name: name(row.depth), share: row.settled / row.known, said: `${count(row.settled)} of ${count(row.known)}`,
  })), "Nothing is known yet.");
  $("coverage-note").textContent = `${percent(told.settled / Math.max(told.known, 1))} of known pages settled, ${count(told.hosts_asked)} of ${count(told.hosts)} hosts asked`;
}

async function errors() {
  const told = await get(crawl, "errors");
  const most = Math.max(...told.reasons.map((one) => one.pages), 1);
  bars("errors", told.reasons.slice(0, 12).map((one) => ({
    name: one.reason, share: one.pages / most, bad: true, said: `${count(one.pages)} (${percent(one.pages / told.failed)})`,
  })), "No page has failed.");
  $("errors-note").textContent = `${count(told.failed)} failed for good, ${count(told.retries)} retries`;
  $("last").hidden = !told.last.length;
  $("last-list").replaceChildren(...told.last.map((one) =>
    make("li", {}, make("small", {}, `${moment(one.time)} · ${one.reason} `), make("button", { type: "button", class: "link", onclick: () => why(one.url) }, one.url))));
}

async function families() {
  const told = await get(crawl, "families", { n: 30 });
  rows("families", told.families.map((one) =>
    make("tr", {},
      make("td", { class: "url" }, one.pattern),
      make("td", { class: "number" }, count(one.known)),
      filled(make("td", { class: "number" }, count(one.settled)), one.settled / one.known),
      make("td", { class: "number" }, percent(one.share)),
      make("td", {}, one.possible_trap ? make("span", { class: "tag warn", title: "Many URLs of one host that differ only in numbers and ids" }, "possible trap") : ""),
      make("td", {}, make("div", { class: "row" },
        acting("Boost…", `boost ${one.pattern}`, () => boost(one.regex)),
        acting("Limit…", `limit ${one.pattern}`, () => limitFamily(one.regex)))))));
  const traps = told.families.filter((one) => one.possible_trap).length;
  $("families-note").textContent = `${count(told.patterns)} shapes of URLs, ${traps ? `${count(traps)} possible traps` : "no trap in sight"}${told.complete ? "" : "; still reading the log"}`;
}

async function hosts() {
  const told = await get(crawl, "hosts", { n: 30 });
  const limit = (value) => (value ? count(value) : "–");
  rows("hosts", told.hosts.map((one) =>
    make("tr", {},
      make("td", { class: "url" }, one.host),
      make("td", { class: "number" }, count(one.leased)),
      make("td", { class: "number" }, count(one.waiting)),
      make("td", { class: "number" }, count(one.taken)),
      make("td", { class: "number" }, limit(one.budget)),
      make("td", { class: "number" }, count(one.done)),
      make("td", { class: "number" }, limit(one.limit)),
      make("td", { class: "number" }, limit(one.concurrency)),
      make("td", { class: "number" }, one.delay_s ? `${short(one.delay_s)} s` : "–"),
      make("td", { class: "number" }, one.blocked_s ? `blocked ${spoken(one.blocked_s)}` : one.rests_s >= 0.5 ? spoken(one.rests_s) : "–"),
      make("td", {}, make("div", { class: "row" },
        one.blocked_s
          ? acting("Unblock", `unblock ${one.host}`, () => act("block", { host: one.host, seconds: 0 }).catch(trouble))
          : acting("Block…", `block ${one.host}`, () => block(one.host)),
        acting("Limits…", `limits of ${one.host}`, () => limitHost(one)))))));
  $("hosts-note").textContent = told.hosts.length < told.known ? `the ${count(told.hosts.length)} busiest of ${count(told.known)}` : "";
}

const PANELS = [[next, 2], [history, 4], [hosts, 5], [errors, 5], [scores, 6], [coverage, 6], [families, 10]];
const due = new Map();

async function refresh(all = false) {
  if (crawl === null || (document.hidden && !all)) return;
  const now = Date.now();
  for (const [panel, seconds] of PANELS) {
    if (!all && now < (due.get(panel) ?? 0)) continue;
    due.set(panel, now + seconds * 1000);
    const asked = crawl;
    panel().catch((error) => asked === crawl && trouble(error));
  }
}

// One page -------------------------------------------------------------------------------------------------------------------
async function why(url, queue) {
  $("page-title").textContent = url;
  $("page-body").replaceChildren(empty("Replaying the crawl…"));
  if (!$("page").open) $("page").showModal();
  try {
    const told = await get(crawl, "explain", queue ? { url, queue } : { url });
    if ($("page-title").textContent === url) $("page-body").replaceChildren(...explained(told));
  } catch (error) {
    $("page-body").replaceChildren(make("p", { class: "error" }, error.message));
  }
}

function explained(told) {
  const place = told.place ? [["place", `${count(told.place)} of ${count(status.waiting)}`]] : [];
  const known = [["state", told.due ? `${told.state}: ${moment(told.due)}` : told.state], ["queue", told.queue], ...place, ["priority", priority(told)], ["depth", told.depth ?? "–"], ["ordering", told.policy]];
  const parts = told.links.map((link) => [link.url, link.part]);
  if (told.further_links) parts.push([null, told.further_links, "further pages"]);
  if (Math.abs(told.other) > 1e-9 * Math.abs(told.priority)) parts.push([null, told.other, "by no page: its place among seeds, its URL, or a ranking of all pages"]);
  const most = Math.max(...parts.map(([, part]) => Math.abs(part)), 1e-300);
  const lines = parts.map(([url, part, said]) =>
    make("tr", {},
      filled(make("td", { class: "number" }, `${part > 0 ? "+" : ""}${short(part)}`), Math.abs(part) / most),
      url === null ? make("td", { class: "hint" }, said) : urlCell(url)));
  const table = make("table", {}, make("thead", {}, make("tr", {}, make("th", { class: "number" }, "part"), make("th", {}, "given by"))), make("tbody", {}, ...lines));
  const host = told.queue;
  return [
    make("dl", { class: "facts" }, ...known.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)))),
    make("p", { class: "hint" }, `Fetched pages ${told.counted}: ${count(told.links_known)}.`),
    lines.length ? make("div", { class: "scroll" }, table) : empty("None of them changed its priority."),
    ...began(told),
    make("div", { class: "row end" },
      acting("Boost this page…", "boost this page", () => boost(`^${literal(told.url)}$`)),
      host ? acting(`Block ${host}…`, `block ${host}`, () => block(host)) : null),
  ];
}

const STARTS = { fetched: "pages when they were fetched", seed: "seeds", drawn: "pages drawn from all known" };

// Where a priority came from that was handed on along many links.
function began(told) {
  const kinds = Object.entries(told.started).sort(([, a], [, b]) => b.part - a.part);
  const lines = kinds.flatMap(([kind, { pages, part }]) => [
    make("tr", {}, make("td", { class: "number" }, `+${short(part)}`), make("td", { class: "hint" }, `at ${count(pages)} ${STARTS[kind]}`)),
    ...told.starts.filter((start) => start.kind === kind).slice(0, 2).map((start) =>
      make("tr", {}, make("td", { class: "number" }, `+${short(start.part)}`), urlCell(start.url))),
  ]);
  return lines.length ? [make("p", { class: "hint" }, "Where it came from, before links handed it on:"), make("div", { class: "scroll" }, make("table", {}, make("tbody", {}, ...lines)))] : [];
}

const literal = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

async function find(part) {
  $("found-title").textContent = `URLs that contain ${part}`;
  $("found-body").replaceChildren(empty("Looking…"));
  if (!$("found").open) $("found").showModal();
  try {
    const told = await get(crawl, "search", { text: part, n: 100 });
    const lines = told.pages.map((page) =>
      make("tr", {}, urlCell(page.url, page.queue), make("td", {}, page.due ? `${page.state}: ${moment(page.due)}` : page.state), make("td", { class: "number" }, page.standing === "settled" ? "–" : priority(page)), make("td", { class: "number" }, page.depth ?? "–")));
    const head = make("tr", {}, make("th", {}, "URL"), make("th", {}, "state"), make("th", { class: "number" }, "priority"), make("th", { class: "number" }, "depth"));
    const table = make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...lines)));
    const more = told.more ? make("p", { class: "hint" }, "There are more; type more of the URL.") : null;
    $("found-body").replaceChildren(...(lines.length ? [table, more].filter(Boolean) : [empty("No known URL contains it.")]));
  } catch (error) {
    $("found-body").replaceChildren(make("p", { class: "error" }, error.message));
  }
}

async function compare(policy) {
  const go = $("compare").querySelector("button");
  go.disabled = true;
  $("compare-note").textContent = "replaying the crawl…";
  try {
    const told = await get(crawl, "compare", { policy, n: NEXT });
    const moved = (page) => {
      if (page.place_before === null) return ["not waiting", ""];
      const by = page.place_before - page.place;
      return [count(page.place_before), by > 0 ? "up" : by < 0 ? "down" : ""];
    };
    rows("compared", told.head.map((page) => {
      const [text, kind] = moved(page);
      return make("tr", {}, make("td", { class: "number" }, page.place), urlCell(page.url), make("td", { class: `number ${kind}` }, text));
    }));
    rows("leaving", told.leaving.map((page) =>
      make("tr", {}, make("td", { class: "number" }, page.place_before), urlCell(page.url), make("td", { class: "number" }, page.place === null ? "not waiting" : count(page.place)))));
    $("compared").parentElement.hidden = false;
    $("leaving-part").hidden = !told.leaving.length;
    $("leaving-note").textContent = `${count(told.leaving.length)} of the next ${count(told.pages)} would wait longer`;
    $("compare-hint").hidden = true;
    $("compare-note").textContent = `${told.policy}: ${count(told.shared)} of the next ${count(told.pages)} are the same as under ${told.policy_before}`;
  } catch (error) {
    $("compare-note").textContent = "";
    $("compare-hint").hidden = false;
    $("compare-hint").textContent = error.message;
  } finally {
    go.disabled = false;
  }
}

// Actions --------------------------------------------------------------------------------------------------------------------
function acting(text, about, act) {
  return make("button", { type: "button", "aria-label": about, onclick: act, "data-key": about }, text);
}

async function act(name, body, whole = false) {
  const told = await post(whole ? null : crawl, name, body);
  notice("");
  $("said").textContent = told.applied ? `Done: ${told.done}.` : `Not yet: ${told.done}.`;
  show(await get(crawl, "status"));
  await refresh(true);
}

// Ask for a few values in a dialog; act(values) may refuse them.
function ask(title, text, fields, go, doing) {
  $("ask-title").textContent = title;
  $("ask-text").textContent = text;
  $("ask-go").textContent = go;
  $("ask-error").hidden = true;
  $("ask-fields").replaceChildren(...fields.map(({ name, label, hint, value, ...about }) =>
    make("label", {}, label, make("input", { name, value: value ?? "", spellcheck: "false", autocomplete: "off", ...about }), hint ? make("small", {}, hint) : null)));
  $("ask-form").onsubmit = async (event) => {
    event.preventDefault();
    const values = {};
    for (const { name, type } of fields) {
      const given = $("ask-form").elements[name].value;
      if (given !== "") values[name] = type === "number" ? Number(given) : given;
    }
    try {
      await doing(values);
      $("ask").close();
    } catch (error) {
      $("ask-error").hidden = false;
      $("ask-error").textContent = error.message;
    }
  };
  $("ask").showModal();
  $("ask-fields").querySelector("input")?.focus();
}

const PATTERN = { name: "pattern", label: "Regular expression", required: "", maxlength: 1000, hint: "It is looked for anywhere in the URL." };

function boost(pattern = "") {
  ask("Boost pages", "Pages whose URL matches go before all others, those known and those to come. 0 ends it; below 0 they go last.",
    [{ ...PATTERN, value: pattern }, { name: "by", label: "By", type: "number", value: 1, min: -1000, max: 1000, step: 1, required: "" }],
    "Boost", (values) => act("boost", values));
}

function block(host = "") {
  ask("Block a host", "No page of this host is taken for so long.",
    [{ name: "host", label: "Host", value: host, required: "", maxlength: 255 }, { name: "seconds", label: "Seconds", type: "number", value: 3600, min: 0, step: "any", required: "", hint: "0 ends a block." }],
    "Block", (values) => act("block", values));
}

function limitHost(host) {
  ask(`Limits of ${host.host}`, "What is left empty stays as it is; 0 is no limit.",
    [{ name: "delay_s", label: "Seconds between two pages", type: "number", min: 0, step: "any", value: host.delay_s }, { name: "concurrency", label: "Pages in flight at once", type: "number", min: 0, step: 1, value: host.concurrency }, { name: "budget", label: "Pages to take in all", type: "number", min: 0, step: 1, value: host.budget }, { name: "limit", label: "Pages to be done with", type: "number", min: 0, step: 1, value: host.limit }],
    "Set", (values) => act("limits", { host: host.host, ...values }));
}

function limitFamily(pattern) {
  ask("Limit a family of URLs", "A budget or a pace for all pages whose URL matches. What is left empty stays as it is; 0 is no limit.",
    [{ ...PATTERN, value: pattern }, { name: "budget", label: "Pages to take in all", type: "number", min: 0, step: 1 }, { name: "delay_s", label: "Seconds between two pages", type: "number", min: 0, step: "any" }],
    "Limit", (values) => act("families", values));
}

function token() {
  if ($("ask").open) return;
  ask("Token", "This service wants a token. It is kept for this tab alone.",
    [{ name: "token", label: "Token", type: "password", required: "" }], "Go on", async (values) => {
      setToken(values.token);
      await begin();
    });
}

// Life -----------------------------------------------------------------------------------------------------------------------
function trouble(error) {
  if (error instanceof Refused && error.status === 401) {
    pill("token needed", "warn");
    token();
  } else if (error instanceof Refused && error.status) {
    notice(error.message);
  } else {
    pill("no connection", "bad");
  }
}

async function follow() {
  stream.abort();
  stream = new AbortController();
  const { signal } = stream;
  while (!signal.aborted) {
    try {
      await live(crawl, (told) => {
        notice("");
        show(told);
      }, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && error.status === 404) {
        list().catch(trouble); // it was deleted: another one is shown
        return;
      }
      trouble(error);
    }
    await new Promise((later) => setTimeout(later, 2000));
  }
}

// Which crawls there are: some begin and some are deleted while the page is open.
async function list() {
  const told = await get(null, "crawls");
  const found = told.crawls.map((one) => one.id);
  $("version").textContent = `frontrank ${told.version}`;
  $("broken").hidden = !told.broken.length;
  $("broken").textContent = told.broken.map((one) => `Crawl ${one.id} is not served: ${one.reason}.`).join(" ");
  if (JSON.stringify(found) !== JSON.stringify(names)) {
    names = found;
    $("crawl").replaceChildren(...names.map((name) => make("option", { value: name }, name)));
    if (names.includes(crawl)) $("crawl").value = crawl;
    for (const button of $("actions").children) button.disabled = !names.length;
  }
  if (!names.length) {
    stream.abort();
    crawl = null;
    pill(told.broken.length ? "no crawl" : "no crawl yet", "");
    if (!told.broken.length) notice("This service has no crawl yet. It begins with the first URL that is put, for example by: frontrank fetch https://YOUR-SITE/ --from HOST:PORT, with the gRPC address that frontrank serve printed.");
  } else if (!names.includes(crawl)) {
    notice("");
    const wanted = decodeURIComponent(location.hash.slice(1));
    choose(names.includes(wanted) ? wanted : names[0]);
  }
}

async function begin() {
  const wanted = decodeURIComponent(location.hash.slice(1));
  if (crawl !== null && wanted !== crawl && names.includes(wanted)) choose(wanted);
  await list();
  const { orderings } = await get(null, "orderings");
  $("orderings").replaceChildren(...orderings.map((one) => make("option", { value: one.name }, one.description)));
}

async function metrics() {
  $("found-title").textContent = "Metrics";
  $("found-body").replaceChildren(empty("Asking…"));
  if (!$("found").open) $("found").showModal();
  try {
    $("found-body").replaceChildren(make("pre", { class: "scroll", tabindex: "0" }, await text("metrics")));
  } catch (error) {
    $("found-body").replaceChildren(make("p", { class: "error" }, error.message));
  }
}

function choose(name) {
  crawl = name;
  $("crawl").value = name;
  window.history.replaceState(null, "", `#${encodeURIComponent(name)}`);
  due.clear();
  follow();
  get(crawl, "status").then((told) => {
    show(told);
    refresh(true);
  }, trouble);
}

$("crawl").addEventListener("change", () => choose($("crawl").value));
$("pause").addEventListener("click", () => act(status.paused || !status.active ? "resume" : "pause", {}, !status.active).catch(trouble));
$("metrics").addEventListener("click", metrics);
$("boost").addEventListener("click", () => boost());
$("block").addEventListener("click", () => block());
$("ask-cancel").addEventListener("click", () => $("ask").close());
$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("search-text").value.trim();
  if (text) find(text);
});
$("compare").addEventListener("submit", (event) => {
  event.preventDefault();
  compare($("compare-policy").value.trim());
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === "/") $("search-text").focus();
  else if (event.key === "n") document.querySelector("#next .link")?.focus();
  else if (event.key === "p" && !$("pause").disabled && !$("pause").hidden) $("pause").click();
  else return;
  event.preventDefault();
});
document.addEventListener("visibilitychange", () => refresh());
window.addEventListener("hashchange", () => begin().catch(trouble));
setInterval(() => refresh(), 1000);
setInterval(() => document.hidden || list().catch(trouble), LISTED_S * 1000);
begin().catch(trouble);
