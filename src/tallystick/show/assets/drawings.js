// How one document is drawn: texts with highlights, graphs, arcs, and the alignment as two columns.
const STATUS = { "=": "right", "-": "missed", "+": "spurious", "~": "part" };
const SIGN = { "=": "", "-": "−", "+": "+", "~": "≠" };

function drawing(d) { return { text: drawText, graph: drawGraph, arcs: drawArcs, boxes: drawBoxes, lanes: drawLanes, table: drawTables }[d.kind](d); }

// A document of coreference travels as columns: its words, of each side how many mentions an entity has and where they are (the first word,
// and how many more), and which entities are matched. Here it becomes the tree and the drawing, as Python makes them of other documents.
function unpack(one) {
  if (!one?.chains) return one;
  const { title, note, text, weight, wide, lengths, columns } = one.chains, bytes = Uint8Array.from(atob(columns), c => c.charCodeAt(0));
  let from = 0;
  const numbers = lengths.map(n => [...new (wide ? Uint32Array : Uint16Array)(bytes.slice(from, from += n).buffer)]), pairs = numbers.slice(6);
  const sentences = text.split("\n").map(line => line.split(" ")), words = sentences.flat();
  const short = line => line.length > 300 && [...line].length > 300 ? [...line].slice(0, 299).join("") + "…" : line;
  const said = ([first, last]) => [...words.slice(first, last + 1), `[${first === last ? first : `${first}-${last}`}]`].join(" ");
  const [ours, theirs] = [numbers.slice(0, 3), numbers.slice(3, 6)].map(([sizes, first, more]) => {
    let at = 0;
    return sizes.map(n => Array.from({ length: n }, () => [first[at], first[at] + more[at++]]));
  });
  const alone = (entities, matched) => entities.filter((_, k) => !matched.has(k)), [left, right] = pairs.map(side => new Set(side));
  const chains = [...pairs[0].map((i, k) => [ours[i], theirs[pairs[1][k]]]), ...alone(ours, left).map(k => [k, []]), ...alone(theirs, right).map(r => [[], r])];
  const everywhere = [theirs, ours].map(side => new Set(side.flat().map(String)));
  const marks = [[], []], lone = [0, 0];
  const children = chains.map(([k, r], number) => {
    const matched = k.length && r.length, places = new Map(r.map((one, j) => [String(one), j])), there = new Set(k.map(String).filter(one => places.has(one)));
    [k, r].forEach((mentions, side) => {
      if (!mentions.length) return;
      const label = matched ? String(number + 1) : "kr"[side] + ++lone[side], group = matched ? number : 10000 + 2 * number + side;
      for (const one of mentions) {
        const status = there.has(String(one)) ? "=" : everywhere[side].has(String(one)) ? "~" : "-+"[side];
        marks[side].push([one[0], one[1] + 1, label, status, group]);
      }
    });
    if (!r.length) return ["entity", "-", 0, 1, 0, short(k.map(said).join("; ")), null];
    if (!k.length) return ["entity", "+", 0, 0, 1, null, short(r.map(said).join("; "))];
    const rows = [];
    k.forEach((one, i) => { if (there.has(String(one))) rows.push([`${i + 1} ↔ ${places.get(String(one)) + 1}`, "=", 1, 1, 1, short(said(one)), 0]); });
    k.forEach((one, i) => { if (!there.has(String(one))) rows.push([String(i + 1), "-", 0, 1, 0, short(said(one)), null]); });
    r.forEach((one, j) => { if (!there.has(String(one))) rows.push([String(j + 1), "+", 0, 0, 1, null, short(said(one))]); });
    const name = `entity ${number + 1}`;
    return rows.length === 1 ? [name, ...rows[0].slice(1)] : [name, "=", Number(fixed(2 * there.size / (k.length + r.length), 4)), 1, 1, null, null, rows];
  });
  return {
    tree: ["entities", "=", weight, ours.length, theirs.length, null, null, children],
    drawings: [{ kind: "text", title, sentences, reference: marks[0], predicted: marks[1], coloured: true, note }], cut: false,
  };
}

// Texts: both sides side by side. Highlights may nest and cross: one that crosses is closed and opened again.
function drawText(d) {
  const box = el("section", "texts");
  box.append(el("h4", "", d.title));
  const sides = el("div", "sides");
  for (const [name, marks] of [["Reference", d.reference], ["Prediction", d.predicted]]) {
    const text = el("div", "text");
    text.tabIndex = 0;
    text.setAttribute("role", "region");
    text.setAttribute("aria-label", name + ", text with highlights");
    fillText(text, d.sentences, marks, d.coloured);
    sides.append(el("div", "side", el("h4", "", name), text));
  }
  // A sentence is right if it is on both sides: hidden on one alone, the texts would be out of step.
  const [ours, theirs] = [...sides.querySelectorAll(".text")].map(text => [...text.children]);
  ours.forEach((p, k) => { if (p.className === "right" && theirs[k].className === "right") for (const one of [p, theirs[k]]) one.className = "right-both"; });
  box.append(sides);
  box.addEventListener("pointerover", e => light(box, e.target.closest?.(".m")?.dataset.g));
  box.addEventListener("pointerleave", () => light(box));
  if (d.note) box.append(el("p", "note", d.note));
  return box;
}
function light(box, group) {
  box.classList.toggle("lit", group !== undefined);
  for (const m of box.querySelectorAll(".m")) m.classList.toggle("on", group !== undefined && m.dataset.g === group);
}
function fillText(into, sentences, marks, coloured) {
  const queue = marks.map((m, k) => ({ start: m[0], end: m[1], label: m[2], status: m[3], group: m[4], k }));
  queue.sort((a, b) => a.start - b.start || b.end - a.end || a.k - b.k);
  let next = 0, token = 0, open = [], words = "";
  // A stretch of words between two ends of marks is one node, not one for each word: a browser takes seconds over those.
  const write = into => { if (words) into.append(words); words = ""; };
  const enter = (mark, parent) => {
    const e = el("span", "m " + (coloured ? STATUS[mark.status] : "plain-" + STATUS[mark.status]));
    if (mark.group !== null && mark.group !== undefined) {
      e.dataset.g = mark.group;
      if (coloured) { e.classList.add("g"); e.style.setProperty("--h", (mark.group * 137.5 + 210) % 360); }
    }
    parent.append(e);
    return e;
  };
  for (const sentence of sentences) {
    const p = el("p", "right");
    const inner = () => open.length ? open[open.length - 1].e : p;
    const opened = open;
    open = [];
    for (const o of opened) {
      if (o.mark.status !== "=") p.className = "";
      open.push({ mark: o.mark, e: enter(o.mark, inner()) });
    }
    sentence.forEach((word, k) => {
      let lowest = open.findIndex(o => o.mark.end <= token);
      if (lowest >= 0) {
        write(inner());
        const again = open.slice(lowest).filter(o => o.mark.end > token).map(o => o.mark);
        for (const o of open.slice(lowest).reverse()) if (o.mark.end <= token) label(o);
        open = open.slice(0, lowest);
        for (const mark of again) open.push({ mark, e: enter(mark, inner()) });
      }
      if (k) words += " ";
      if (next < queue.length && queue[next].start <= token) write(inner());
      while (next < queue.length && queue[next].start <= token) {
        const mark = queue[next++];
        if (mark.end <= token) continue;
        if (mark.status !== "=") p.className = "";
        open.push({ mark, e: enter(mark, inner()) });
      }
      words += word;
      token++;
    });
    write(inner());
    for (const o of [...open].reverse()) if (o.mark.end <= token) label(o);
    open = open.filter(o => o.mark.end > token);
    into.append(p);
  }
  function label(o) {
    const sign = SIGN[o.mark.status];
    const text = o.mark.label;
    if (!text && !sign) return;
    const sub = el("sub", "", sign, text.length > 26 ? text.slice(0, 10) + "…" + text.slice(-14) : text);
    if (text.length > 26) sub.title = text;
    o.e.append(sub);
  }
}

// Graphs and forests: a column for each depth, a row for each leaf; Python has placed the nodes, here they get their width.
function drawGraph(d) {
  const box = el("section", "graph");
  box.append(el("h4", "", d.title));
  const view = el("div", "tools");
  const choose = el("select");
  for (const [value, name] of [["", "both sides"], ["only-reference", "the reference"], ["only-predicted", "the prediction"]]) {
    const option = el("option", "", name);
    option.value = value;
    choose.append(option);
  }
  view.append(el("label", "", "Show ", choose));
  const frame = el("div", "draw");
  frame.tabIndex = 0;
  choose.addEventListener("change", () => { frame.className = "draw " + choose.value; });
  const ROW = 32, HIGH = 24, PAD = 9, GAP = 26;
  const depths = 1 + Math.max(0, ...d.nodes.map(n => n[0]));
  const wide = d.nodes.map(n => Math.max(20, width(n[2])) + 2 * PAD);
  const labels = d.edges.map(e => SIGN[e[3]] + e[2]);
  const column = Array(depths).fill(0), room = Array(depths).fill(0);
  d.nodes.forEach((n, k) => { column[n[0]] = Math.max(column[n[0]], wide[k]); });
  d.edges.forEach((e, k) => { if (e[4]) { const at = d.nodes[e[1]][0]; room[at] = Math.max(room[at], width(labels[k], 11.5)); } });
  const left = [10];
  for (let c = 1; c < depths; c++) left[c] = left[c - 1] + column[c - 1] + room[c] + GAP + 10;
  const x = d.nodes.map(n => left[n[0]]), y = d.nodes.map(n => 20 + n[1] * ROW);
  let right = Math.max(...d.nodes.map((n, k) => x[k] + wide[k])), rows = 1 + Math.max(...d.nodes.map(n => n[1]));
  const lines = shape("g"), knots = shape("g");
  d.edges.forEach(([from, to, , status, tree], k) => {
    const g = shape("g", { class: "edge " + (status === "=" ? "same" : STATUS[status]) + (tree ? "" : " extra-link") });
    if (tree) {
      const bend = x[from] + wide[from] + 8, end = x[to];
      const path = y[from] === y[to] ? `M${x[from] + wide[from]},${y[from]}H${end}`
        : `M${x[from] + wide[from]},${y[from]}H${bend - 6}Q${bend},${y[from]} ${bend},${y[from] + 6}V${y[to] - 6}Q${bend},${y[to]} ${bend + 6},${y[to]}H${end}`;
      g.append(shape("path", { d: path }), shape("text", { x: end - 5, y: y[to] - 4, "text-anchor": "end" }, labels[k]));
    } else {
      const sx = x[from] + wide[from], tx = x[to] + wide[to], far = Math.max(sx, tx) + 36 + 4 * Math.min(20, Math.abs(d.nodes[from][1] - d.nodes[to][1]));
      right = Math.max(right, far + width(labels[k], 11.5) / 2);
      g.append(shape("path", { d: `M${sx},${y[from] + 4}C${far},${y[from] + 4} ${far},${y[to] + 4} ${tx + 3},${y[to] + 4}`, "marker-end": "url(#arrow)" }),
        shape("text", { x: (sx + tx) / 8 + far * 3 / 4, y: (y[from] + y[to]) / 2 + 8, "text-anchor": "middle" }, labels[k]));
    }
    lines.append(g);
  });
  d.nodes.forEach(([, , text, status, detail], k) => {
    const g = shape("g", { class: "node " + (status === "=" ? "same" : STATUS[status] || "") });
    g.append(shape("rect", { x: x[k], y: y[k] - HIGH / 2, width: wide[k], height: HIGH, rx: 7 }),
      shape("text", { x: x[k] + PAD, y: y[k] + 4.5 }, text));
    if (detail) g.append(shape("title", {}, detail));
    g.addEventListener("pointerenter", () => {
      frame.classList.add("near");
      lines.childNodes.forEach((line, e) => line.classList.toggle("on", d.edges[e][0] === k || d.edges[e][1] === k));
    });
    g.addEventListener("pointerleave", () => frame.classList.remove("near"));
    knots.append(g);
  });
  const size = [right + 14, 20 + rows * ROW];
  const arrow = shape("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    shape("path", { d: "M0,0L8,4L0,8z", class: "arrow" }));
  const svg = shape("svg", { width: size[0], height: size[1], viewBox: `0 0 ${size[0]} ${size[1]}`, role: "img", "aria-label": d.summary }, shape("defs", {}, arrow), lines, knots);
  frame.append(svg);
  if (d.text) box.append(el("p", "quote", d.text));
  box.append(view, frame, el("p", "note", d.summary));
  return box;
}

// Dependency trees: the reference's arcs above the words, wrong predicted ones below.
function drawArcs(d) {
  const box = el("section", "arcs");
  box.append(el("h4", "", d.title));
  const widths = d.words.map(w => width(w, 13.5) + 22), middle = [];
  let at = 12;
  widths.forEach(w => { middle.push(at + w / 2); at += w; });
  const levels = arcs => {
    const done = [], out = [];  // a root hangs above all arcs, so that none of their labels hides it
    arcs.map((a, k) => [[Math.min(a[0], a[1]), Math.max(a[0], a[1])], k]).filter(([, k]) => arcs[k][0] >= 0).sort((a, b) => (a[0][1] - a[0][0]) - (b[0][1] - b[0][0]))
      .forEach(([s, k]) => { let level = 1; for (const o of done) if (o.s[0] < s[1] && s[0] < o.s[1]) level = Math.max(level, o.level + 1); done.push({ s, level }); out[k] = level; });
    const highest = Math.max(0, ...done.map(one => one.level));
    return arcs.map((a, k) => a[0] < 0 ? highest + 1 : out[k]);
  };
  const above = levels(d.reference), below = levels(d.predicted), STEP = 24;
  const top = 16 + STEP * Math.max(0, ...above), base = top + 18, bottom = base + 14 + STEP * Math.max(0, ...below) + 14;
  const svg = shape("svg", { width: at + 12, height: bottom, viewBox: `0 0 ${at + 12} ${bottom}`, role: "img", "aria-label": d.summary });
  svg.append(shape("defs", {}, shape("marker", { id: "head", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" }, shape("path", { d: "M0,0L8,4L0,8z", class: "arrow" }))));
  const arc = (a, level, sign) => {
    const [head, word, label, status] = a, g = shape("g", { class: "edge " + (status === "=" ? "same" : STATUS[status]) });
    const y0 = sign < 0 ? top : base + 8, y1 = y0 + sign * STEP * level;
    if (head < 0) g.append(shape("path", { d: `M${middle[word]},${y1}V${y0}` }), shape("text", { x: middle[word], y: y1 + (sign < 0 ? -4 : 11), "text-anchor": "middle" }, SIGN[status] + label));
    else {
      const from = middle[head] + (word > head ? 5 : -5), to = middle[word];
      g.append(shape("path", { d: `M${from},${y0}V${y1 - sign * 6}Q${from},${y1} ${from + Math.sign(to - from) * 6},${y1}H${to - Math.sign(to - from) * 6}Q${to},${y1} ${to},${y1 - sign * 6}V${y0 + sign * 3}`, "marker-end": "url(#head)" }),
        shape("text", { x: (from + to) / 2, y: y1 + (sign < 0 ? 4 : 4), "text-anchor": "middle" }, SIGN[status] + label));
    }
    svg.append(g);
  };
  const rootsFirst = (arcs, levels, sign) => [...arcs.keys()].sort((a, b) => (arcs[a][0] >= 0) - (arcs[b][0] >= 0)).forEach(k => arc(arcs[k], levels[k], sign));
  rootsFirst(d.reference, above, -1);
  rootsFirst(d.predicted, below, 1);
  d.words.forEach((w, k) => svg.append(shape("text", { x: middle[k], y: base, "text-anchor": "middle", style: "font-size:13.5px;font-weight:560" }, w)));
  const frame = el("div", "draw", svg);
  frame.tabIndex = 0;
  box.append(frame);
  return box;
}

// Boxes in a picture: the reference's solid, the predicted ones dashed.
function framed(cls, title, svg, note) {
  const frame = el("div", "draw", svg);
  frame.tabIndex = 0;
  return el("section", cls, el("h4", "", title), frame, note ? el("p", "note", note) : null);
}
function drawBoxes(d) {
  if (!d.boxes.length) return framed("boxes", d.title, el("p", "note", "Nothing on either side."));
  const right = Math.max(...d.boxes.map(b => b[3])), bottom = Math.max(...d.boxes.map(b => b[4]));
  const left = Math.min(0, ...d.boxes.map(b => b[1])), top = Math.min(0, ...d.boxes.map(b => b[2]));
  const scale = Math.min(640 / (right - left || 1), 480 / (bottom - top || 1)), at = (v, low) => 14 + (v - low) * scale;
  const svg = shape("svg", { width: (right - left) * scale + 28, height: (bottom - top) * scale + 28, role: "img", "aria-label": d.boxes.length + " boxes" });
  svg.append(shape("rect", { class: "canvas", x: 4, y: 4, width: (right - left) * scale + 20, height: (bottom - top) * scale + 20 }));
  for (const [side, x0, y0, x1, y1, label, status] of d.boxes) {
    const g = shape("g", { class: "box " + STATUS[status] + (side ? " predicted" : "") });
    g.append(shape("rect", { x: at(x0, left), y: at(y0, top), width: (x1 - x0) * scale, height: (y1 - y0) * scale }),
      shape("text", { x: at(x0, left) + 3, y: side ? at(y1, top) - 4 : at(y0, top) + 12 }, SIGN[status] + label),
      shape("title", {}, (side ? "predicted " : "reference ") + label + ": " + STATUS[status]));
    svg.append(g);
  }
  return framed("boxes", d.title, svg, "Solid: the reference. Dashed: the prediction.");
}

// Times in lanes: the reference above, the prediction below.
function drawLanes(d) {
  if (!d.bars.length) return framed("lanes", d.title, el("p", "note", "Nothing on either side."));
  const lanes = [...new Set(d.bars.map(b => b[1]))], end = Math.max(...d.bars.map(b => b[3])), start = Math.min(0, ...d.bars.map(b => b[2]));
  const room = 16 + Math.max(...lanes.map(l => width(l, 13))), HIGH = 11, LANE = 2 * HIGH + 14, wide = Math.max(560, Math.min(1600, 16 * d.bars.length));
  const x = t => room + (t - start) / (end - start || 1) * wide, height = 12 + lanes.length * LANE + 20;
  const svg = shape("svg", { width: room + wide + 16, height, role: "img", "aria-label": d.bars.length + " intervals in " + lanes.length + " lanes" });
  lanes.forEach((lane, k) => svg.append(shape("text", { x: 4, y: 12 + k * LANE + HIGH + 5, class: "lane" }, lane), shape("path", { class: "rule", d: `M0,${8 + k * LANE}H${room + wide}` })));
  for (const [side, lane, from, to, status] of d.bars) {
    const g = shape("g", { class: "box " + STATUS[status] + (side ? " predicted" : "") });
    g.append(shape("rect", { x: x(from), y: 12 + lanes.indexOf(lane) * LANE + side * (HIGH + 2), width: Math.max(1.5, x(to) - x(from)), height: HIGH }),
      shape("title", {}, (side ? "predicted " : "reference ") + from + " to " + to + ": " + STATUS[status]));
    svg.append(g);
  }
  for (let k = 0; k <= 5; k++) svg.append(shape("text", { x: x(start + (end - start) * k / 5), y: height - 4, "text-anchor": "middle", class: "tick" }, num(start + (end - start) * k / 5)));
  return framed("lanes", d.title, svg, "Above: the reference. Below, dashed: the prediction.");
}

// Two tables side by side, every cell with its status.
function drawTables(d) {
  const sides = el("div", "sides");
  for (const [name, rows] of [["Reference", d.reference], ["Prediction", d.predicted]]) {
    const body = el("tbody");
    for (const row of rows) {
      const tr = el("tr");
      for (const [text, status] of row) tr.append(el("td", STATUS[status], SIGN[status] ? el("span", "sign", SIGN[status]) : null, text));
      body.append(tr);
    }
    sides.append(el("div", "side", el("h4", "", name), el("div", "draw", el("table", "cells", body))));
  }
  return el("section", "tables", el("h4", "", d.title), sides);
}

// The alignment: what stands where on both sides, indented as it is nested, with the credit of each part.
function drawTree(tree, title) {
  const table = el("table", "pair");
  table.append(el("caption", "hidden", title));
  const cols = el("colgroup");
  for (const name of ["what", "", "", "credit"]) cols.append(el("col", name));
  const head = el("tr");
  for (const name of ["", "Reference", "Prediction", "Credit"]) {
    const th = el("th", name === "Credit" ? "n credit" : "", name || el("span", "hidden", "Part"));
    th.scope = "col";
    head.append(th);
  }
  const body = el("tbody");
  table.append(cols, el("thead", "", head), body);
  rowsOf(tree, 0, body);
  const credits = [...body.querySelectorAll("td.credit")].map(cell => cell.textContent);
  const widths = credits.map(text => width(text, 14.3));
  table.style.setProperty("--credit", Math.max(120, Math.ceil(Math.max(...widths)) + 26) + "px");
  const box = el("div", "scroll", table);
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", title);
  const two = credits.find(text => text.includes(" / "));
  return el("section", "", el("h4", "", title), box, two ? el("p", "note", `${two}: what was earned, of all that the reference has / of all that was predicted.`) : null);
}
// Why there is no prediction, and below that what was written instead.
function why(text) {
  const [reason, ...written] = text.split("\n");
  return el("td", "why", reason, written.length ? el("div", "written", written.join("\n")) : null);
}
function rowsOf(node, depth, body) {
  const [name, status, w, r, p, left, other, kids = []] = node;
  const right = other === 0 ? left : other;
  const most = Math.max(r, p), right_ = status === "=" && w >= most - 1e-9 && most > 0;
  const what = el("th", "what", name);
  what.scope = "row";
  what.style.setProperty("--d", depth);
  const nothing = most === 0;
  const cell = (cls, sign, text) => text === null ? el("td", cls) : el("td", cls, sign ? el("span", "sign", sign) : null, text);
  if (kids.length) {
    const row = el("tr", "group" + (right_ && r === p ? " same" : ""), what);
    const credit = status === "-" ? "missed" : status === "+" ? "spurious" : nothing ? "" : r === p ? `${num(w)} of ${num(r)}` : `${num(w)} of ${num(r)} / ${num(p)}`;
    row.append(el("td", "", left ?? ""), status === "-" && right ? why(right) : el("td", "", right ?? ""), el("td", "credit", credit));
    body.append(row);
    for (const kid of kids) rowsOf(kid, depth + 1, body);
    return;
  }
  let row;
  if (status === "=" || status === "~") {
    const same = status === "=" && (right_ || nothing), sign = same ? "" : "≠";
    row = el("tr", same ? "same" : "part", what, cell("v r", sign, left), cell("v p", sign, right), el("td", "credit", nothing ? "" : num(w) + (most !== 1 ? " of " + num(most) : "")));
  } else if (status === "-") row = el("tr", "missed", what, cell("v r", "−", left), right ? why(right) : el("td", "v p"), el("td", "credit", "missed"));
  else row = el("tr", "spurious", what, el("td", "v r"), cell("v p", "+", right), el("td", "credit", "spurious"));
  body.append(row);
}
