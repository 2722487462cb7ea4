// Systems and metrics against each other: the lines of ranks, the pairs of systems, the agreement of metrics.
function tone(k) { return `hsl(${(k * 137.5 + 215) % 360} 58% var(--hue-line))`; }
function digits(x, n) { return x === null || x === undefined ? "–" : fixed(x, n); }

for (const section of document.querySelectorAll("section[data-k]")) {
  const one = data.comparisons[section.dataset.k], [systems, metrics] = one.order;
  const ranks = section.querySelector(".ranks");
  if (ranks) drawRanks(ranks, one, systems, metrics);
  const pairs = section.querySelector(".pairs"), metric = section.querySelector(".metric");
  if (pairs) { metric.addEventListener("change", () => fillPairs(pairs, one, systems, metric.value)); fillPairs(pairs, one, systems, metric.value); }
  if (section.classList.contains("beside")) showDocuments(section, one.documents, systems);
  const agree = section.querySelector(".agree"), how = section.querySelector(".coefficient");
  if (agree) { how.addEventListener("change", () => fillAgree(agree, one, metrics, how.value)); fillAgree(agree, one, metrics, how.value); }
}

// Names with both of their ends, as long as there is room for, and as long as they have to be to stay different.
function shortened(names, room) {
  const longest = Math.max(...names.map(n => n.length)), wide = Math.max(...names.map(n => width(n)));
  if (wide <= room) return names;
  for (let n = Math.max(8, Math.floor(longest * room / wide)); n < longest; n++) {
    const head = Math.ceil((n - 1) / 2), cut = names.map(s => s.length > n ? s.slice(0, head) + "…" + s.slice(s.length - (n - 1 - head)) : s);
    if (new Set(cut).size === new Set(names).size) return cut;
  }
  return names;
}
function drawRanks(into, one, systems, metrics) {
  const short = shortened(systems, Math.max(120, Math.min(260, (into.clientWidth - 110 - 110 * (metrics.length - 1)) / 2)));
  const name = Math.max(...short.map(s => width(s))) + 34, STEP = Math.max(48, Math.min(230, (into.clientWidth - 40 - 2 * name) / (metrics.length - 1))), ROW = systems.length > 25 ? 19 : 30;
  const bars = metrics.map(m => lanes(((one.groups || {})[m] || []).filter(g => g.length > 1).map(g => [one.systems[g[0]][m].rank, one.systems[g.at(-1)][m].rank])));
  const aside = 8 * Math.max(0, ...bars.at(-1).map(b => b[2] + 1));
  const W = 2 * name + aside + STEP * (metrics.length - 1), H = 46 + ROW * systems.length;
  const x = k => name + k * STEP, y = r => 26 + r * ROW;
  const svg = shape("svg", { viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img", "aria-label": "Ranks of the systems under each metric; the table above has them as numbers" });
  const crowded = metrics.some(m => width(m) > STEP - 6);  // then their names stand on two lines, in turns
  metrics.forEach((m, k) => svg.append(shape("line", { x1: x(k), x2: x(k), y1: 34, y2: H - 8, stroke: "var(--line)" }),
    shape("text", { x: x(k), y: crowded ? (k % 2 ? 13 : 27) : 20, "text-anchor": "middle", style: "font-weight:600" }, m)));
  bars.forEach((of, k) => of.forEach(([a, b, lane]) => svg.append(shape("line", { x1: x(k) + 12 + 8 * lane, x2: x(k) + 12 + 8 * lane, y1: y(a) - 6, y2: y(b) + 6, class: "group" }))));
  // Systems that share a rank have their names one below the other, at the places that they share; those without a figure come last.
  const rank = (s, m) => one.systems[s][m].rank ?? null, last = r => r === null ? systems.length + 1 : r;
  const place = m => { const order = [...systems].sort((a, b) => last(rank(a, m)) - last(rank(b, m))); return s => y(order.indexOf(s) + 1) + 4.5; };
  const left = place(metrics[0]), right = place(metrics[metrics.length - 1]);
  systems.forEach((s, i) => {
    const at = metrics.map(m => rank(s, m)), colour = tone(i), g = shape("g", { class: "series" });
    let d = "";
    at.forEach((r, k) => { if (r !== null) d += k && at[k - 1] !== null ? `C${x(k - 1) + STEP / 2},${y(at[k - 1])} ${x(k) - STEP / 2},${y(r)} ${x(k)},${y(r)}` : `M${x(k)},${y(r)}`; });
    g.append(shape("path", { d, style: `stroke:${colour}` }));
    at.forEach((r, k) => { if (r !== null) g.append(shape("circle", { cx: x(k), cy: y(r), r: 5.5, style: `fill:${colour}` })); });
    const cls = r => r === null ? { class: "unranked" } : {};
    g.append(shape("text", { x: x(0) - 14, y: left(s), "text-anchor": "end", ...cls(at[0]) }, short[i]), shape("text", { x: x(metrics.length - 1) + 14 + aside, y: right(s), ...cls(at.at(-1)) }, short[i]));
    g.append(shape("title", {}, `${s}: ${metrics.map((m, k) => at[k] === null ? `${m} undefined` : `${m} #${at[k]}`).join(", ")}`));
    svg.append(g);
  });
  into.append(svg);
}

// Bars that would cover each other stand side by side: for each its two ends, and its lane.
function lanes(spans) {
  const last = [];
  return spans.map(([a, b]) => { let k = last.findIndex(end => end < a); if (k < 0) { k = last.length; last.push(0); } last[k] = b; return [a, b, k]; });
}

function heads(table, names, corner, short) {
  const row = el("tr", "", el("th", "", corner));
  for (const n of names) { const th = el("th", "", short ? short[n] : n); if (short) { th.title = n; th.setAttribute("aria-label", n); } th.scope = "col"; th.style.textAlign = "center"; row.append(th); }
  table.replaceChildren(table.caption, el("thead", "", row));
  const body = el("tbody");
  table.append(body);
  return body;
}
function rowHead(name, letter) { const th = el("th", "", letter ? el("span", "soft", letter + " ") : null, name); th.scope = "row"; return th; }

function fillPairs(table, one, systems, metric) {
  const body = heads(table, systems, "", one.letters), dense = systems.length > 12, lower = (one.metrics[metric] || {}).lower_is_better;
  table.classList.toggle("dense", dense);
  const found = {};
  for (const d of one.differences) if (d.metric === metric) { found[d.first + "\n" + d.second] = [-d.difference, d]; found[d.second + "\n" + d.first] = [d.difference, d]; }
  for (const a of systems) {
    const row = el("tr", "", rowHead(a, one.letters[a]));
    for (const b of systems) {
      const [value, d] = found[a + "\n" + b] || [];
      if (!d || d.difference === null) { row.append(el("td", "soft", a === b ? "" : "–")); continue; }
      const sure = d.p_holm !== null && d.p_holm !== undefined && d.p_holm <= one.alpha;
      if (dense) {
        const up = value > 0 !== !!lower, cell = el("td", sure ? (up ? "right-c" : "missed-c") : "soft", sure ? (up ? "●" : "○") : "·");
        cell.title = `${a} less ${b}: ${value > 0 ? "+" : ""}${fixed(value, 4)}, p ${digits(d.p_holm, 4)}`;
        row.append(cell);
        continue;
      }
      row.append(el("td", sure ? (value > 0 ? "right-c" : "missed-c") : "soft", (value > 0 ? "+" : "") + fixed(value, 4), el("br"), el("small", "", (sure ? "● " : "") + "p " + digits(d.p_holm, 4))));
    }
    body.append(row);
  }
}
function fillAgree(table, one, metrics, how) {
  const body = heads(table, metrics, "");
  const found = {};
  for (const c of one.correlations) { found[c.first + "\n" + c.second] = c[how]; found[c.second + "\n" + c.first] = c[how]; }
  for (const a of metrics) {
    const row = el("tr", "", rowHead(a));
    for (const b of metrics) {
      const value = a === b ? 1 : found[a + "\n" + b], cell = el("td", "", digits(value, 4));
      if (value !== null && value !== undefined) { cell.style.setProperty("--v", percent(Math.abs(value))); if (value < 0) cell.className = "against"; }
      row.append(cell);
    }
    body.append(row);
  }
}

// Document by document: two predictions beside the reference.
const CELL = { "=": "", "~": "part", "-": "missed", "+": "spurious", "": "none" }, MARK = { "=": "", "~": "≠", "-": "−", "+": "+", "": "" };
function showDocuments(section, docs, systems) {
  const find = cls => section.querySelector(cls), list = find("ul"), more = find(".more"), boxes = [find(".from"), find(".to")];
  let chosen = [], drawn = 0;
  const pair = () => boxes.map(box => systems.indexOf(box.value));
  const value = (s, i) => docs.figures[s][i], better = (a, b, i) => ((value(b, i) ?? 0) - (value(a, i) ?? 0)) * (docs.lower ? -1 : 1);
  function choose() {
    const [a, b] = pair(), word = find("input[type=search]").value.trim().toLowerCase(), which = find(".which").value;
    const gains = docs.ids.map((id, i) => better(a, b, i)), fits = { "": () => true, lost: g => g < -1e-9, won: g => g > 1e-9, tied: g => Math.abs(g) <= 1e-9 }[which];
    chosen = docs.ids.map((id, i) => i).filter(i => fits(gains[i]) && (!word || docs.ids[i].toLowerCase().includes(word))).sort((x, y) => gains[x] - gains[y] || x - y);
    find(".one").textContent = systems[a];
    find(".two").textContent = systems[b];
    list.replaceChildren();
    drawn = 0;
    extend();
  }
  function extend() {
    for (const i of chosen.slice(drawn, drawn + 50)) list.append(item(i));
    drawn = Math.min(chosen.length, drawn + 50);
    find(".found").textContent = (chosen.length === docs.ids.length ? "" : `${chosen.length.toLocaleString("en")} of `) + count(docs.ids.length, "document") + (docs.total > docs.ids.length ? ` (of ${docs.total.toLocaleString("en")}, those that differ most)` : "");
    more.hidden = drawn >= chosen.length;
    more.querySelector("span").textContent = `${drawn.toLocaleString("en")} of ${chosen.length.toLocaleString("en")} shown`;
  }
  function item(i) {
    const [a, b] = pair(), gain = better(a, b, i), there = i in docs.rows, details = el("details", "doc" + (there ? "" : " bare")), body = el("div", "body");
    details.append(el("summary", "cols", el("span", "id", docs.ids[i]), ...[a, b].map(s => { const f = el("span", "f other", fig(value(s, i))); f.style.setProperty("--v", percent(value(s, i))); return f; }),
      el("span", "f " + (gain > 1e-9 ? "gain" : gain < -1e-9 ? "loss" : ""), value(a, i) === null || value(b, i) === null ? "–" : (gain > 1e-9 ? "+" : gain < -1e-9 ? "−" : "") + fig(Math.abs(value(b, i) - value(a, i))))), body);
    details.addEventListener("toggle", () => { if (details.open && !body.firstChild) body.append(there ? threeColumns(docs.rows[i], a, b, systems) : el("p", "note", "The page carries the documents that differ most, and this one is not among them.")); });
    return el("li", "", details);
  }
  for (const box of [...boxes, find(".which")]) box.addEventListener("change", choose);
  find("input[type=search]").addEventListener("input", choose);
  find(".hide").addEventListener("change", event => list.classList.toggle("hide-right", event.target.checked));
  more.querySelector("button").addEventListener("click", extend);
  choose();
}
function threeColumns(rows, a, b, systems) {
  const table = el("table", "pair three"), cols = el("colgroup"), head = el("tr"), body = el("tbody");
  for (const name of ["what", "", "", ""]) cols.append(el("col", name));
  for (const name of ["", "Reference", systems[a], systems[b]]) { const th = el("th", "", name || el("span", "hidden", "Part")); th.scope = "col"; head.append(th); }
  for (const [depth, name, reference, ...cells] of rows) {
    const two = [cells[a], cells[b]], group = reference === null && two.every(c => c[1] === null);
    const what = el("th", "what", name);
    what.scope = "row";
    what.style.setProperty("--d", depth);
    if (!group && reference === null && two.every(c => c[0] === "")) continue;   // only other systems have it
    const row = el("tr", group ? "group" : two.every(c => c[0] === "=") ? "same" : "", what, el("td", "v", reference ?? ""));
    for (const [status, text] of two) row.append(el("td", "v cell " + CELL[status], group && status === "" ? "" : MARK[status] ? el("span", "sign", MARK[status]) : null, text === 0 ? reference : text ?? (status === "-" ? "missed" : "")));
    row.dataset.d = depth;
    body.append(row);
  }
  const all = [...body.rows];   // a group of which everything is right is right
  all.forEach((row, k) => {
    if (!row.classList.contains("group")) return;
    const end = all.findIndex((other, j) => j > k && Number(other.dataset.d) <= Number(row.dataset.d)), inside = all.slice(k + 1, end < 0 ? undefined : end).filter(other => !other.classList.contains("group"));
    if (inside.length && inside.every(other => other.classList.contains("same"))) row.classList.add("same");
  });
  table.append(el("caption", "hidden", "Reference and two predictions side by side"), cols, el("thead", "", head), body);
  const box = el("div", "scroll", table);
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "Reference and two predictions");
  return box;
}
