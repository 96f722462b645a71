"use strict";
// Text of a graph only ever becomes text nodes and attributes set by name: never markup.

const at = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const LONGEST = 60;
let asked = 0;

function clean(text) {
  // Direction marks and controls would let one name read as another.
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f]/g, "\ufffd")
    .replace(/[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g, "");
}
const short = (text) => {
  const whole = [...clean(text)];
  return whole.length > LONGEST ? whole.slice(0, LONGEST - 1).join("") + "…" : whole.join("");
};

function made(tag, text, attributes = {}) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = clean(text);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}
function drawn(tag, attributes = {}, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

async function call(path, body) {
  const headers = {};
  const token = sessionStorage.getItem("token");
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const reply = await fetch(path, {
    method: body === undefined ? "GET" : "POST", headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const record = await reply.json().catch(() => ({ error: `status ${reply.status}` }));
  at("token-form").hidden = reply.status !== 401;
  if (!reply.ok) throw new Error(record.error || `status ${reply.status}`);
  return record;
}

async function ask(question, remember) {
  const mine = ++asked;
  at("question").value = question;
  if (remember) history.pushState({}, "", `?q=${encodeURIComponent(question)}`);
  document.title = `${short(question)} – jaxkg`;
  at("status").textContent = "Asking …";
  at("result").hidden = true;
  try {
    const answer = await call("ask", { question });
    if (mine !== asked) return;
    show(answer);
    at("status").textContent = answer.abstained ? "No answer." : `${answer.entities.length} found.`;
    at("result").focus();
  } catch (error) {
    if (mine === asked) at("status").textContent = clean(error.message);
  }
}

function show(answer) {
  at("result").hidden = false;
  at("entity").hidden = true;
  at("reading").textContent = answer.reading ? `Read as: ${clean(answer.reading)}` : "";
  showReadings(answer.readings || []);
  at("verdict").textContent = answer.abstained ? `No answer: ${clean(answer.abstained)}` : "";
  const sentences = new Map(answer.paths.map((path) => [path.id, path.sentence]));
  at("answers").replaceChildren(...answer.entities.map((entity) => {
    const item = made("li");
    const name = made("button", entity.name, { type: "button", class: "link" });
    name.addEventListener("click", () => visit(entity.entity));
    item.append(name, " ", made("span", entity.score.toFixed(2), { class: "score" }));
    const why = entity.paths.map((id) => sentences.get(id)).filter(Boolean)[0];
    if (why) item.append(made("div", why, { class: "faint" }));
    return item;
  }));
  const paths = answer.paths.filter((path) => path.citations.length);
  at("evidence-title").hidden = !paths.length;
  at("paths").replaceChildren(...paths.slice(0, 20).map((path) => {
    const item = made("li", path.sentence);
    const from = path.citations.map((c) => c.source || `triple ${c.triple}`).join(", ");
    item.append(made("div", from, { class: "faint" }));
    return item;
  }));
  if (paths.length > 20) at("paths").append(made("li", `… and ${paths.length - 20} more`));
  draw(answer, paths);
  const rest = { plan: answer.plan, topics: answer.topics, notes: answer.notes, usage: answer.usage };
  at("details").textContent = clean(JSON.stringify(rest, null, 1)).replace(/\ufffd/g, "\n");
}

function showReadings(readings) {
  const box = at("readings");
  box.replaceChildren();
  if (!readings.length) return;
  box.append(made("p", "Or did you mean:", { class: "faint" }));
  for (const reading of readings) {
    const button = made("button", reading.reading || reading.text || "", { type: "button" });
    button.addEventListener("click", () => {
      at("verdict").textContent = "";
      at("answers").replaceChildren(...(reading.preview || []).map((name) => made("li", name)));
    });
    box.append(button, " ");
  }
}

// Layers by distance from the topics; a box a node, a line a triple.
function draw(answer, paths) {
  const nodes = new Map();
  const edges = new Map();
  const ends = new Set(answer.entities.map((entity) => entity.entity));
  for (const path of paths.slice(0, 20)) {
    let depth = 0;
    for (const c of path.citations) {
      const [a, b] = c.inverse ? [c.tail, c.head] : [c.head, c.tail];
      if (!nodes.has(a)) nodes.set(a, { depth, name: c.inverse ? c.tail_name : c.head_name });
      depth += 1;
      if (!nodes.has(b)) nodes.set(b, { depth, name: c.inverse ? c.head_name : c.tail_name });
      edges.set(c.triple, c);
    }
  }
  const svg = at("drawing");
  svg.replaceChildren();
  at("figure").hidden = !nodes.size;
  if (!nodes.size) return;
  const rows = [];
  for (const node of nodes.values()) {
    rows[node.depth] = (rows[node.depth] || 0) + 1;
    node.row = rows[node.depth] - 1;
  }
  const wide = 250, high = 64;
  const tallest = Math.max(...rows.filter(Boolean));
  for (const node of nodes.values()) {
    node.x = 20 + node.depth * wide;
    node.y = 20 + (node.row + (tallest - rows[node.depth]) / 2) * high;
  }
  const width = 40 + (rows.length - 1) * wide + 170, height = 40 + tallest * high;
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
    svg.setAttribute(name, value);
  const marker = drawn("marker", { id: "tip", viewBox: "0 0 8 8", refX: 8, refY: 4,
    markerWidth: 8, markerHeight: 8, orient: "auto" });
  marker.append(drawn("path", { d: "M0 0L8 4L0 8z" }));
  svg.append(marker);
  for (const c of edges.values()) {
    const a = nodes.get(c.head), b = nodes.get(c.tail);
    const ahead = b.x >= a.x;
    const x1 = a.x + (ahead ? 150 : 0), x2 = b.x + (ahead ? 0 : 150);
    const y1 = a.y + 18, y2 = b.y + 18;
    const group = drawn("g");
    group.append(drawn("title", {}, `${clean(c.head_name)} – ${clean(c.relation)} – ` +
      `${clean(c.tail_name)}\n${clean(c.source || `triple ${c.triple}`)}`));
    const bend = Math.abs(x2 - x1) < 30 ? 60 : 0;
    group.append(drawn("path", { class: "edge", "marker-end": "url(#tip)",
      d: `M${x1} ${y1}C${(x1 + x2) / 2 + bend} ${y1} ${(x1 + x2) / 2 + bend} ${y2} ${x2} ${y2}` }));
    const said = drawn("text", { class: "said", x: (x1 + x2) / 2 + bend, y: (y1 + y2) / 2 - 5,
      "text-anchor": "middle" }, short(c.relation.split(/[/#]/).pop().replace(/[_.]+/g, " ")).slice(0, 16));
    group.append(said);
    svg.append(group);
  }
  for (const [id, node] of nodes) {
    const group = drawn("g", { class: ends.has(id) ? "node answer" : "node", tabindex: 0,
      role: "button", "aria-label": `Neighbours of ${short(node.name)}` });
    group.append(drawn("title", {}, short(node.name)));
    group.append(drawn("rect", { x: node.x, y: node.y, width: 150, height: 36, rx: 6 }));
    const label = [...clean(node.name)];
    group.append(drawn("text", { x: node.x + 75, y: node.y + 23, "text-anchor": "middle" },
      label.length > 20 ? label.slice(0, 19).join("") + "…" : label.join("")));
    group.addEventListener("click", () => visit(id));
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); visit(id); }
    });
    svg.append(group);
  }
}

async function visit(id) {
  const box = at("entity");
  try {
    const entity = await call(`entities/${encodeURIComponent(id)}?limit=8`);
    box.replaceChildren(made("h2", entity.name));
    if (entity.name !== entity.id) box.append(made("p", entity.id, { class: "faint" }));
    for (const relation of entity.relations) {
      const line = made("p");
      line.append(made("strong", `${relation.relation.startsWith("^") ? "← " : ""}${relation.label}: `));
      relation.facts.forEach((fact, place) => {
        const back = relation.relation.startsWith("^");
        const other = made("button", short(back ? fact.head_name : fact.tail_name),
          { type: "button", class: "link", title: clean(fact.source || `triple ${fact.triple}`) });
        other.addEventListener("click", () => visit(back ? fact.head : fact.tail));
        line.append(place ? ", " : "", other);
      });
      if (relation.left_out) line.append(` … and ${relation.left_out} more`);
      box.append(line);
    }
  } catch (error) {
    box.replaceChildren(made("p", error.message));
  }
  box.hidden = false;
  box.scrollIntoView({ block: "nearest" });
}

function start() {
  at("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const question = at("question").value.trim();
    if (question) ask(question, true);
  });
  at("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem("token", at("token").value);
    at("token-form").hidden = true;
    fromAddress();
  });
  addEventListener("popstate", fromAddress);
  fromAddress();
}
function fromAddress() {
  const question = new URLSearchParams(location.search).get("q");
  if (question) ask(question, false);
  else { at("result").hidden = true; at("status").textContent = ""; at("question").focus(); }
}
start();
