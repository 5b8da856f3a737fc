"use strict";
// The page of the inspector. It asks the server, or the answers embedded in an exported file.

const $ = (id) => document.getElementById(id);
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};
const shown = (x) => (typeof x === "string" ? x : x === 0 ? "0" : Math.abs(x) >= 1e6 || Math.abs(x) < 1e-3 ? x.toExponential(4).replace(/\.?0+e/, "e") : String(Number(x.toPrecision(6))));
const brief = (x) => shown(Number(x.toPrecision(3)));
const counted = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const bytes = (n) => (n < 1024 ? `${n} B` : n < 1048576 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 1048576).toFixed(1)} MiB`);
const isDark = () => document.documentElement.classList.contains("dark");

const state = { session: null, figures: new Map(), at: new Map(), selection: null, second: null, asked: 0, patterns: 0, page: 0, node: null, ready: false };

// -- asking -------------------------------------------------------------------------------------

async function ask(question, params = {}) {
  if (EMBEDDED) return embeddedAnswer(question, params);
  const response = await fetch(`api/${question}?${new URLSearchParams(params)}`);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

function keyOf(question, params) {
  const sorted = Object.keys(params).sort().map((name) => `${name}=${params[name]}`);
  return `${question}?${sorted.join("&")}`;
}

function embeddedAnswer(question, params) {
  if (question === "influence") return nearestInfluence(params);
  if (question === "cost") return null;
  const found = EMBEDDED.answers[keyOf(question, params)];
  if (found === undefined) throw new Error("This exported page does not contain that answer. Run `wengert inspect` for the full page.");
  if (found && found.error) throw new Error(found.error);
  return found;
}

// An exported page has a grid of selections; the nearest one answers.
function nearestInfluence(params) {
  const centre = (text) => (text ? text.split(",").map((pair) => pair.split(":").reduce((sum, x) => sum + Number(x) / 2, 0)) : []);
  const wanted = centre(params.ranges);
  let best = null, least = Infinity;
  for (const ranges of Object.keys(EMBEDDED.influences[params.t] || {})) {
    const away = centre(ranges).reduce((sum, x, k) => sum + (x - wanted[k]) ** 2, 0);
    if (away < least) [best, least] = [ranges, away];
  }
  if (best === null) throw new Error("This exported page has no selections of this tensor.");
  return { ...EMBEDDED.influences[params.t][best], ranges: best };
}

// -- colours ------------------------------------------------------------------------------------

// Blue to orange through a neutral middle: people who do not see red or green tell them apart.
const ENDS = { low: [[5, 70, 150], [120, 200, 255]], high: [[150, 70, 0], [255, 180, 70]], middle: [[247, 247, 247], [33, 37, 43]] };
const NOT_FINITE = [[214, 0, 140], [255, 80, 200]];

function diverging(share) {
  const dark = isDark() ? 1 : 0;
  const from = ENDS.middle[dark], to = share < 0 ? ENDS.low[dark] : ENDS.high[dark];
  const strength = Math.sqrt(Math.min(1, Math.abs(share)));
  return from.map((x, k) => x + (to[k] - x) * strength);
}

function grey(share) {
  const [from, to] = isDark() ? [40, 235] : [245, 25];
  const x = from + (to - from) * Math.min(1, Math.max(0, share));
  return [x, x, x];
}

function decoded(picture) {
  const raw = atob(picture.data);
  const buffer = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) buffer[k] = raw.charCodeAt(k);
  return { ...picture, values: new Float32Array(buffer.buffer) };
}

// -- one map ------------------------------------------------------------------------------------

class Figure {
  constructor(item, settings = {}) {
    this.item = item;
    this.settings = settings;
    this.value = this.influence = this.problem = null;
    this.cursor = { row: 0, column: 0 };
    this.anchor = null;
    this.rows = item.row === null ? 1 : Math.ceil(item.shape[item.row] / item.cell);
    this.columns = item.column === null ? 1 : Math.ceil(item.shape[item.column] / item.cell);
    this.canvas = make("canvas", { class: "map", tabindex: 0, role: "application", "aria-label": `Map of ${item.name}, ${item.role}, shape ${item.shape.join(" by ") || "one number"}` });
    this.bar = make("canvas", { width: 120, height: 12, role: "img", "aria-label": `Scale of ${item.name}` });
    this.low = make("span"); this.high = make("span");
    this.readout = make("p", { class: "readout" });
    this.note = make("p", { class: "note" });
    const details = [settings.caption || item.role, item.dtype, item.shape.join("×") || "one number"].join(" · ");
    this.element = make("figure", { "data-number": item.number, "data-name": item.name },
      make("figcaption", {}, make("div", {}, make("b", { title: item.name }, item.name), make("span", { title: item.line }, item.line || "")), make("span", { title: details }, details)),
      ...item.others.map((axis, k) => (item.shape[axis] > 1 ? this.slider(axis, k) : null)),
      this.canvas, make("div", { class: "scale" }, this.low, this.bar, this.high), this.readout, this.note);
    this.listen();
  }

  get at() { return state.at.get(this.item.number) || this.item.others.map(() => 0); }

  slider(axis, k) {
    const text = make("output", {}, String(this.at[k]));
    const input = make("input", { type: "range", min: 0, max: Math.max(0, this.item.shape[axis] - 1), value: this.at[k], "aria-label": `axis ${axis} of ${this.item.name}`, disabled: Boolean(EMBEDDED) });
    input.addEventListener("input", () => {
      const at = [...this.at];
      at[k] = Number(input.value);
      state.at.set(this.item.number, at);
      text.textContent = input.value;
      this.load().then(() => state.selection && this.settings.selects && refresh());
    });
    return make("label", { class: "slider" }, `axis ${axis}`, input, text);
  }

  async load() {
    try {
      this.value = decoded(await ask("value", { t: this.item.number, at: this.at.join(",") }));
      this.problem = null;
    } catch (error) {
      this.value = null;
      this.problem = error.message;
    }
    this.draw();
  }

  // What is seen: all of it, or the surroundings of the cone.
  window() {
    const all = { top: 0, left: 0, rows: this.rows, columns: this.columns };
    const map = this.influence;
    const own = state.selection && state.selection.figure === this;
    if (!map || own || !$("crop").checked || !map.rows || map.rows * map.columns * 4 > this.rows * this.columns) return all;
    const around = (start, count, most) => {
      const margin = Math.max(2, Math.ceil(count / 3));
      const from = Math.max(0, start - margin);
      return [from, Math.min(most, start + count + margin) - from];
    };
    const [top, rows] = around(map.top, map.rows, this.rows);
    const [left, columns] = around(map.left, map.columns, this.columns);
    return { top, left, rows, columns };
  }

  draw() {
    const seen = this.window();
    this.seen = seen;
    const scale = Math.min(32, (this.settings.size || 256) / Math.max(seen.columns, seen.rows));
    this.width = scale;
    this.height = seen.rows === 1 ? Math.max(scale, 26) : scale;
    this.canvas.width = Math.max(1, Math.round(seen.columns * this.width));
    this.canvas.height = Math.max(1, Math.round(seen.rows * this.height));
    const context = this.canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    const picture = this.pixels(seen);
    if (picture) context.drawImage(picture, 0, 0, this.canvas.width, this.canvas.height);
    this.outlines(context);
    this.labels();
  }

  // The picture, one pixel for each cell.
  pixels(seen) {
    if (!seen.rows || !seen.columns) return null;
    const map = this.influence, source = map || this.value;
    const small = document.createElement("canvas");
    small.width = seen.columns; small.height = seen.rows;
    const context = small.getContext("2d");
    const image = context.createImageData(seen.columns, seen.rows);
    const largest = this.largest();
    const blank = state.selection && this.settings.selects ? diverging(0) : grey(0);
    const flagged = NOT_FINITE[isDark() ? 1 : 0];
    for (let r = 0; r < seen.rows; r++) {
      for (let c = 0; c < seen.columns; c++) {
        const x = this.cell(source, r + seen.top, c + seen.left);
        let colour = blank;
        if (x !== null) {
          if (!Number.isFinite(x)) colour = flagged;
          else if (map || this.settings.signed) colour = diverging(largest ? x / largest : 0);
          else colour = grey(source.high > source.low ? (x - source.low) / (source.high - source.low) : 0.5);
        }
        image.data.set([...colour, 255], 4 * (r * seen.columns + c));
      }
    }
    context.putImageData(image, 0, 0);
    return small;
  }

  cell(source, row, column) {
    if (!source) return null;
    const r = row - source.top, c = column - source.left;
    if (r < 0 || c < 0 || r >= source.rows || c >= source.columns) return null;
    return source.values[r * source.columns + c];
  }

  largest() {
    const source = this.influence || (this.settings.signed ? this.value : null);
    return source ? Math.max(Math.abs(source.low), Math.abs(source.high)) : 0;
  }

  outlines(context) {
    const frame = (area, colour, width, dash) => {
      context.strokeStyle = colour; context.lineWidth = width; context.setLineDash(dash);
      context.strokeRect((area.left - this.seen.left) * this.width, (area.top - this.seen.top) * this.height, area.columns * this.width, area.rows * this.height);
    };
    const ink = isDark() ? "#ffffff" : "#000000";
    if (this.influence && this.influence.rows) frame(this.influence, ink, 1.5, [4, 3]);
    for (const [chosen, dash] of [[state.selection, []], [state.second, [2, 2]]]) {
      if (chosen && chosen.figure === this) {
        frame(chosen.area, isDark() ? "#15181c" : "#ffffff", 5, []);
        frame(chosen.area, ink, 2.5, dash);
      }
    }
    if (document.activeElement === this.canvas) frame({ top: this.cursor.row, left: this.cursor.column, rows: 1, columns: 1 }, ink, 2, [1, 1]);
  }

  labels() {
    const map = this.influence, selecting = state.selection && this.settings.selects;
    const own = selecting && state.selection.figure === this;
    this.element.classList.toggle("selected", Boolean(own));
    this.element.classList.toggle("unrelated", Boolean(selecting && !own && !map));
    const context = this.bar.getContext("2d");
    const signed = map || this.settings.signed;
    for (let k = 0; k < 120; k++) {
      const [r, g, b] = signed ? diverging((k - 59.5) / 59.5) : grey(k / 119);
      context.fillStyle = `rgb(${r},${g},${b})`;
      context.fillRect(k, 0, 1, 12);
    }
    const largest = this.largest();
    const source = map || this.value;
    const isFinite = source && source.values.some(Number.isFinite);
    const [low, high] = !isFinite ? [null, null] : signed ? [-largest, largest] : [source.low, source.high];
    const isOne = low === high;
    this.bar.hidden = isOne;
    for (const [end, x] of [[this.low, low], [this.high, isOne ? null : high]]) {
      end.textContent = x === null ? "" : isOne ? shown(x) : brief(x);
      end.title = x === null ? "" : String(x);
    }
    const notes = [];
    if (this.problem && !map) notes.push(this.problem);
    if (this.value && this.value.complex) notes.push("Complex: the map shows magnitudes.");
    if (this.value && this.value.nonfinite) notes.push(`${counted(this.value.nonfinite, "element is", "elements are")} NaN or infinite.`);
    if (this.item.cell > 1) notes.push(`Each cell shows the largest of ${this.item.cell} by ${this.item.cell} elements.`);
    if (selecting && !own) {
      if (!map) notes.push("No path. Shift-click for the reason.");
      else if (map.empty) notes.push("No influence: the path leads to other elements.");
      else {
        const where = map.where ? `[${map.where}]` : "this number";
        const text = map.direction === "earlier" ? `The selection depends on ${where}` : `The selection influences ${where}`;
        notes.push(`${text}${map.rows ? "." : ", but not at these slider positions."}`);
      }
    }
    this.note.textContent = notes.join(" ");
    this.note.classList.toggle("marked", Boolean(this.value && this.value.nonfinite));
  }

  // -- pointing ---------------------------------------------------------------------------------

  listen() {
    const place = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const clamp = (x, most) => Math.min(most, Math.max(0, Math.floor(x)));
      return {
        row: this.seen.top + clamp((event.clientY - box.top - 1) / this.height, this.seen.rows - 1),
        column: this.seen.left + clamp((event.clientX - box.left - 1) / this.width, this.seen.columns - 1),
      };
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.cursor = this.anchor = place(event);
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => { this.cursor = place(event); this.read(); });
    this.canvas.addEventListener("pointerup", (event) => {
      if (!this.anchor) return;
      const start = this.anchor;
      this.anchor = null;
      this.cursor = place(event);
      this.choose(start, this.cursor, event.shiftKey);
    });
    this.canvas.addEventListener("focus", () => { this.draw(); this.read(); });
    this.canvas.addEventListener("blur", () => { this.extends = null; this.draw(); });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key in moves) {
      const [down, right] = moves[event.key];
      if (event.shiftKey) this.extends = this.extends || { ...this.cursor };
      else this.extends = null;
      this.cursor = { row: Math.min(this.rows - 1, Math.max(0, this.cursor.row + down)), column: Math.min(this.columns - 1, Math.max(0, this.cursor.column + right)) };
      this.draw();
      this.read();
    } else if (event.key === "Enter" || event.key === " ") {
      this.choose(this.extends || this.cursor, this.cursor, event.shiftKey && !this.extends);
    } else if (event.key === "d" || event.key === "D") {
      this.choose(this.cursor, this.cursor, true);
    } else if (event.key === "Escape") {
      clearSelection();
    } else return;
    event.preventDefault();
  }

  choose(start, end, second) {
    if (!this.settings.selects || this.item.shape.includes(0)) return;
    const area = { top: Math.min(start.row, end.row), left: Math.min(start.column, end.column) };
    area.rows = Math.abs(start.row - end.row) + 1;
    area.columns = Math.abs(start.column - end.column) + 1;
    const chosen = { figure: this, area, ranges: this.ranges(area) };
    if (second && state.selection) { state.second = chosen; askDerivative(); }
    else { state.selection = chosen; state.second = null; refresh(); }
  }

  // A part of the picture as ranges of the tensor's axes, as the server reads them.
  ranges(area) {
    const { item } = this;
    return item.shape.map((length, axis) => {
      let from, to;
      if (axis === item.row) [from, to] = [area.top * item.cell, (area.top + area.rows) * item.cell];
      else if (axis === item.column) [from, to] = [area.left * item.cell, (area.left + area.columns) * item.cell];
      else [from, to] = [this.at[item.others.indexOf(axis)], this.at[item.others.indexOf(axis)] + 1];
      return `${from}:${Math.min(to, length)}`;
    }).join(",");
  }

  read() {
    const { row, column } = this.cursor;
    const place = this.ranges({ top: row, left: column, rows: 1, columns: 1 }).split(",").map((pair) => {
      const [from, to] = pair.split(":").map(Number);
      return to - from === 1 ? from : pair;
    }).filter((part) => part !== "");
    const value = this.cell(this.value, row, column);
    const parts = [];
    if (value !== null) parts.push(`value ${shown(value)}`);
    if (state.selection && this.settings.selects && state.selection.figure !== this) {
      if (this.influence) parts.push(`influence ${shown(this.cell(this.influence, row, column) ?? 0)}`);
      else parts.push("no path");
    }
    this.readout.textContent = `${this.item.name}[${place.join(", ")}]: ${parts.join(", ")}`;
  }
}

// -- what depends on what -----------------------------------------------------------------------

function placesText() {
  return [...state.figures.values()].filter((f) => f.item.others.length).map((f) => `${f.item.number}:${f.at.join(",")}`).join(";");
}

const NOTHING_SELECTED = "Nothing is selected; the maps show values.";

async function refresh() {
  const began = performance.now(), mine = ++state.asked, chosen = state.selection;
  const among = [...state.figures.keys()].join(",");
  let found;
  try {
    found = await ask("influence", { t: chosen.figure.item.number, ranges: chosen.ranges, among, at: placesText() });
  } catch (error) {
    $("answer").replaceChildren(make("p", {}, error.message));
    return;
  }
  if (mine !== state.asked) return;
  if (found.ranges !== undefined) snap(chosen, found.ranges);
  for (const [number, figure] of state.figures) {
    figure.influence = found.maps[number] ? decoded(found.maps[number]) : null;
    figure.draw();
  }
  const sum = found.elements > 1 ? ` (the sum of ${found.elements} elements)` : found.value === null ? "" : ` = ${shown(found.value)}`;
  const answered = make("p", { id: "answered" }, `Sweep: ${found.milliseconds.toFixed(1)} ms; click to page: ${(performance.now() - began).toFixed(0)} ms.`);
  answered.dataset.milliseconds = performance.now() - began;
  const cost = make("p", { id: "cost" });
  $("answer").replaceChildren(make("p", { id: "selected" }, "Selected: ", make("b", {}, found.of), sum), answered, cost);
  const work = await ask("cost", { t: chosen.figure.item.number, ranges: chosen.ranges, among });
  if (work && mine === state.asked) {
    const { structured, dense } = work;
    cost.textContent = `Reverse sweep: ${structured.multiply_adds.toLocaleString("en")} multiply-adds, ${bytes(structured.bytes)}. A sweep for all elements: ${dense.multiply_adds.toLocaleString("en")} multiply-adds, ${bytes(dense.bytes)}.`;
  }
}

// In an exported page the selection moves to the one that was computed.
function snap(chosen, ranges) {
  const { item } = chosen.figure;
  const pairs = ranges ? ranges.split(",").map((pair) => pair.split(":").map(Number)) : [];
  const [top, bottom] = item.row === null ? [0, 1] : pairs[item.row];
  const [left, right] = item.column === null ? [0, 1] : pairs[item.column];
  chosen.ranges = ranges;
  chosen.area = { top: Math.floor(top / item.cell), left: Math.floor(left / item.cell), rows: Math.ceil((bottom - top) / item.cell), columns: Math.ceil((right - left) / item.cell) };
}

async function askDerivative() {
  const { selection, second } = state;
  for (const figure of state.figures.values()) figure.draw();
  const box = make("div", { id: "derivative" });
  $("derivative")?.remove();
  $("answer").append(box);
  if (EMBEDDED) {
    const map = second.figure.influence;
    const x = map ? second.figure.cell(map, second.area.top, second.area.left) ?? 0 : null;
    box.append(make("p", {}, x === null ? "No path connects the two." : `The derivative is ${shown(x)}.`));
    return;
  }
  try {
    const found = await ask("derivative", { t: selection.figure.item.number, ranges: selection.ranges, by: second.figure.item.number, of: second.ranges });
    if (found.value === null) {
      box.append(make("p", {}, `There is no derivative of ${found.of} with respect to ${found.by}:`), make("pre", { tabindex: 0, "aria-label": "Reason" }, found.message));
    } else {
      const sum = found.elements > 1 ? `, summed over ${found.elements} elements` : "";
      box.append(make("p", {}, `Derivative of ${found.of} with respect to ${found.by}${sum}: `, make("b", { id: "derivative-value" }, shown(found.value))),
        found.chain.length ? make("ol", { id: "chain" }, ...found.chain.map((step) => make("li", { title: step }, step))) : null);
    }
  } catch (error) {
    box.append(make("p", {}, error.message));
  }
}

function clearSelection() {
  state.selection = state.second = null;
  state.asked++;
  $("answer").replaceChildren(make("p", {}, NOTHING_SELECTED));
  for (const figure of state.figures.values()) { figure.influence = null; figure.draw(); }
}

function showFigure(item) {
  const figure = new Figure(item, { selects: true });
  state.figures.set(item.number, figure);
  const after = [...$("maps").children].find((other) => Number(other.dataset.number) > item.number);
  $("maps").insertBefore(figure.element, after || null);
  return figure.load();
}

function hideFigure(number) {
  const figure = state.figures.get(number);
  if (state.selection && state.selection.figure === figure) clearSelection();
  state.figures.delete(number);
  figure.element.remove();
}

function listTensors() {
  const text = $("find-tensor").value.toLowerCase();
  const rows = state.session.tensors.filter((item) => `${item.name} ${item.role}`.toLowerCase().includes(text)).slice(0, 100);
  $("tensor-list").replaceChildren(...rows.map((item) => {
    const box = make("input", { type: "checkbox", checked: state.figures.has(item.number), disabled: Boolean(EMBEDDED) });
    box.addEventListener("change", async () => {
      if (box.checked) await showFigure(item); else hideFigure(item.number);
      if (state.selection) refresh();
    });
    return make("label", {}, box, ` ${item.name} (${item.role}, ${item.shape.join(" x ") || "one number"})`);
  }), state.session.left_out ? make("p", {}, `${counted(state.session.left_out, "more tensor is", "more tensors are")} listed under Tape.`) : "");
}

// -- the tape -----------------------------------------------------------------------------------

const ROWS = 50;

async function listNodes() {
  const params = { from: state.page * ROWS, count: ROWS, find: $("find-node").value, order: $("order").value, only: $("only-nonfinite").checked ? "nonfinite" : "" };
  let found;
  try { found = await ask("nodes", params); } catch (error) { $("rows-shown").textContent = error.message; return; }
  const body = $("nodes").tBodies[0];
  body.replaceChildren(...found.rows.map((row) => make("tr", { "data-number": row.number, class: row.nonfinite ? "marked" : null, onclick: () => showNode(row.number), title: row.text },
    make("td", {}, make("button", { type: "button", "aria-label": `node ${row.number}, ${row.operation}` }, String(row.number))),
    ...[row.operation + (row.nonfinite ? " (NaN or infinity)" : ""), row.name, row.shape, row.dtype, row.bytes ? bytes(row.bytes) : "", row.microseconds ? `${row.microseconds.toFixed(0)} µs` : "", row.line].map((text) => make("td", {}, text)))));
  const last = Math.min(found.total, found.from + found.rows.length);
  $("rows-shown").textContent = found.total ? `${(found.from + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${found.total.toLocaleString("en")}${found.marked ? `; ${found.marked.toLocaleString("en")} with NaN or infinity` : ""}` : "No operation matches.";
  $("before").disabled = state.page === 0;
  $("after").disabled = last >= found.total;
  mark();
}

function mark() {
  for (const row of $("nodes").tBodies[0].rows) row.classList.toggle("chosen", Number(row.dataset.number) === state.node);
}

async function showNode(number) {
  state.node = number;
  mark();
  let found;
  try { found = await ask("node", { t: number, target: $("tape-target").value }); } catch (error) { $("node").replaceChildren(make("p", {}, error.message)); return; }
  const parts = [make("h2", { id: "node-title" }, `${number}: ${found.row_of.operation}${found.row_of.name ? `, ${found.row_of.name}` : ""}`)];
  if (found.parents.length) parts.push(make("p", {}, "computed from ", ...found.parents.flatMap((p) => [make("button", { type: "button", onclick: () => showNode(p.number) }, `${p.number}: ${p.name}`), " "])));
  if (found.source) {
    const { file, first, line, lines } = found.source;
    parts.push(make("p", { title: file }, `${file.split(/[\\/]/).pop()}:${line}`), make("pre", { tabindex: 0, "aria-label": "Source" }, ...lines.map((text, k) => make("span", { class: first + k === line ? "here" : null }, `${String(first + k).padStart(4)}  ${text}\n`))));
  }
  const arrays = make("div", { id: "arrays" });
  for (const [kind, signed] of [["value", false], ["cotangent", true]]) {
    if (!found[kind]) { arrays.append(make("p", {}, kind === "value" ? "The value was not kept." : "There is no cotangent: the result does not depend on this node.")); continue; }
    const figure = new Figure({ ...found, name: kind, others: [], role: `of node ${number}`, line: "" }, { caption: `node ${number}`, signed });
    figure.item.others = found.others;
    figure.value = decoded(found[kind]);
    figure.draw();
    arrays.append(figure.element);
    for (const slider of figure.element.querySelectorAll(".slider")) slider.remove();
  }
  $("node").replaceChildren(...parts, arrays);
}

async function showBirth() {
  const found = await ask("nonfinite", { target: $("tape-target").value }).catch((error) => ({ number: null, message: error.message }));
  if (found === null) { $("birth").textContent = "All values and cotangents are finite."; return; }
  $("birth").textContent = found.message;
  if (found.number === null) return;
  state.page = Math.floor(found.number / ROWS);
  $("find-node").value = ""; $("order").value = "recorded"; $("only-nonfinite").checked = false;
  await listNodes();
  await showNode(found.number);
  [...$("nodes").tBodies[0].rows].find((row) => Number(row.dataset.number) === found.number)?.scrollIntoView({ block: "nearest" });
}

async function drawGraph() {
  const box = $("graph");
  box.hidden = false;
  try {
    const found = await ask("graph", { target: $("tape-target").value });
    const drawing = new DOMParser().parseFromString(found.svg, "image/svg+xml").documentElement;
    box.replaceChildren(make("p", {}, found.drawn < found.nodes ? `${found.nodes.toLocaleString("en")} nodes; each chain of operations is drawn as one box.` : `${counted(found.nodes, "node", "nodes")}. Choose one to see it below.`), drawing);
    const boxes = [...drawing.children].filter((child) => child.querySelector("rect"));
    found.numbers.forEach((number, k) => {
      const choose = () => showNode(number);
      boxes[k].setAttribute("tabindex", 0);
      boxes[k].setAttribute("role", "button");
      boxes[k].addEventListener("click", choose);
      boxes[k].addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
    });
    const last = boxes[boxes.length - 1]?.getBoundingClientRect(), whole = drawing.getBoundingClientRect();
    if (last) box.scrollLeft = last.x + last.width / 2 - whole.x - box.clientWidth / 2;
  } catch (error) {
    box.replaceChildren(make("p", {}, error.message));
  }
}

// -- patterns -----------------------------------------------------------------------------------

// Colour-blind-safe, in light and dark.
const GROUPS = [["#0072b2", "#56b4e9"], ["#d55e00", "#e69f00"], ["#009e73", "#4fd8b0"], ["#7d4a8d", "#cc79a7"], ["#444444", "#cccccc"], ["#8a6d00", "#f0e442"]];

function clearPattern() {
  $("pattern").width = $("pattern").height = 1;
  $("pattern-text").textContent = "Show the pattern to see which elements can differ from zero.";
}

async function showPattern() {
  const params = { kind: $("pattern-kind").value, target: $("pattern-target").value, source: $("pattern-source").value };
  const canvas = $("pattern"), context = canvas.getContext("2d"), mine = ++state.patterns;
  let found;
  clearPattern();
  $("pattern-text").textContent = "Looking for the pattern ...";
  try { found = await ask("pattern", params); } catch (error) { if (mine === state.patterns) $("pattern-text").textContent = error.message; return; }
  if (mine !== state.patterns) return;
  const rows = Math.ceil(found.shape[0] / found.cell), columns = Math.ceil(found.shape[1] / found.cell);
  const scale = Math.max(1, Math.min(24, Math.floor(880 / Math.max(rows, columns, 1))));
  canvas.width = Math.max(1, columns * scale); canvas.height = Math.max(1, rows * scale);
  context.fillStyle = isDark() ? "#23282e" : "#f1f3f5";
  context.fillRect(0, 0, canvas.width, canvas.height);
  found.rows.forEach((row, k) => {
    context.fillStyle = GROUPS[found.group[k] % GROUPS.length][isDark() ? 1 : 0];
    context.fillRect(found.columns[k] * scale, row * scale, Math.max(1, scale - (scale > 4)), Math.max(1, scale - (scale > 4)));
  });
  $("pattern-text").textContent = `${found.shape[0].toLocaleString("en")} x ${found.shape[1].toLocaleString("en")}, ${counted(found.elements, "element", "elements")} (${brief(100 * found.density)}%). Computing it takes ${counted(found.groups, "sweep", "sweeps")} (${found.mode} mode); elements of one sweep share a colour${found.groups > GROUPS.length ? ", and the colours repeat" : ""}.${found.cell > 1 ? ` Each cell stands for ${found.cell} by ${found.cell} elements.` : ""}`;
  canvas.setAttribute("aria-label", `Pattern: ${$("pattern-text").textContent}`);
}

// -- training -----------------------------------------------------------------------------------

const steps = [];

async function loadTraining() {
  const found = await ask("training", { since: EMBEDDED ? 0 : steps.length }).catch(() => null);
  if (!found) return;
  if (found.since === steps.length) steps.push(...found.steps);
  if ($("training").hidden) return;
  $("training-text").textContent = steps.length ? `The program has computed ${counted(steps.length, "gradient", "gradients")} of a scalar.` : "No gradient of a scalar has been computed. Each one that the program asks a tape for adds a point here.";
  const names = [...new Set(steps.flatMap((step) => Object.keys(step.norms)))].slice(0, 12);
  if (!steps.length) { $("loss-chart").replaceChildren(); $("norm-chart").replaceChildren(); return; }
  $("loss-chart").replaceChildren(make("h2", {}, "Loss"), ...chart([["loss", steps.map((step) => Number(step.loss))]]));
  $("norm-chart").replaceChildren(make("h2", {}, "Norms of gradients"), ...chart(names.map((name) => [name, steps.map((step) => (name in step.norms ? Number(step.norms[name]) : NaN))])));
}

// Lines over steps; the scale is logarithmic where all numbers are positive and far apart.
function chart(lines) {
  const all = lines.flatMap(([, values]) => values).filter(Number.isFinite);
  if (!all.length) return [make("p", {}, "No finite number to draw.")];
  const [low, high] = all.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);
  const log = low > 0 && high / low > 20;
  const f = log ? Math.log : (x) => x;
  const width = Math.max(280, Math.min(960, $("training").clientWidth)), height = 220, left = 64, count = Math.max(...lines.map(([, values]) => values.length));
  const x = (k) => left + ((width - left - 10) * k) / Math.max(1, count - 1);
  const y = (v) => 10 + (height - 40) * (high > low ? (f(high) - f(v)) / (f(high) - f(low)) : 0.5);
  const svg = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text) element.textContent = text;
    return element;
  };
  const picture = svg("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${lines.map(([name]) => name).join(", ")}: from ${shown(low)} to ${shown(high)} over ${count} steps` });
  picture.append(svg("line", { class: "axis", x1: left, x2: left, y1: 10, y2: height - 30 }), svg("line", { class: "axis", x1: left, x2: width - 10, y1: height - 30, y2: height - 30 }),
    svg("text", { x: left - 6, y: 16, "text-anchor": "end" }, brief(high)), svg("text", { x: left - 6, y: height - 30, "text-anchor": "end" }, high > low ? brief(low) : ""),
    svg("text", { x: left, y: height - 12 }, count > 1 ? "step 1" : ""), svg("text", { x: (left + width - 10) / 2, y: height - 12, "text-anchor": "middle" }, log ? "logarithmic scale" : ""), svg("text", { x: width - 10, y: height - 12, "text-anchor": "end" }, `step ${count}`));
  lines.forEach(([name, values], k) => {
    const stride = Math.max(1, Math.floor(values.length / 1000));
    const points = values.map((v, i) => [i, v]).filter(([i, v]) => (i % stride === 0 || i === values.length - 1) && Number.isFinite(v));
    picture.append(svg("polyline", { points: points.map(([i, v]) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(" "), fill: "none", stroke: GROUPS[k % 6][isDark() ? 1 : 0], "stroke-width": 2, "stroke-dasharray": k < 6 ? "none" : "6 3" }));
    if (points.length === 1) picture.append(svg("circle", { cx: x(points[0][0]), cy: y(points[0][1]), r: 3, fill: GROUPS[k % 6][isDark() ? 1 : 0] }));
  });
  const legend = make("div", { class: "legend" }, ...lines.map(([name, values], k) => {
    const mark = make("i");
    mark.style.background = GROUPS[k % 6][isDark() ? 1 : 0];
    return make("span", {}, mark, `${name}: ${brief(values[values.length - 1])}`);
  }));
  return [picture, legend];
}

// -- the page as a whole ------------------------------------------------------------------------

function openTab(tab) {
  for (const other of $("tabs").children) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", chosen);
    other.tabIndex = chosen ? 0 : -1;
    $(other.getAttribute("aria-controls")).hidden = !chosen;
  }
  if (tab.id === "tab-tape" && state.session) listNodes();
  if (tab.id === "tab-patterns" && state.session && !$("pattern-text").textContent) showPattern();
  if (tab.id === "tab-training") loadTraining();
}

function setTheme(dark) {
  document.documentElement.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "Light mode" : "Dark mode";
  for (const figure of state.figures.values()) figure.draw();
  if (!$("training").hidden) loadTraining();
  if (state.session && !$("patterns").hidden && $("pattern-text").textContent) showPattern();
  if (state.node !== null) showNode(state.node);
}

async function openSession() {
  state.session = await ask("session");
  const byNumber = new Map(state.session.tensors.map((item) => [item.number, item]));
  const option = (item) => make("option", { value: item.number }, item.name);
  const results = state.session.results.map((n) => byNumber.get(n)).filter(Boolean);
  $("tape-target").replaceChildren(...results.slice(-50).reverse().map(option));
  $("pattern-target").replaceChildren(...[...state.session.tensors].reverse().map(option));
  $("pattern-source").replaceChildren(...state.session.tensors.map(option));
  if (results.length) $("pattern-target").value = results[results.length - 1].number;
  $("answer").replaceChildren(make("p", {}, NOTHING_SELECTED));
  await Promise.all(state.session.drawn.map((number) => showFigure(byNumber.get(number))));
  listTensors();
  if (!$("tape").hidden) listNodes();
  document.body.dataset.ready = "true";
}

function showState(found) {
  $("title").textContent = found.title;
  document.title = `${found.title} - Wengert inspector`;
  $("status").textContent = { running: "The program is running.", finished: "The program has finished.", failed: "The program raised an error.", stopped: "The program was stopped." }[found.status];
  document.body.dataset.status = found.status;
  $("stop").hidden = found.status !== "running";
  $("message").hidden = !found.message;
  $("message").textContent = found.message;
  if (found.ready && !state.ready) { state.ready = true; openSession(); }
  if (!found.ready && found.status !== "running") { document.body.dataset.empty = "true"; document.body.dataset.ready = "true"; }
  if (!EMBEDDED && found.steps !== steps.length) loadTraining();
}

function start() {
  for (const tab of $("tabs").children) {
    tab.addEventListener("click", () => openTab(tab));
    tab.addEventListener("keydown", (event) => {
      const next = { ArrowRight: tab.nextElementSibling, ArrowLeft: tab.previousElementSibling }[event.key];
      if (next) { openTab(next); next.focus(); }
    });
  }
  $("theme").addEventListener("click", () => setTheme(!isDark()));
  $("clear").addEventListener("click", clearSelection);
  $("crop").addEventListener("change", () => { for (const figure of state.figures.values()) figure.draw(); });
  $("find-tensor").addEventListener("input", listTensors);
  const restart = () => { state.page = 0; listNodes(); };
  $("find-node").addEventListener("input", restart);
  $("order").addEventListener("change", restart);
  $("only-nonfinite").addEventListener("change", restart);
  $("before").addEventListener("click", () => { state.page = Math.max(0, state.page - 1); listNodes(); });
  $("after").addEventListener("click", () => { state.page++; listNodes(); });
  $("tape-target").addEventListener("change", () => state.node !== null && showNode(state.node));
  $("born").addEventListener("click", showBirth);
  $("draw-graph").addEventListener("click", drawGraph);
  $("find-pattern").addEventListener("click", showPattern);
  for (const id of ["pattern-kind", "pattern-target", "pattern-source"]) $(id).addEventListener("change", () => { state.patterns++; clearPattern(); });
  $("stop").addEventListener("click", () => fetch("api/stop", { method: "POST" }));
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  if (EMBEDDED) { showState(EMBEDDED.answers["state?"]); return; }
  const events = new EventSource("api/events");
  events.onmessage = (event) => { $("unreachable")?.remove(); showState(JSON.parse(event.data)); };
  events.onerror = () => {
    if (!$("unreachable")) document.body.prepend(make("p", { id: "unreachable", role: "alert" }, "The inspected process has ended. The page keeps what it shows but cannot compute anything more."));
  };
}

start();
