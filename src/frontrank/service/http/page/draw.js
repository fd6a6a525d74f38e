// Elements, numbers and charts. Text goes in as text, never as markup: it comes from the web.

const SVG = "http://www.w3.org/2000/svg";

export const $ = (id) => document.getElementById(id);

export function make(name, about = {}, ...inside) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(about)) {
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(key, value);
  }
  element.append(...inside.filter((one) => one !== null)); // what is not an element is text
  return element;
}

function drawn(name, about, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(about)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Numbers --------------------------------------------------------------------------------------------------------------------
export const count = (value) => value.toLocaleString("en-US");
export const percent = (share) => (share > 0 && share < 0.001 ? "<0.1%" : `${(share * 100).toFixed(share < 0.1 || (share > 0.995 && share < 1) ? 1 : 0)}%`);

export function short(value) {
  if (value === null) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
  return Number(value.toPrecision(4)).toLocaleString("en-US", { maximumSignificantDigits: 4 });
}

export function spoken(seconds) {
  const whole = Math.round(seconds);
  const units = [[86400, "d"], [3600, "h"], [60, "min"]];
  for (let at = 0; at < units.length; at++) {
    const [size, unit] = units[at];
    if (whole < size) continue;
    const rest = Math.floor((whole % size) / (units[at + 1]?.[0] ?? 1));
    const smaller = units[at + 1]?.[1];
    return smaller && rest && whole / size < 100 ? `${Math.floor(whole / size)} ${unit} ${rest} ${smaller}` : `${Math.floor(whole / size)} ${unit}`;
  }
  return `${whole} s`;
}

export function moment(seconds) {
  const then = new Date(seconds * 1000);
  const today = then.toDateString() === new Date().toDateString();
  return then.toLocaleString("en-GB", today ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" });
}

// Parts ----------------------------------------------------------------------------------------------------------------------
export function rows(table, made) {
  const body = $(table).tBodies[0];
  const held = document.activeElement;
  const key = body.contains(held) ? held.dataset.key : null;
  body.replaceChildren(...made);
  if (key) [...body.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key)?.focus({ preventScroll: true });
}

export function empty(text) {
  return make("p", { class: "empty" }, text);
}

export function filled(cell, share) {
  cell.classList.add("filled");
  cell.style.setProperty("--share", Math.max(0, Math.min(1, share)));
  return cell;
}

export function bars(where, made, none) {
  const lines = made.map(({ name, share, said, bad, title }) => {
    const fill = make("i");
    fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
    return make("div", { title }, make("span", {}, name), make("span", { class: bad ? "track bad" : "track" }, fill), make("b", {}, said));
  });
  $(where).replaceChildren(...(lines.length ? lines : [empty(none)]));
}

// Charts ---------------------------------------------------------------------------------------------------------------------
// columns: {at, stacks: [[class, height]], title}; at is 0 to 1 along the axis, wide is the width of one.
const WIDEST = 80; // pixels of a column: one alone is no wall

export function chart(where, columns, wide, marks, about) {
  const box = $(where);
  if (!columns.length) {
    box.replaceChildren(empty("Nothing yet."));
    return;
  }
  const width = Math.max(box.clientWidth, 200), height = 170, left = 44, bottom = 20, top = 8;
  const most = Math.max(...columns.map((one) => one.stacks.reduce((sum, [, size]) => sum + size, 0)), 1e-12);
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const inner = width - left - 4, base = height - bottom;
  for (const share of [0, 0.5, 1]) {
    const y = base - share * (base - top);
    svg.append(drawn("line", { x1: left, x2: width - 4, y1: y, y2: y, class: "axis" }));
    svg.append(drawn("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, short(Number((most * share).toPrecision(2)))));
  }
  const step = Math.min(Math.max(inner * wide - (inner * wide > 4 ? 1 : 0), 1), WIDEST);
  for (const one of columns) {
    let y = base;
    const group = drawn("g", {});
    group.append(drawn("title", {}, one.title));
    for (const [name, size] of one.stacks) {
      const tall = size ? Math.max((size / most) * (base - top), 1.5) : 0;
      y -= tall;
      group.append(drawn("rect", { x: left + one.at * inner, y, width: step, height: tall, class: name }));
    }
    svg.append(group);
  }
  for (const { at, text } of marks) {
    const anchor = at < 0.08 ? "start" : at > 0.92 ? "end" : "middle";
    svg.append(drawn("text", { x: left + at * inner, y: height - 4, "text-anchor": anchor }, text));
  }
  box.setAttribute("aria-label", about);
  box.replaceChildren(svg);
}
