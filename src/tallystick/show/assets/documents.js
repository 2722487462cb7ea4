// The documents: ordered, filtered, some at a time; and one figure of theirs against another.
const PAGE = 50;
const docs = data.documents, shownAxes = docs.axes.map((a, k) => k).filter(k => docs.axes[k].shown);
const list = document.getElementById("list"), found = document.getElementById("found"), more = document.getElementById("more");
const byName = document.getElementById("filter"), most = document.getElementById("most"), order = document.getElementById("order"), carried = document.getElementById("carried");
const ordered = document.getElementById("ordered");
const names = docs.ids.map(id => id.toLowerCase());
const wrong = document.getElementById("wrong"), badged = [...document.querySelectorAll(".badged")], marked = names.map(() => ({}));
for (const [name, ones] of Object.entries(data.badges || {})) for (const [i, why] of ones) marked[i][name] = why;
let chosen = [], drawn = 0;

// The documents in which a field is wrong: a bit for each.
function wrongIn(name) {
  const bits = atob(data.fields[name].wrong);
  return i => bits.charCodeAt(i >> 3) >> (7 - (i & 7)) & 1;
}

function axisName(k) { return docs.axes[k].metric + " " + docs.axes[k].figure; }
function shortName(k, ...among) {
  const same = part => new Set(among.map(one => docs.axes[one][part])).size === 1;
  return same("metric") ? docs.axes[k].figure : same("figure") ? docs.axes[k].metric : axisName(k);
}
function choose() {
  const k = Number(order.value), values = docs.axes[k].values, word = byName.value.trim().toLowerCase();
  const limit = most.value === "" ? Infinity : Number(most.value);
  const here = wrong && wrong.value ? wrongIn(wrong.value) : null, wanted = badged.filter(box => box.checked).map(box => box.value);
  chosen = [];
  for (let i = 0; i < names.length; i++) {
    if (word && !names[i].includes(word)) continue;
    if (values[i] !== null ? values[i] > limit : limit !== Infinity) continue;
    if (carried.checked && !(i in data.aligned)) continue;
    if (here && !here(i) || wanted.length && !wanted.some(name => name in marked[i])) continue;
    chosen.push(i);
  }
  const sign = docs.axes[k].lower ? -1 : 1;
  chosen.sort((a, b) => (values[a] === null) - (values[b] === null) || sign * (values[a] - values[b]) || a - b);
  list.replaceChildren();
  drawn = 0;
  extend(PAGE);
  const headline = data.metrics[docs.axes[k].metric].headline === docs.axes[k].figure;
  ordered.textContent = `Ordered by ${headline ? docs.axes[k].metric : axisName(k)}.`;
  for (const button of document.querySelectorAll(".docs .head button")) button.setAttribute("aria-pressed", button.dataset.axis === order.value);
}
function extend(n) {
  for (const i of chosen.slice(drawn, drawn + n)) list.append(item(i));
  drawn = Math.min(chosen.length, drawn + n);
  found.textContent = chosen.length === names.length ? count(names.length, "document") : `${chosen.length.toLocaleString("en")} of ${count(names.length, "document")}`;
  more.hidden = drawn >= chosen.length;
  more.querySelector("span").textContent = `${drawn.toLocaleString("en")} of ${chosen.length.toLocaleString("en")} shown`;
}
function item(i) {
  const details = el("details", "doc" + (i in data.aligned ? "" : " bare"));
  const id = el("span", "id", docs.ids[i]);
  for (const [name, why] of Object.entries(marked[i])) {
    const badge = el("span", "badge " + name, name);
    if (why) badge.title = why;
    id.append(" ", badge);
  }
  const summary = el("summary", "cols", id);
  for (const k of shownAxes) {
    const f = el("span", "f" + (String(k) === order.value || shownAxes.length === 1 ? "" : " other"), fig(docs.axes[k].values[i]));
    f.style.setProperty("--v", percent(docs.axes[k].values[i]));
    f.setAttribute("aria-label", axisName(k) + " " + fig(docs.axes[k].values[i]));
    summary.append(f);
  }
  const body = el("div", "body");
  details.append(summary, body);
  details.dataset.i = i;
  details.addEventListener("toggle", () => { if (details.open && !body.firstChild) fill(body, i); });
  return el("li", "", details);
}
function fill(body, i) {
  const one = unpack(data.aligned[i]);
  if (docs.absent) {
    body.append(el("p", "note", docs.absent));
    return;
  }
  if (!one) {
    const way = docs.further ? `${docs.further} shows it, or a report with more documents (--report-documents).` : "A report with more documents shows it (--report-documents).";
    body.append(el("p", "note", "The page carries the alignments of the worst documents only, and this one is not among them. ", way));
    return;
  }
  for (const d of one.drawings) body.append(drawing(d));
  if (one.tree) body.append(drawTree(one.tree, docs.alignment));
  if (one.cut) body.append(el("p", "note", "This alignment is longer than the page carries" + (docs.further ? `; ${docs.further} shows all of it.` : ".")));
}
function openDocument(i) {
  if (!chosen.includes(i)) {
    byName.value = ""; most.value = ""; carried.checked = false;
    if (wrong) wrong.value = "";
    for (const box of badged) box.checked = false;
    choose();
  }
  const place = chosen.indexOf(i);
  if (place >= drawn) extend(place - drawn + 1);
  const details = list.children[place].firstChild;
  details.open = true;
  details.querySelector("summary").focus();
  details.scrollIntoView({ block: "start" });
}
list.addEventListener("keydown", event => {
  if (event.target.tagName !== "SUMMARY" || !["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) return;
  const all = [...list.querySelectorAll("summary")], at = all.indexOf(event.target);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (all[to]) { all[to].focus(); event.preventDefault(); }
});
byName.addEventListener("input", choose);
most.addEventListener("input", choose);
for (const box of [carried, wrong, ...badged]) box?.addEventListener("change", choose);
order.addEventListener("change", choose);
more.querySelector("button").addEventListener("click", () => {
  const first = drawn;
  extend(PAGE);
  list.children[first]?.querySelector("summary").focus();
});
document.getElementById("hide").addEventListener("change", event => list.classList.toggle("hide-right", event.target.checked));
for (const button of document.querySelectorAll(".docs .head button")) button.addEventListener("click", () => { order.value = button.dataset.axis; choose(); });

// Metric against metric
function ranked(values) {
  const at = values.map((v, k) => k).sort((a, b) => values[a] - values[b]), out = Array(values.length);
  for (let k = 0; k < at.length;) {
    let last = k;
    while (last + 1 < at.length && values[at[last + 1]] === values[at[k]]) last++;
    for (let j = k; j <= last; j++) out[at[j]] = (k + last) / 2 + 1;
    k = last + 1;
  }
  return out;
}
function correlation(a, b) {
  const n = a.length, ma = a.reduce((s, v) => s + v, 0) / n, mb = b.reduce((s, v) => s + v, 0) / n;
  let ab = 0, aa = 0, bb = 0;
  for (let k = 0; k < n; k++) { ab += (a[k] - ma) * (b[k] - mb); aa += (a[k] - ma) ** 2; bb += (b[k] - mb) ** 2; }
  return aa && bb ? ab / Math.sqrt(aa * bb) : null;
}
const plot = document.getElementById("plot");
if (plot) {
  const across = document.getElementById("across"), up = document.getElementById("up");
  const W = 560, H = 440, L = 52, B = 46, T = 12, R = 14;
  const redraw = () => {
    const a = docs.axes[across.value].values, b = docs.axes[up.value].values;
    const both = docs.ids.map((id, i) => i).filter(i => a[i] !== null && b[i] !== null);
    // One scale for both, in tenths that hold all documents.
    const all = both.flatMap(i => [a[i], b[i]]), low = Math.max(0, Math.floor(10 * Math.min(1, ...all)) / 10), high = Math.max(low + 0.1, Math.ceil(10 * Math.max(0.1, ...all) - 1e-9) / 10);
    const px = v => L + (v - low) / (high - low) * (W - L - R), py = v => H - B - (v - low) / (high - low) * (H - B - T);
    const svg = shape("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `Each document by ${axisName(across.value)} and ${axisName(up.value)}` });
    const grid = shape("g", { class: "grid" });
    const tenths = Math.round(10 * (high - low)), step = tenths > 5 ? 0.2 : tenths > 2 ? 0.1 : 0.05;
    for (let v = low; v <= high + 1e-9; v += step) {
      grid.append(shape("line", { x1: px(v), x2: px(v), y1: py(low), y2: py(high) }), shape("line", { x1: px(low), x2: px(high), y1: py(v), y2: py(v) }),
        shape("text", { x: px(v), y: H - B + 17, "text-anchor": "middle", class: "small" }, v.toFixed(step < 0.1 ? 2 : 1)),
        shape("text", { x: L - 8, y: py(v) + 4, "text-anchor": "end", class: "small" }, v.toFixed(step < 0.1 ? 2 : 1)));
    }
    svg.append(grid, shape("line", { class: "diagonal", x1: px(low), y1: py(low), x2: px(high), y2: py(high) }),
      shape("text", { x: (L + W - R) / 2, y: H - 8, "text-anchor": "middle" }, axisName(across.value)),
      shape("text", { transform: `translate(14 ${(H - B + T) / 2}) rotate(-90)`, "text-anchor": "middle" }, axisName(up.value)));
    const dots = shape("g");
    for (const i of both) {
      const dot = shape("circle", { class: "dot", cx: px(a[i]).toFixed(1), cy: py(b[i]).toFixed(1), r: both.length > 1000 ? 3 : 4.5 });
      dot.dataset.i = i;
      dots.append(dot);
    }
    dots.addEventListener("click", e => { if (e.target.dataset.i) openDocument(Number(e.target.dataset.i)); });
    svg.append(dots);
    plot.replaceChildren(svg);
    for (const dot of both.length > 2000 ? [] : dots.children) hint(dot, () => `${docs.ids[dot.dataset.i]}: ${fig(a[dot.dataset.i])}, ${fig(b[dot.dataset.i])}`);
    const without = docs.ids.length - both.length;
    const ra = ranked(both.map(i => a[i])), rb = ranked(both.map(i => b[i])), rho = correlation(ra, rb);
    document.getElementById("rho").textContent = `${count(both.length, "document")}${without ? ` (${without.toLocaleString("en")} more have no figure under one of the two)` : ""}; Spearman's correlation of their ranks ${rho === null ? "undefined" : fixed(rho, 4)}.`;
    const apart = both.map((i, k) => [i, ra[k], rb[k]]).filter(x => x[1] !== x[2]).sort((x, y) => Math.abs(y[1] - y[2]) - Math.abs(x[1] - x[2])).slice(0, 8);
    const rows = document.getElementById("apart").tBodies[0];
    rows.replaceChildren();
    const n = both.length, heads = document.getElementById("apart").tHead.rows[0].cells;
    [across, up].forEach((one, k) => { heads[k + 1].textContent = "rank by " + shortName(one.value, across.value, up.value); });
    for (const [i, x, y] of apart) {
      const link = el("button", "link", docs.ids[i]);
      link.type = "button";
      link.addEventListener("click", () => openDocument(i));
      const name = el("td", "wide", link);
      rows.append(el("tr", "", name, el("td", "n", num(n + 1 - x)), el("td", "n", num(n + 1 - y))));
    }
    if (!apart.length) rows.append(el("tr", "", el("td", "soft", "They order the documents alike."), el("td"), el("td")));
  };
  across.addEventListener("change", redraw);
  up.addEventListener("change", redraw);
  redraw();
}
choose();
