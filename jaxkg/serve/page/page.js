"use strict";
const MOST_RELATIONS = 60;
let asked = 0;
let known = Promise.resolve();
let later = 0;

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
  if (reply.status === 401) at("token-form").hidden = false;
  if (!reply.ok) throw new Error(record.error || `status ${reply.status}`);
  return record;
}

const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
function tell(text, kind = "") {
  at("status").textContent = clean(text);
  at("status").className = kind;
}

// A name that leads to its entity; the whole of a long one stands beside its neighbours.
function link(id, name, kind = "node", most = 80) {
  const button = made("button", short(name, most), { type: "button", class: kind, dir: "auto" });
  if ([...name].length > most) button.title = short(name, 500);
  button.addEventListener("click", () => visit(id));
  return button;
}
function sure(probability) {
  const percent = probability < .01 ? "under 1" : Math.round(100 * probability);
  const box = made("span", undefined, { class: "sure" });
  box.append(made("meter", undefined,
    { min: 0, max: 1, low: .35, high: .65, optimum: 1, value: probability, "aria-hidden": "true" }),
    `${percent} % sure`);
  return box;
}

async function ask(question, topics = [], remember = true) {
  const mine = ++asked;
  at("question").value = question;
  if (remember) {
    const address = new URLSearchParams([["q", question], ...topics.map((topic) => ["t", topic])]);
    history.pushState({}, "", `?${address}`);
  }
  document.title = `${short(question)} – jaxkg`;
  tell("Asking …", "working");
  for (const id of ["result", "entity", "examples"]) at(id).hidden = true;
  at("found").className = "";
  at("known").open = false;
  tellCurl({ question, ...(topics.length ? { topics } : {}) });
  try {
    const answer = await call("ask", { question, topics });
    await known.catch(() => {}); // the labels of its relations
    if (mine !== asked) return;
    show(answer);
    const many = answer.entities.length;
    tell(answer.abstained ? "No answer." : `${count(many, "answer", "answers")}.`);
    at("result").focus();
  } catch (error) {
    if (mine === asked) tell(error.message, "wrong");
  }
}

function show(answer) {
  at("result").hidden = false;
  showReading(answer);
  showVerdict(answer);
  const paths = new Map(answer.paths.map((path) => [path.id, path]));
  const read = Math.max(...answer.plan.filter((plan) => plan.used).map((plan) => plan.probability));
  const items = answer.entities.map((entity) => answered(entity, paths, read, answer.columns));
  const first = items.slice(0, 10), rest = items.slice(10);
  at("answers").replaceChildren(...first);
  if (rest.length) at("answers").append(unfolded(`${count(rest.length, "more answer", "more answers")}`, rest, "ol"));
  showOthers(answer);
  const cited = answer.paths.filter((path) => path.citations.length);
  draw(answer, cited, visit);
  showHow(answer);
}

function unfolded(title, items, list = "ul") {
  const item = made("li");
  const more = made("details");
  const inside = made(list, undefined, { class: "chains" });
  inside.append(...items);
  more.append(made("summary", title), inside);
  item.append(more);
  return item;
}

// The question with what was recognised in it, and how it was read.
function showReading(answer) {
  const box = at("read");
  const letters = [...answer.question];
  const chosen = answer.topics.filter((topic) => topic.chosen);
  const line = made("p", undefined, { class: "asked", dir: "auto" });
  let done = 0;
  for (const topic of [...chosen].sort((a, b) => a.start - b.start)) {
    if (topic.start < done || topic.end <= topic.start) continue;
    line.append(clean(letters.slice(done, topic.start).join("")),
      made("mark", letters.slice(topic.start, topic.end).join("")));
    done = topic.end;
  }
  line.append(clean(letters.slice(done).join("")));
  box.replaceChildren(line);
  const used = answer.plan.filter((plan) => plan.used);
  if (answer.reading) {
    const reading = made("p", undefined, { class: "faint" });
    reading.append("Read as ", made("span", answer.reading, { dir: "auto" }), " ");
    if (used.length) reading.append(sure(Math.max(...used.map((plan) => plan.probability))));
    box.append(reading);
  }
  const others = answer.topics.filter((topic) => !topic.chosen).slice(0, 5);
  if (others.length) {
    const line = made("p", undefined, { class: "faint" });
    line.append("Or about: ");
    for (const topic of others) {
      const button = made("button", short(topic.name), { type: "button", class: "node", dir: "auto" });
      // It takes the place of what was read there; the other topics stay.
      const rest = chosen.filter((other) => other.start !== topic.start || other.end !== topic.end);
      button.addEventListener("click", () => ask(answer.question, [topic, ...rest].map((one) => one.entity)));
      line.append(button, " ");
    }
    box.append(line);
  }
}

function showVerdict(answer) {
  const box = at("verdict");
  const lines = [];
  if (answer.abstained) {
    const [why, ...more] = answer.abstained.split("; ");
    const first = made("p");
    first.append(made("strong", "No answer: "), clean(why));
    lines.push(first, ...more.map((text) => made("p", text)));
  }
  if (answer.error) lines.push(made("p", answer.error));
  if (answer.rationale) lines.push(made("p", answer.rationale));
  box.replaceChildren(...lines);
  box.hidden = !lines.length;
}

const TOLD = { count: "count", truth: "yes or no" };
// `read` is how sure the reading is: told once, above, where the answer is no less.
function answered(entity, paths, read, columns) {
  const item = made("li", undefined, { class: "answer" });
  const head = made("div", undefined, { class: "head" });
  head.append(entity.kind in TOLD
    ? made("span", entity.name, { class: "name" }) : link(entity.entity, entity.name, "link name", 200));
  if (entity.kind !== "entity") head.append(made("span", TOLD[entity.kind] || entity.kind, { class: "kind" }));
  head.append(...entity.cells.map((cell, at) => made("span", `${columns.at(at - entity.cells.length)}: ${cell}`, { class: "cell" })));
  if (entity.score < 1 && Math.abs(entity.score - read) > .005) head.append(sure(entity.score));
  const behind = entity.paths.map((id) => paths.get(id)).filter(Boolean).map(chain);
  const list = made("ul", undefined, { class: "chains", "aria-label": "Because" });
  list.append(...behind.slice(0, 3));
  if (behind.length > 3) list.append(unfolded(`${count(behind.length - 3, "more path", "more paths")}`, behind.slice(3)));
  item.append(head, list);
  return item;
}

// A path as a row of nodes with what is said between them; a new row where it does not go on.
function chain(path) {
  const item = made("li");
  let row, last;
  const end = path.citations.length && ends(path.citations.at(-1))[1][0];
  for (const c of path.citations) {
    const [[a, from], [b, to]] = ends(c);
    if (a !== last) {
      row = made("div", undefined, { class: "chain" });
      row.append(link(a, from));
      item.append(row);
    }
    row.append(made("span", c.inverse ? `← ${label(c.relation)} –` : `– ${label(c.relation)} →`,
      { class: "said", title: short(source(c), 200) }), link(b, to, b === end ? "node end" : "node"));
    last = b;
  }
  for (const c of path.hyperedges) item.append(made("div", c.name, { dir: "auto" }));
  const from = path.citations.map(source);
  if (from.length) item.append(made("div", [...new Set(from)].map((text) => short(text, 200)).join(" · "), { class: "source" }));
  return item;
}

// Other readings with what they would have found; folded where they are unlikely beside an answer.
function showOthers(answer) {
  const box = at("others");
  box.replaceChildren();
  if (!answer.readings.length) return;
  const items = answer.readings.map((reading) => {
    const other = made("div", undefined, { class: "other" });
    const title = made("p");
    title.append(made("span", reading.reading, { dir: "auto" }), " ", sure(reading.confidence));
    const names = reading.preview.map((name) => short(name, 80)).join(", ");
    other.append(title, made("p", (names || "nothing") + (reading.more ? ` and ${reading.more} more` : ""), { class: "faint", dir: "auto" }));
    return other;
  });
  const likely = answer.abstained || answer.readings[0].confidence >= .1;
  const inside = made(likely ? "div" : "details");
  const title = made("h2", answer.abstained ? "Did you mean" : "Or did you mean");
  if (likely) inside.append(title);
  else { const summary = made("summary"); summary.append(title); inside.append(summary); }
  inside.append(...items);
  box.append(inside);
}

function showHow(answer) {
  const parts = answer.notes.map((note) => made("p", note));
  if (answer.plan.some((plan) => plan.relations.length)) {
    const table = made("table");
    const head = made("tr");
    head.append(made("th", "relation path considered"), made("th", "sure", { class: "number" }),
      made("th", "reaches", { class: "number" }), made("th", "used"));
    table.append(head);
    for (const plan of answer.plan.filter((plan) => plan.relations.length)) {
      const line = made("tr");
      line.append(made("td", plan.relations.map((r) => `${r.startsWith("^") ? "←" : "→"} ${label(r)}`).join(" ")),
        made("td", `${Math.round(100 * plan.probability)} %`, { class: "number" }),
        made("td", plan.reached ?? "–", { class: "number" }), made("td", plan.used ? "yes" : "no"));
      table.append(line);
    }
    parts.push(table);
  }
  const { calls, price, seconds } = answer.usage;
  parts.push(made("p", `${answer.system}, ${Math.round(1000 * seconds)} ms` +
    (calls ? `, ${count(calls, "call", "calls")} of a model, price ${price.toFixed(4)}` : ""), { class: "faint" }));
  at("how").replaceChildren(...parts);
}

async function visit(id) {
  const box = at("entity");
  const from = document.activeElement;
  const close = made("button", "Close", { type: "button", class: "close" });
  const gone = () => {
    box.hidden = true;
    at("found").className = "";
    if (from && from.isConnected && !box.contains(from)) from.focus();
  };
  close.addEventListener("click", gone);
  box.onkeydown = (event) => { if (event.key === "Escape") gone(); };
  try {
    const entity = await call(`entities/${encodeURIComponent(id)}?limit=8`);
    box.replaceChildren(close, made("h2", entity.name, { dir: "auto", tabindex: 0 }));
    const known = [entity.name === entity.id ? "" : entity.id, ...entity.aliases].filter(Boolean);
    if (known.length) box.append(made("p", `Also ${short(known.join(", "), 200)}`, { class: "faint", dir: "auto" }));
    const list = made("dl");
    for (const relation of entity.relations) {
      const back = relation.relation.startsWith("^");
      list.append(made("dt", `${back ? "←" : "→"} ${short(relation.label)}`));
      for (const fact of relation.facts) {
        const line = made("dd");
        const other = link(back ? fact.head : fact.tail, back ? fact.head_name : fact.tail_name, "link");
        other.title = short(source(fact), 200);
        line.append(other);
        list.append(line);
      }
      if (relation.left_out) list.append(made("dd", `and ${relation.left_out} more`, { class: "faint" }));
    }
    box.append(list);
  } catch (error) {
    box.replaceChildren(close, made("p", error.message));
  }
  box.hidden = false;
  at("found").className = at("result").hidden ? "" : "beside";
  box.scrollIntoView({ block: "nearest" });
  box.focus({ preventScroll: true });
}

async function showGraph() {
  const schema = await call("schema?limit=1000");
  const rarer = schema.relations.length + schema.left_out - MOST_RELATIONS;
  at("about").textContent = [count(schema.entities, "entity", "entities"), count(schema.triples, "fact", "facts"),
    count(schema.relations.length + schema.left_out, "relation", "relations")].join(" · ");
  for (const relation of schema.relations) labels.set(relation.relation, relation.label);
  at("relations").replaceChildren(...schema.relations.slice(0, MOST_RELATIONS).map((relation) => {
    const item = made("li");
    item.append(made("strong", short(relation.label)), " ",
      made("span", count(relation.count, "fact", "facts"), { class: "source" }));
    const c = relation.example;
    if (c) {
      const row = made("div", undefined, { class: "chain" });
      row.append(link(c.head, c.head_name, "node", 40), made("span", "→", { class: "said" }), link(c.tail, c.tail_name, "node", 40));
      item.append(row);
    }
    return item;
  }));
  at("relations-left").textContent = rarer > 0 ? `and ${count(rarer, "rarer one", "rarer ones")}` : "";
  at("known").hidden = false;
}
async function showExamples() {
  const { questions, complete } = await call("examples");
  at("examples").querySelector("ul").replaceChildren(...questions.slice(0, 8).map((question) => {
    const item = made("li");
    const button = made("button", short(question, 120), { type: "button", dir: "auto" });
    button.addEventListener("click", () => ask(question));
    item.append(button);
    return item;
  }));
  at("examples").hidden = !questions.length || !at("result").hidden || at("status").className === "working";
  return complete;
}

async function find(name) {
  try {
    const found = await call(`entities?${new URLSearchParams({ q: name, limit: 12 })}`);
    at("names").replaceChildren(...found.entities.map((entity) => link(entity.id, entity.name)));
    if (!found.entities.length) at("names").textContent = "Nothing of that name.";
  } catch (error) {
    at("names").textContent = clean(error.message);
  }
}

function tellCurl(body) {
  const quoted = JSON.stringify(body).replace(/'/g, "'\\''");
  at("curl").textContent = `curl ${new URL("ask", location.href.split("?")[0])} -d '${clean(quoted)}'`;
}

function begin() {
  const told = (error) => { if (at("status").className !== "working") tell(error.message, "wrong"); };
  if (!labels.size) known = showGraph();
  known.catch(told);
  clearTimeout(later);
  // A service that has just been started is still trying them.
  const examples = () => showExamples()
    .then((complete) => { if (!complete) later = setTimeout(examples, 1000); })
    .catch(told);
  examples();
  const given = new URLSearchParams(location.search);
  const question = given.get("q");
  if (question) {
    ask(question, given.getAll("t"), false);
    return;
  }
  asked += 1;
  for (const id of ["result", "entity"]) at(id).hidden = true;
  at("question").value = "";
  document.title = "jaxkg";
  tell("");
  tellCurl({ question: "…" });
  at("known").open = true;
  at("question").focus({ preventScroll: true });
}

function submitted(form, field, then) {
  at(form).addEventListener("submit", (event) => {
    event.preventDefault();
    const text = at(field).value.trim();
    if (text) then(text);
  });
}
submitted("ask", "question", (text) => ask(text));
submitted("find", "name", find);
submitted("token-form", "token", (text) => {
  sessionStorage.setItem("token", text);
  at("token").value = "";
  at("token-form").hidden = true;
  begin();
});
addEventListener("popstate", begin);
begin();
