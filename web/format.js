// SPDX-License-Identifier: Apache-2.0
//
// Elements and numbers as people read them. Names and texts come from files of unknown
// origin: they become text nodes, never markup.
"use strict";

/** An element; attributes whose value is null or false are left out. */
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const number = (value) => (isNumber(value) ? value : null);
const list = (value) => (Array.isArray(value) ? value : []);
const object = (value) =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
const text = (value) => (typeof value === "string" ? value : "");

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

function withCommas(value) {
  return isNumber(value) ? grouped.format(value) : "\u2013";
}

/** Four significant digits, without a tail of zeros. */
function short(value) {
  if (!isNumber(value)) return "\u2013";
  const size = Math.abs(value);
  if (size >= 1e5 && size < 1e12) return withCommas(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e12)) {
    return value.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
  }
  return String(Number(value.toPrecision(4)));
}

function percent(value, digits = 2) {
  return isNumber(value) ? (100 * value).toFixed(digits) + " %" : "\u2013";
}

function bytes(value) {
  if (!isNumber(value)) return "\u2013";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return (unit === 0 || Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))) +
    " " + units[unit];
}

function duration(seconds) {
  if (!isNumber(seconds)) return "\u2013";
  if (seconds > 0 && seconds < 0.1) return milliseconds(Number((1e3 * seconds).toPrecision(2)));
  if (seconds < 10) return short(Number(seconds.toPrecision(3))) + " s";
  if (seconds < 100) return seconds.toFixed(1) + " s";
  const whole = Math.round(seconds);
  const pad = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return hours > 0
    ? `${hours}:${pad(minutes)}:${pad(whole % 60)} h`
    : `${minutes}:${pad(whole % 60)} min`;
}

function large(value) {
  if (!isNumber(value)) return "\u2013";
  if (Math.abs(value) >= 1e15) return value.toExponential(1).replace("e+", "e");
  for (const [size, unit] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(value) >= size) return Number((value / size).toPrecision(3)) + " " + unit;
  }
  return String(Number(value.toPrecision(3)));
}

const milliseconds = (value) => (isNumber(value) ? short(value) + " ms" : "\u2013");

const tableOrders = new Map();  // by name: how a table was sorted that is made anew

/**
 * A table: columns are {head, cell(row), sort(row)?, left?}. Heads of columns with
 * `sort` are buttons. With a `name`, a table of that name is sorted as the last one was.
 */
function table(columns, rows, options = {}) {
  const body = el("tbody");
  const heads = columns.map((column) => headCell(column, sortBy));
  let order = null;
  const before = tableOrders.get(options.name);
  const same = before ? columns.findIndex((column) => column.sort && column.head === before.head) : -1;
  function fill() {
    const sorted = order ? sortedRows(rows, order) : rows;
    body.replaceChildren(...sorted.map((row) => el("tr", {}, columns.map((column) =>
      el(column.rowHead ? "th" : "td",
         { class: column.left || column.rowHead ? "left" : null,
           scope: column.rowHead ? "row" : null }, column.cell(row))))));
  }
  function sortBy(column, head) {
    const falling = order && order.column === column && !order.falling;
    setOrder({ column, falling: Boolean(falling) }, head);
    fill();
  }
  function setOrder(wanted, head) {
    order = wanted;
    if (options.name) tableOrders.set(options.name, { head: order.column.head, falling: order.falling });
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order.falling ? "descending" : "ascending");
  }
  if (same >= 0) setOrder({ column: columns[same], falling: before.falling }, heads[same]);
  fill();
  const caption = options.caption ? el("caption", {}, options.caption) : null;
  return el("div", { class: "table-box", tabindex: 0, role: "group",
                     "aria-label": options.label || options.caption || "Table" },
    el("table", { class: options.class || null }, caption,
      el("thead", {}, el("tr", {}, heads)), body));
}

function headCell(column, sortBy) {
  const head = el("th", { scope: "col", class: column.left || column.rowHead ? "left" : null });
  if (column.sort) {
    head.append(el("button", { type: "button", class: "sort",
                               onclick: () => sortBy(column, head) }, column.head));
  } else {
    head.append(column.head);
  }
  return head;
}

function sortedRows(rows, order) {
  const key = order.column.sort;
  const compare = (a, b) => {
    const [left, right] = [key(a), key(b)];
    if (left === right) return 0;
    if (left === null || left === undefined) return 1;
    if (right === null || right === undefined) return -1;
    const sign = order.falling ? -1 : 1;
    return typeof left === "string" && typeof right === "string"
      ? sign * left.localeCompare(right, "en", { numeric: true })
      : sign * (left < right ? -1 : 1);
  };
  return [...rows].sort(compare);
}

/** Text with a button that copies it. */
function copyable(content, label) {
  const button = el("button", { type: "button", class: "small" }, "Copy");
  button.setAttribute("aria-label", "Copy " + label);
  button.addEventListener("click", () => copyText(content, button));
  return el("div", { class: "copyable" }, el("pre", { tabindex: 0, role: "group", "aria-label": label },
    el("code", {}, content)), button);
}

async function copyText(content, button) {
  try {
    await navigator.clipboard.writeText(content);
  } catch {
    const area = el("textarea", {});
    area.value = content;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}
