// The judging page. All text is set as text (textContent), never as markup. Answers go to the server one by one; what is
// not yet answered is kept in this tab (sessionStorage), so that a reload or a stopped server loses nothing.
"use strict";

const $ = (id) => document.getElementById(id);
const address = new URL(location.href);
const page = { annotator: address.searchParams.get("annotator") || document.body.dataset.annotator, state: null, question: null, sheet: null };

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const key = (text) => element("kbd", { "aria-hidden": "true" }, text);
const shown = (figure) => (figure === null ? "–" : figure.toFixed(2));

// -- talking to the server --------------------------------------------------------------------------------------------

async function ask(path, query = {}, sent = null) {
  const asked = new URLSearchParams(query).toString();
  let response;
  try {
    response = await fetch(asked ? `${path}?${asked}` : path, sent === null ? {} : {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(sent),
    });
  } catch {
    throw new Error("The server does not answer. Start `tallystick judge serve` again and open the address it prints: what you have answered is kept.");
  }
  const value = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
  if (response.status === 403) throw new Error("This page belongs to an earlier run of the server. Open the address that the terminal shows now: what you have answered is kept.");
  if (!response.ok) throw new Error(value.error);
  return value;
}

let busy = false;
async function attempt(work) {
  if (busy) return;
  busy = true;
  try {
    await work();
    $("trouble").textContent = "";
  } catch (error) {
    $("trouble").textContent = error.message;
  } finally {
    busy = false;
  }
}

let hush;
function announce(text) {
  $("status").textContent = text;
  clearTimeout(hush);
  hush = setTimeout(() => { $("status").textContent = ""; }, 2500);
}

function remember(view) {
  const query = new URLSearchParams();
  if (page.annotator) query.set("annotator", page.annotator);
  if (view) query.set(...view);
  const text = query.toString();
  history.replaceState(null, "", text ? `/?${text}` : "/");
}

// -- what is being answered -------------------------------------------------------------------------------------------

const draftName = () => `draft ${page.annotator} ${page.question.key}`;

function keepDraft() {
  try { sessionStorage.setItem(draftName(), JSON.stringify(page.sheet)); } catch { /* a private window may have no room */ }
}

function openSheet(question) {
  const blank = { valid: null, same_as: question.references.length ? null : [], relation: null, remark: "" };
  let draft = null;
  try { draft = JSON.parse(sessionStorage.getItem(draftName())); } catch { /* none */ }
  if (draft) return draft;
  if (!question.own || question.own.valid === null) return blank;
  return { ...blank, valid: question.own.valid, remark: question.own.remark, ...(question.own.valid ? { same_as: question.own.same_as, relation: question.own.relation } : {}) };
}

function missing() {
  const { valid, same_as, relation } = page.sheet;
  if (valid === null) return "Question 1 is open: 1 for yes, 2 for no.";
  if (valid && same_as === null) return "Question 2 is open: choose a reference, or 8 for none of them.";
  if (valid && relation === null) return "Question 3 is open: 3, 4, 5 or 6.";
  return "";
}

function change(part) {
  Object.assign(page.sheet, part);
  keepDraft();
  showSheet();
}

function choose(pressed) {
  const { question, sheet } = page;
  if (pressed === "1") return change({ valid: true }), true;
  if (pressed === "2") return change({ valid: false }), true;
  const relation = question.relations.find((one) => one.key === pressed);
  const reference = question.references.findIndex((one) => one.key === pressed);
  if (!relation && reference < 0 && !(pressed === "8" && question.references.length)) return false;
  if (sheet.valid !== true) {
    hint(sheet.valid === null ? "First question 1: 1 for yes, 2 for no." : "The answer to question 1 is no, so the others are not asked.");
    return true;
  }
  if (relation) change({ relation: relation.name });
  else if (pressed === "8") change({ same_as: [] });
  else toggle(reference);
  return true;
}

function toggle(reference) {
  const chosen = new Set(page.sheet.same_as || []);
  if (!chosen.delete(reference)) chosen.add(reference);
  change({ same_as: chosen.size ? [...chosen].sort((a, b) => a - b) : null }); // taken back: open again, not "none of them"
}

const hint = (text) => { const place = $("hint"); if (place) place.textContent = text; };

async function save() {
  const open = missing();
  if (open) return hint(open);
  const { valid, same_as, relation, remark } = page.sheet;
  const sent = { annotator: page.annotator, key: page.question.key, valid, same_as: valid ? same_as : [], relation: valid ? relation : null, remark };
  await attempt(async () => {
    const answer = await ask("/api/answer", {}, sent);
    sessionStorage.removeItem(draftName());
    page.state = answer.state;
    showState();
    announce(`Saved: ${answer.label}`);
    if (answer.next === null) showFinished();
    else await showQuestion(answer.next);
  });
}

async function skip() {
  const { total } = page.state;
  const { place, own, next } = page.question;  // past an answered question one just walks on
  const to = own ? (place + 1) % total : next;
  if (to === null || to === place) return hint("There is no other open question.");
  await attempt(() => showQuestion(to));
}

async function back() {
  if (page.question.place === 0) return hint("This is the first question.");
  await attempt(() => showQuestion(page.question.place - 1));
}

// -- what is shown ----------------------------------------------------------------------------------------------------

function put(...parts) {
  $("main").replaceChildren(...parts);
  window.scrollTo(0, 0);
}

function showState() {
  const { state } = page;
  const bar = $("progress");
  bar.hidden = false;
  bar.setAttribute("aria-valuemax", state.total);
  bar.setAttribute("aria-valuenow", state.done);
  bar.setAttribute("aria-valuetext", `${state.done} of ${state.total} judged`);
  bar.firstElementChild.style.width = `${state.total ? (100 * state.done) / state.total : 0}%`;
  $("nav").hidden = false;
  $("who").hidden = false;
  $("who").textContent = state.annotator;
  $("who").setAttribute("aria-label", `${state.annotator}: somebody else judges`);
  const both = state.agreements.filter((one) => one.n);
  $("kappa").textContent = both.map((one) => `κ ${shown(one.kappa_3)} with ${one.with} (${one.n})`).join(" · ");
  $("kappa").title = "Cohen's kappa on three labels, over what both have judged";
}

function current(id) {
  for (const one of ["to-questions", "to-differences"]) {
    if (one === id) $(one).setAttribute("aria-current", "page");
    else $(one).removeAttribute("aria-current");
  }
}

function passage(question) {
  const text = element("p", { class: "text", id: "text", dir: "auto" });
  question.pieces.forEach(([content, ...marks], k) => {
    text.append(marks.length ? element("mark", { class: marks.join(" ") }, content) : content);
    const after = (question.pieces[k + 1] || [""]).slice(1);
    for (const mark of marks.filter((one) => !after.includes(one))) text.append(element("span", { class: `tag ${mark}`, dir: "ltr" }, mark));
  });
  const parts = [facts(question)];
  if (question.pieces.length) parts.push(text);
  else parts.push(element("dl", { class: "text pairs" },
    ...question.references.flatMap((one) => [element("dt", {}, "reference"), element("dd", { dir: "auto" }, element("mark", { class: "reference" }, one.text))]),
    element("dt", {}, "candidate"), element("dd", { dir: "auto" }, element("mark", { class: "candidate" }, question.candidate))));
  if (question.notes.length) parts.push(element("ul", { class: "notes" }, ...question.notes.map((one) => element("li", {}, one))));
  const name = question.pieces.length ? "Document" : "The texts";
  return element("section", { class: "card document", "aria-label": name, tabindex: "0" }, ...parts);
}

function facts(question) {
  const rows = [["about", question.source], ["event", question.event_type], ["trigger", question.trigger], ["role", question.role]];
  return element("dl", { class: "facts" }, ...rows.filter(([, value]) => value).map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", { dir: "auto" }, value))));
}

function option(kind, name, pressed, text, act) {
  return element("label", { class: "option" },
    key(pressed), element("input", { type: kind, name, "data-key": pressed, "aria-keyshortcuts": pressed || null, onchange: act }),
    element("span", {}, ...[text].flat()), element("span", { class: "mark", "aria-hidden": "true" }, "✓"));
}

function questions(question) {
  const [first, second, third] = question.asked;
  const sets = [
    element("fieldset", { id: "q1" }, element("legend", {}, first), element("div", { class: "pair" },
      option("radio", "valid", "1", "Yes", () => change({ valid: true })),
      option("radio", "valid", "2", "No", () => change({ valid: false })))),
  ];
  if (question.references.length) {
    sets.push(element("fieldset", { id: "q2" }, element("legend", {}, second),
      ...question.references.map((one, k) => option("checkbox", "same", one.key, ["Yes, ", element("bdi", {}, one.text)], () => toggle(k))),
      option("checkbox", "none", "8", "No, none of them", () => change({ same_as: [] }))));
  }
  sets.push(element("fieldset", { id: "q3" }, element("legend", {}, third),
    ...question.relations.map((one) => option("radio", "relation", one.key, one.text, () => change({ relation: one.name })))));
  return sets;
}

function said(question) {
  if (!question.others.length) return null;
  return element("section", { class: "said", "aria-label": "What was answered" },
    element("h2", {}, "Both have answered"),
    ...[question.own, ...question.others].map((one) => element("p", {},
      `${one.judge}: `, element("span", { class: one.label }, one.label), one.summary ? ` – ${one.summary}` : "", one.remark ? ` – “${one.remark}”` : "")));
}

async function showQuestion(place) {
  const question = await ask("/api/question", { annotator: page.annotator, place });
  page.question = question;
  page.sheet = openSheet(question);
  page.view = "question";
  remember(["question", place + 1]);
  current("to-questions");
  const remark = element("textarea", { rows: 1, id: "remark", "aria-keyshortcuts": "r", maxlength: 4000, oninput: (event) => { page.sheet.remark = event.target.value; keepDraft(); } });
  remark.value = page.sheet.remark;
  const count = `Question ${place + 1} of ${page.state.total}`;
  const given = question.own ? element("span", {}, ` · you answered `, element("span", { class: question.own.label }, question.own.label)) : null;
  put(element("div", { class: "desk" }, passage(question),
    element("section", { class: "card ask", "aria-label": "The three questions" },
      element("p", { class: "soft small", id: "count" }, `${count} · ${page.state.done} judged`, given),
      ...questions(question),
      element("label", { class: "remark" }, element("span", {}, "Remark, if you like ", key("r")), remark),
      element("p", { class: "hint", id: "hint", role: "status" }),
      element("div", { class: "actions" },
        element("button", { type: "button", class: "button", id: "back", onclick: back }, key("b"), "Back"),
        element("button", { type: "button", class: "button", id: "skip", onclick: skip }, key("s"), "Skip"),
        element("button", { type: "button", class: "button main", id: "next", onclick: save }, "Save, next", key("Enter"))),
      said(question))));
  showSheet();
  $("main").focus({ preventScroll: true });
  const candidate = document.querySelector(".document mark.candidate") || document.querySelector(".document mark");
  const panel = document.querySelector(".document");
  if (candidate && panel.scrollHeight > panel.clientHeight) panel.scrollTop = candidate.offsetTop - panel.offsetTop - panel.clientHeight / 3;
}

function showSheet() {
  const { sheet, question } = page;
  for (const input of document.querySelectorAll("fieldset input")) {
    const pressed = input.dataset.key;
    if (input.name === "valid") input.checked = sheet.valid === (pressed === "1");
    if (input.name === "relation") input.checked = question.relations.some((one) => one.key === pressed && one.name === sheet.relation);
    if (input.name === "none") input.checked = sheet.same_as !== null && sheet.same_as.length === 0;
  }
  document.querySelectorAll("input[name=same]").forEach((input, k) => { input.checked = (sheet.same_as || []).includes(k); });
  for (const id of ["q2", "q3"]) {
    if (!$(id)) continue;
    $(id).disabled = sheet.valid !== true;
    $(id).hidden = sheet.valid === false;
  }
  hint("");
}

function showFinished() {
  page.view = "finished";
  current("");
  remember(null);
  put(element("section", { class: "card narrow" },
    element("h1", {}, "All judged. Thank you."),
    element("p", {}, `${page.state.done} of ${page.state.total} questions have your answer. They are in ${document.body.dataset.store}; the page may be closed, and the server stopped.`),
    element("div", { class: "actions" },
      element("button", { type: "button", class: "button", onclick: () => attempt(() => showQuestion(page.state.total - 1)) }, "Back to the last question"),
      element("button", { type: "button", class: "button main", onclick: () => attempt(showDifferences) }, "Disagreements"))));
  $("main").focus({ preventScroll: true });
}

function crossTable(one) {
  const labels = ["Correct", "Partial", "Incorrect"];
  return element("div", { class: "scroll" }, element("table", {},
    element("caption", { class: "soft small" }, `Rows: ${page.annotator}. Columns: ${one.with}.`),
    element("thead", {}, element("tr", {}, element("td", {}), ...labels.map((label) => element("th", { scope: "col" }, label)))),
    element("tbody", {}, ...labels.map((label, row) => element("tr", {}, element("th", { scope: "row" }, label),
      ...one.table[row].map((n, column) => element("td", { class: row === column ? "n diagonal" : "n" }, String(n))))))));
}

async function showDifferences() {
  page.state = await ask("/api/state", { annotator: page.annotator });
  showState();
  page.view = "differences";
  current("to-differences");
  remember(["page", "differences"]);
  const parts = [element("h1", {}, "Disagreements")];
  const both = page.state.agreements.filter((one) => one.n);
  if (!both.length) parts.push(element("p", {}, "Nobody else has answered a question that you have answered. What another person says is shown here once both have answered."));
  for (const one of both) {
    const found = await ask("/api/differences", { annotator: page.annotator, other: one.with });
    parts.push(element("section", { class: "card", "aria-label": `${page.annotator} and ${one.with}` },
      element("h2", {}, `${page.annotator} and ${one.with}`),
      element("div", { class: "figures" },
        element("div", {}, element("b", {}, shown(one.kappa_3)), "κ on three labels"),
        element("div", {}, element("b", {}, shown(one.kappa_2)), "κ on two"),
        element("div", {}, element("b", {}, `${(100 * one.observed).toFixed(0)} %`), "same label"),
        element("div", {}, element("b", {}, String(one.n)), "judged by both")),
      crossTable(one),
      element("p", { class: "soft small" }, found.decides ? `${found.decides} is marked as more experienced, and decides.`
        : "Neither is marked as more experienced: what they disagree about stays unjudged (tallystick judge judges --experience NAME=1).")));
    parts.push(element("div", { class: "differences" }, ...found.differences.map((row) => element("article", { class: "card" },
      element("h2", {}, element("bdi", {}, row.candidate), element("span", { class: "soft" }, ` – ${[row.role, row.trigger && `of “${row.trigger}”`].filter(Boolean).join(" ")}`)),
      element("p", { class: "soft small" }, row.references.length ? `reference: ${row.references.join(" · ")}` : "no reference"),
      element("div", { class: "versus" }, ...[row.first, row.second].map((side) => element("div", {},
        element("p", {}, `${side.judge}: `, element("span", { class: side.label }, side.label)),
        element("p", { class: "soft small" }, side.summary),
        side.remark ? element("p", { class: "small" }, `“${side.remark}”`) : null))),
      element("button", { type: "button", class: "button", onclick: () => attempt(() => showQuestion(row.place)) }, `Look at question ${row.place + 1}`)))));
    if (!found.differences.length) parts.push(element("p", {}, "No disagreement."));
  }
  put(...parts);
  $("main").focus({ preventScroll: true });
}

async function showStart() {
  page.view = "start";
  page.annotator = "";
  remember(null);
  const state = await ask("/api/state");
  for (const id of ["nav", "who", "progress"]) $(id).hidden = true;
  $("kappa").textContent = "";
  const field = element("input", { type: "text", id: "name", autocomplete: "off", maxlength: 80, placeholder: "your name" });
  const enter = () => (field.value.trim() ? attempt(() => start(field.value)) : field.focus());
  field.addEventListener("keydown", (event) => { if (event.key === "Enter") enter(); });
  put(element("section", { class: "card narrow" },
    element("h1", {}, "Who is judging?"),
    element("p", { class: "soft" }, `${state.total} question${state.total === 1 ? "" : "s"}. Two people judge on their own; what the other said is shown once both have answered.`),
    element("ul", { class: "people" }, ...state.people.map((one) => element("li", {},
      element("button", { type: "button", class: "button", onclick: () => attempt(() => start(one.name)) },
        element("span", {}, one.name), element("span", { class: "soft" }, `${one.done} of ${state.total}`))))),
    element("label", { for: "name" }, state.people.length ? "Somebody else" : "Your name"),
    element("div", { class: "name" }, field, element("button", { type: "button", class: "button main", id: "begin", onclick: enter }, "Begin"))));
  if (!state.people.length) field.focus();
}

async function start(name, place = null) {
  page.state = await ask("/api/state", { annotator: name });
  page.annotator = page.state.annotator;
  showState();
  if (!page.state.total) {
    put(element("section", { class: "card narrow" }, element("h1", {}, "There is nothing to judge yet."),
      element("p", {}, "`tallystick judge export` puts questions into this store.")));
    return;
  }
  if (place !== null && place < page.state.total) await showQuestion(place);
  else if (page.state.next === null) showFinished();
  else await showQuestion(page.state.next);
}

// -- keys -------------------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (page.view !== "question" || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  const { target } = event;
  if (target.id === "remark") {
    if (event.key === "Escape") $("main").focus();
    if (event.key !== "Enter" || event.shiftKey) return;
  }
  if (event.repeat || busy) return event.preventDefault();  // a key is for the question that is seen
  const onButton = target.matches("button, a");
  const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const acts = {
    Enter: () => (onButton ? false : save()), n: save, b: back, s: skip,
    ArrowLeft: () => (target.matches("input") ? false : back()),
    r: () => $("remark").focus(),
  };
  const done = pressed in acts ? acts[pressed]() : choose(pressed);
  if (done !== false) event.preventDefault();
});

$("to-questions").addEventListener("click", () => attempt(() => start(page.annotator)));
$("to-differences").addEventListener("click", () => attempt(showDifferences));
$("who").addEventListener("click", () => attempt(showStart));

const place = Number.parseInt(address.searchParams.get("question"), 10);
attempt(async () => {
  if (!page.annotator) return showStart();
  try {
    if (address.searchParams.get("page") === "differences") {
      await start(page.annotator);
      await showDifferences();
    } else await start(page.annotator, place > 0 ? place - 1 : null);
  } catch (error) {  // a name that is none, for instance: say it, and ask for another
    await showStart();
    throw error;
  }
});
