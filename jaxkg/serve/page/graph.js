"use strict";
// What page.js and the drawing share, and the drawing. Text of a graph only ever becomes text nodes
// and attributes set by name: never markup.

const at = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const MOST_DRAWN = 12; // paths
const BOX = 170, COLUMN = 330, ROW = 48;

function clean(text) {
  // Direction marks and controls would let one name read as another.
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f]/g, "\ufffd")
    .replace(/[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g, "");
}
function short(text, most = 60) {
  const whole = [...clean(text)];
  return whole.length > most ? whole.slice(0, most - 1).join("") + "…" : whole.join("");
}
// Relation to its label, as the schema tells it; what is not told there is read off the name.
const labels = new Map();
const label = (relation) => {
  const name = relation.replace(/^\^/, "");
  return short(labels.get(name) ?? name.split(/[/#]/).pop().replace(/[_.]+/g, " "));
};
const source = (c) => clean(c.source || `triple ${c.triple}`);
// Where a walk enters a triple and where it leaves it: [id, name].
const ends = (c) => {
  const both = [[c.head, c.head_name], [c.tail, c.tail_name]];
  return c.inverse ? both.reverse() : both;
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

// Nodes by distance from where the paths begin, and the triples between them.
function laidOut(paths) {
  const nodes = new Map();
  const edges = new Map();
  for (const path of paths.slice(0, MOST_DRAWN)) {
    for (const c of path.citations) {
      const [[a, from], [b, to]] = ends(c);
      if (!nodes.has(a)) nodes.set(a, { depth: 0, name: from });
      if (!nodes.has(b)) nodes.set(b, { depth: nodes.get(a).depth + 1, name: to });
      edges.set(c.triple, c);
    }
  }
  const rows = [];
  for (const node of nodes.values()) {
    rows[node.depth] = (rows[node.depth] || 0) + 1;
    node.row = rows[node.depth] - 1;
  }
  const tallest = Math.max(0, ...rows.filter(Boolean));
  for (const node of nodes.values()) {
    node.beside = rows[node.depth];
    node.x = 20 + node.depth * COLUMN;
    node.y = 20 + (node.row + (tallest - node.beside) / 2) * ROW;
  }
  return { nodes, edges, width: 40 + (rows.length - 1) * COLUMN + BOX, height: 28 + tallest * ROW };
}

// Draws the triples of the paths; `visit` is called with the id of an entity that was chosen.
function draw(answer, paths, visit) {
  const { nodes, edges, width, height } = laidOut(paths);
  const svg = at("drawing");
  svg.replaceChildren();
  at("figure").hidden = !nodes.size;
  if (!nodes.size) return;
  at("left-out").textContent = paths.length > MOST_DRAWN ? `The first ${MOST_DRAWN} of ${paths.length} paths. ` : "";
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
    svg.setAttribute(name, value);
  const marker = drawn("marker", { id: "tip", viewBox: "0 0 8 8", refX: 8, refY: 4,
    markerWidth: 8, markerHeight: 8, orient: "auto" });
  marker.append(drawn("path", { d: "M0 0L8 4L0 8z" }));
  svg.append(marker);
  const found = new Set(answer.entities.map((entity) => entity.entity));
  for (const c of edges.values()) svg.append(arrow(c, nodes.get(c.head), nodes.get(c.tail)));
  for (const [id, node] of nodes) svg.append(box(id, node, found.has(id), visit));
}

function arrow(c, a, b) {
  const aside = a.x === b.x;
  const ahead = b.x > a.x;
  const x1 = a.x + (ahead || aside ? BOX : 0), x2 = b.x + (ahead ? 0 : BOX);
  const y1 = a.y + 18, y2 = b.y + 18;
  const middle = (x1 + x2) / 2 + (aside ? 60 : 0);
  const d = `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
  const group = drawn("g");
  group.append(drawn("title", {},
    `${short(c.head_name)} – ${label(c.relation)} – ${short(c.tail_name)}\n${short(source(c), 200)}`));
  group.append(drawn("path", { class: "touch", d }));
  group.append(drawn("path", { class: "edge", "marker-end": "url(#tip)", d }));
  // On the curve, nearer to the end where more nodes stand one below the other.
  const t = a.beside === b.beside ? .5 : a.beside < b.beside ? .7 : .3;
  const x = x1 * (1 - t) ** 3 + 3 * middle * t * (1 - t) + x2 * t ** 3;
  const y = y1 + (y2 - y1) * (3 * t ** 2 - 2 * t ** 3);
  group.append(drawn("text", { class: "tag", x, y: y + 4, "text-anchor": "middle" }, short(label(c.relation), 18)));
  return group;
}

function box(id, node, answer, visit) {
  const group = drawn("g", { class: answer ? "node answer" : "node", tabindex: 0, role: "button",
    "aria-label": `${short(node.name, 22)}: neighbours` });
  group.append(drawn("title", {}, short(node.name, 300)));
  group.append(drawn("rect", { x: node.x, y: node.y, width: BOX, height: 36, rx: 6 }));
  group.append(drawn("text", { x: node.x + BOX / 2, y: node.y + 23, "text-anchor": "middle" }, short(node.name, 22)));
  group.addEventListener("click", () => visit(id));
  group.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); visit(id); }
  });
  return group;
}
