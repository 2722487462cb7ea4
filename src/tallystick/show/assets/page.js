"use strict";
// What every page has: elements made of text (never of markup), tables that sort, the theme, the saved data.
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function el(tag, cls, ...inside) {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  e.append(...inside.filter(x => x !== null && x !== undefined));
  return e;
}
function shape(tag, attributes, ...inside) {
  const e = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) e.setAttribute(name, value);
  e.append(...inside);
  return e;
}
// So many decimals, as the tables have them: a figure half-way between two goes to the even one (toFixed takes the larger). Half-way
// after n decimals are the odd multiples of 1 / 2^(n + 1), and no other double.
function fixed(x, n) {
  const text = x.toFixed(n), half = Number.isInteger(x * 2 ** (n + 1)) && !Number.isInteger(x * 2 ** n), last = Number(text.at(-1));
  return half && last % 2 ? text.slice(0, -1) + (last - 1) : text;
}
function fig(x) { return x === null || x === undefined ? "–" : fixed(x, 4); }
function num(x) { return String(Math.round(x * 1e4) / 1e4); }
function count(n, noun) { return n.toLocaleString("en") + " " + noun + (n === 1 ? "" : "s"); }
function percent(x) { return Math.max(0, Math.min(100, 100 * (x || 0))).toFixed(2) + "%"; }

const measured = document.createElement("canvas").getContext("2d");
function width(text, size) { measured.font = (size || 12.5) + "px system-ui, sans-serif"; return measured.measureText(text).width; }

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((th, k) => th.querySelector("button")?.addEventListener("click", () => {
    const before = th.getAttribute("aria-sort");
    const numeric = th.classList.contains("n");
    const up = before ? before === "descending" : !numeric;   // numbers: the largest first
    heads.forEach(other => other.removeAttribute("aria-sort"));
    th.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = row => row.cells[k].dataset.v ?? row.cells[k].textContent;
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => {
      const x = key(a), y = key(b);
      if (x === "" || y === "") return (x === "") - (y === "");   // what is undefined stays last
      const c = numeric ? Number(x) - Number(y) : x.localeCompare(y, undefined, { numeric: true });
      return up ? c : -c;
    });
    table.tBodies[0].append(...rows);
  }));
}

const theme = document.getElementById("theme");
theme.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

// The data as the page shows them: documents that travel in columns are unpacked.
function saved() {
  if (!data.aligned) return data;
  return { ...data, aligned: Object.fromEntries(Object.entries(data.aligned).map(([k, one]) => [k, unpack(one)])) };
}
document.getElementById("save").addEventListener("click", () => {
  const link = el("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(saved(), null, 1)], { type: "application/json" }));
  link.download = "tallystick-report.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});

// A word beside the pointer.
let tip = null;
function hint(target, text) {
  target.addEventListener("pointerenter", event => {
    tip?.remove();
    tip = el("div", "tip", text());
    tip.setAttribute("role", "presentation");
    document.body.append(tip);
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.min(event.clientX + 14, innerWidth - box.width - 8) + "px";
    tip.style.top = Math.min(event.clientY + 14, innerHeight - box.height - 8) + "px";
  });
  target.addEventListener("pointerleave", () => { tip?.remove(); tip = null; });
}
