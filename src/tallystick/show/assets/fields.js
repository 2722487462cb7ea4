// A field that somebody chooses: what kinds of error it has, and where. And how far confidences can be trusted.
const panels = document.createElement("div");

function button(cls, text, act) {
  const b = el("button", cls, text);
  b.type = "button";
  b.addEventListener("click", act);
  return b;
}
function table(heads, rows) {
  const body = el("tbody", "", ...rows.map(row => el("tr", "", ...row)));
  return el("div", "scroll", el("table", "", el("thead", "", el("tr", "", ...heads.map(([name, cls]) => { const th = el("th", cls, name); th.scope = "col"; return th; }))), body));
}
function sides(a, b) { return [a ?? el("span", "soft", "nothing"), el("span", "to", " → "), b ?? el("span", "soft", "nothing")]; }
function documentLink(i) { return i === null ? null : button("link", docs.ids[i], () => openDocument(i)); }

function showField(name, after) {
  const one = data.fields[name], groups = one.groups, total = groups.reduce((n, g) => n + g.count, 0);
  const box = el("section", "card chosen"), head = el("h4", "", name);
  box.setAttribute("aria-label", "What is wrong in " + name);
  head.tabIndex = -1;
  const of = data.first ? ` of the first ${data.first.toLocaleString("en")}` : "";
  box.append(button("button close", "Close", () => { panels.replaceChildren(); opener?.focus(); }), head,
    el("p", "note", `${count(total, "value")} wrong, missing or extra in ${count(one.documents, "document")}${of}.`));
  box.append(table([["kind"], ["values", "n"], ["reference → predicted, for example"], ["what would forgive it"]], groups.map(g => {
    const kind = el("th", "", g.kind), examples = el("td", "wide");
    kind.scope = "row";
    kind.title = g.says;
    g.examples.forEach(([i, path, a, b], k) => { if (k) examples.append(el("br")); examples.append(...sides(a, b)); const link = documentLink(i); if (link) examples.append(" ", el("small", "soft", "in ", link, path !== name ? ` at ${path}` : "")); });
    return [kind, el("td", "n", g.count.toLocaleString("en")), examples, el("td", "wide", g.remedy ? el("code", "", g.remedy) : el("span", "soft", g.advice || "–"))];
  })));
  if (one.pairs.length) box.append(el("h4", "", "Most frequent pairs"), table([["reference → predicted"], ["times", "n"]], one.pairs.map(([a, b, n]) => [el("td", "wide", ...sides(a, b)), el("td", "n", n.toLocaleString("en"))])));
  const is = wrongIn(name), all = docs.ids.map((id, i) => i).filter(i => is(i)), few = all.slice(0, 24);
  box.append(el("h4", "", "Documents in which it is wrong, worst first"), el("div", "documents-of", ...few.map(documentLink)));
  if (all.length) box.append(el("p", "note", all.length > few.length ? `${few.length} of ${all.length.toLocaleString("en")}. ` : "", button("link", "List them below", () => {
    wrong.value = name;
    choose();
    document.getElementById("documents").scrollIntoView({ block: "start" });
    wrong.focus({ preventScroll: true });
  })));
  panels.replaceChildren(box);
  after.after(panels);
  head.focus();
  const opener = [...document.querySelectorAll("th .link")].find(link => link.textContent === name);
}
if (data.fields) for (const one of document.querySelectorAll("#breakdown table.sortable")) {
  if (!["field"].includes(one.tHead.rows[0].cells[0].textContent.trim())) continue;
  for (const row of one.tBodies[0].rows) {
    const name = row.cells[0].textContent;
    if (name in data.fields) { const link = button("link", name, () => showField(name, one.parentNode)); link.title = "What is wrong here"; row.cells[0].replaceChildren(link); }
  }
}

// Curves: from 0 to 1 both ways.
function frame(W, H, across, up) {
  const L = 52, B = 46, T = 12, R = 14, px = v => L + v * (W - L - R), py = v => H - B - v * (H - B - T);
  const svg = shape("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${up} over ${across.toLowerCase()}; the tables below have it as numbers` }), grid = shape("g", { class: "grid" });
  for (let v = 0; v <= 1.001; v += 0.2) grid.append(shape("line", { x1: px(v), x2: px(v), y1: py(0), y2: py(1) }), shape("line", { x1: px(0), x2: px(1), y1: py(v), y2: py(v) }),
    shape("text", { x: px(v), y: H - B + 17, "text-anchor": "middle", class: "small" }, v.toFixed(1)), shape("text", { x: L - 8, y: py(v) + 4, "text-anchor": "end", class: "small" }, v.toFixed(1)));
  svg.append(grid, shape("text", { x: (L + W - R) / 2, y: H - 8, "text-anchor": "middle" }, across), shape("text", { transform: `translate(14 ${(H - B + T) / 2}) rotate(-90)`, "text-anchor": "middle" }, up));
  return [svg, px, py];
}
const sure = document.getElementById("sure");
if (sure) {
  const { calibration, review } = data.confidence, W = 480, H = 380;
  const units = [...new Set([...Object.keys(review).filter(name => name !== "target"), ...Object.keys(calibration)])];
  for (const name of units) sure.append(el("option", "", name));
  const redraw = () => {
    // Documents are as sure as the least sure of their values, unless they say so themselves.
    const of = [sure.value, "(document)", "all values"].find(name => name in calibration), bins = calibration[of].bins.filter(b => b.claims), one = review[sure.value];
    const into = document.getElementById("reliability");
    into.replaceChildren();
    if (bins.length) {
      const [svg, px, py] = frame(W, H, `Confidence of ${of === "(document)" ? "documents" : of}`, "Share that is right"), most = Math.max(...bins.map(b => b.claims));
      svg.append(shape("line", { class: "diagonal", x1: px(0), y1: py(0), x2: px(1), y2: py(1) }), shape("path", { class: "curve", d: bins.map((b, k) => `${k ? "L" : "M"}${px(b.confidence)},${py(b.accuracy)}`).join("") }));
      for (const b of bins) {
        const dot = shape("circle", { class: "dot", style: "opacity:.9;cursor:default", cx: px(b.confidence), cy: py(b.accuracy), r: 3 + 6 * Math.sqrt(b.claims / most) });
        hint(dot, () => `${count(b.claims, "claim")} between ${num(b.low)} and ${num(b.high)}: mean ${fig(b.confidence)}, right ${fig(b.accuracy)}`);
        svg.append(dot);
      }
      into.append(svg);
    }
    const other = document.getElementById("review"), said = document.getElementById("accepted");
    other.replaceChildren();
    said.textContent = "";
    if (!one) return;
    const [svg, px, py] = frame(W, H, "Share accepted", "Share of it that is right");
    svg.append(shape("line", { class: "target", x1: px(0), x2: px(1), y1: py(review.target), y2: py(review.target) }), shape("path", { class: "curve", d: one.curve.map(([t, s, a], k) => `${k ? "L" : "M"}${px(s).toFixed(1)},${py(a).toFixed(1)}`).join("") }));
    if (one.threshold !== null) svg.append(shape("circle", { class: "ring", cx: px(one.share), cy: py(one.accuracy), r: 7 }));
    const last = one.curve.at(-1);
    if (last) svg.append(shape("circle", { class: "dot", style: "opacity:.9;cursor:default", cx: px(last[1]), cy: py(last[2]), r: 3.5 }));
    other.append(svg);
    const kind = sure.value === "documents" ? "documents" : "values", percents = x => (100 * x).toFixed(1) + " %";
    said.textContent = one.threshold === null ? `No threshold reaches ${percents(review.target)} for the ${kind} of this choice.`
      : `Accept above ${num(one.threshold)}: ${percents(one.share)} of the ${kind}, of which ${percents(one.accuracy)} are right (95 % interval ${percents(one.accuracy_interval[0])} to ${percents(one.accuracy_interval[1])}); a person looks at the rest.`;
  };
  sure.addEventListener("change", redraw);
  redraw();
}
