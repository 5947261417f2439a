"use strict";
// The page is complete without this script; it only makes reading more comfortable.
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const data = (id) => JSON.parse(document.getElementById(id).textContent);

// the section being read is marked in the navigation
const links = new Map(all("nav a").map((a) => [a.hash.slice(1), a]));
const sections = all("main > section");
function mark() {
  const end = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2;
  const read = sections.filter((s) => s.getBoundingClientRect().top <= window.innerHeight * 0.25);
  const now = end ? sections.at(-1) : read.at(-1) || sections[0];
  links.forEach((a, id) => {
    if (now.id !== id) a.removeAttribute("aria-current");
    else if (!a.hasAttribute("aria-current")) {
      a.setAttribute("aria-current", "true");
      const list = a.closest("ul"); // on a phone the list runs sideways
      list.scrollLeft = a.offsetLeft - list.offsetLeft - (list.clientWidth - a.clientWidth) / 2;
    }
  });
}
window.addEventListener("scroll", mark, { passive: true });
window.addEventListener("resize", mark);
mark();

// a link to a word of the glossary opens it
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") target.open = true;
}
window.addEventListener("hashchange", openTarget);
openTarget();

// pickers show one figure, or all
all("select[data-picks]").forEach((select) => {
  const box = document.querySelector(`[data-picked="${select.dataset.picks}"]`);
  const show = () => {
    all("figure", box).forEach((f) => { f.hidden = select.value !== "" && f.id !== select.value; });
    box.classList.toggle("single", select.value !== "");
  };
  select.addEventListener("change", show);
  show();
});

// the table of measures filters and sorts
const table = document.getElementById("measure-table");
const body = table.tBodies[0];
const rows = [...body.rows];
const filter = document.getElementById("filter");
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  rows.forEach((row) => {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    found += row.hidden ? 0 : 1;
  });
  document.getElementById("found").textContent = `${found} of ${rows.length}`;
});
function key(cell) {
  if (!("number" in cell.dataset)) return cell.dataset.order;
  return cell.dataset.number === "" ? -Infinity : Number(cell.dataset.number);
}
all("th[aria-sort] button", table).forEach((button) => {
  button.addEventListener("click", () => {
    const head = button.parentElement;
    const down = head.getAttribute("aria-sort") === "ascending";
    all("th[aria-sort]", table).forEach((th) => th.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sorted = rows.map((row) => [key(row.cells[head.cellIndex]), row]);
    sorted.sort(([a], [b]) => typeof a === "number" ? (a < b ? -1 : a > b ? 1 : 0) : a.localeCompare(b));
    if (down) sorted.reverse();
    body.append(...sorted.map(([, row]) => row));
  });
});

// a chosen point of the map shows its cell beside it
const cells = data("cell-data");
const chosen = document.getElementById("chosen");
function make(kind, text) {
  const made = document.createElement(kind);
  made.textContent = text;
  return made;
}
let kept = null;
function describe(point) {
  const cell = cells[Number(point.dataset.cell)];
  const list = document.createElement("dl");
  cell.facts.forEach(([name, text]) => list.append(make("dt", name), make("dd", text)));
  const title = make("h3", cell.label);
  if (cell.front) title.append(" ", Object.assign(make("span", "on the front"), { className: "better" }));
  if (cell.status) list.append(make("dt", "status"), make("dd", cell.status));
  chosen.replaceChildren(title, list);
}
function keep(point) {
  if (kept) kept.classList.remove("kept");
  kept = point;
  point.classList.add("kept");
  describe(point);
}
const points = all(".point");
points.forEach((point) => {
  point.addEventListener("click", () => keep(point));
  point.addEventListener("focus", () => describe(point));
  point.addEventListener("mouseenter", () => describe(point));
  point.addEventListener("mouseleave", () => { if (kept) describe(kept); });
  point.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); keep(point); }
  });
});

// the numbers go along as a file
document.getElementById("save").addEventListener("click", () => {
  const run = data("run-data");
  const file = new Blob([JSON.stringify(run, null, 2)], { type: "application/json" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = "sparkanon-report.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});

// paper has no buttons: everything is open and nothing is hidden while it prints
const opened = new Set();
window.addEventListener("beforeprint", () => {
  all("details:not([open])").forEach((d) => { if (!d.classList.contains("data")) { d.open = true; opened.add(d); } });
});
window.addEventListener("afterprint", () => { opened.forEach((d) => { d.open = false; }); opened.clear(); });
