// One panel: the curves of one metric over the steps, with a cursor that tells the values at a step.

import { html, setAttribute, setText, svg } from "./elements.js";
import { padded, scale, shortLabel, tickLabel, ticks } from "./scale.js";
import { regularity } from "./series.js";
import { ValuesTable } from "./values.js";

const HEIGHT = 200;
const TOP = 8;
const BOTTOM = 22;
const RIGHT = 10;
const LETTER = 6.2;
const COLOURS = 8;
/** Up to so many points each of them is marked: a curve of three points is three observations. */
const MARKED = 60;
const LISTED_GAPS = 4;
const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

export class Panel {
  /** @param point called with the step that the cursor is moved to, `null` where it is taken away. */
  constructor(title, point) {
    this.title = title;
    this.point = point;
    this.cursor = null;
    this.series = [];
    this.steps = [];
    this.drawn = new Map();
    this.at = html("span", { class: "at" });
    this.legend = html("ul", { class: "legend" });
    this.grid = svg("g", { class: "grid" });
    this.curves = svg("g", { class: "curves" });
    this.rule = svg("path", { class: "cursor" });
    this.marks = svg("path", { class: "cursor marks" });
    const slider = { role: "slider", tabindex: "0", "aria-label": `${title}, step`, class: "plot", height: HEIGHT };
    this.plot = svg("svg", slider, this.grid, this.curves, this.rule, this.marks);
    this.gaps = html("p", { class: "gaps", hidden: "" });
    this.table = new ValuesTable(title);
    const heading = html("header", {}, html("h3", {}, title), this.at);
    this.element = html("article", { class: "panel" }, heading, this.legend, this.plot, this.gaps, this.table.element);
    this.#listen();
  }

  /** Show these series over the steps of `domain`; only what changed is touched. */
  update(series, domain) {
    this.series = series.map((each, index) => ({ ...each, colour: colour(each, index) }));
    this.domain = domain;
    this.values = new Map(series.map(({ name, points }) => [name, new Map(points.map((each) => [each.step, each]))]));
    this.steps = [...new Set(series.flatMap(({ points }) => points.map(({ step }) => step)))].sort((a, b) => a - b);
    if (this.cursor !== null && this.cursor > domain[1]) this.cursor = null;
    this.#list();
    this.draw();
    this.table.update(series);
  }

  /** Draw for the width that there is. */
  draw() {
    const width = this.element.clientWidth - 2 * parseFloat(getComputedStyle(this.element).paddingLeft);
    if (!(width > 0)) return;
    const [low, high] = padded(this.series.flatMap(({ points }) => points.map(({ value }) => value)));
    const marked = ticks(low, high, 5);
    const labels = marked.values.map((value) => tickLabel(value, marked.step));
    const left = 10 + Math.ceil(LETTER * Math.max(...labels.map(({ length }) => length)));
    this.x = scale(...this.domain, left, width - RIGHT);
    this.y = scale(low, high, HEIGHT - BOTTOM, TOP);
    setAttribute(this.plot, "width", width);
    this.#axes(marked.values, labels, left, width);
    this.#lines();
    this.show(this.cursor);
  }

  /** Move the cursor to a step; `null` takes it away, and the newest values are told. */
  show(step) {
    this.cursor = step;
    const told = [];
    let marks = "";
    for (const { name, label, points } of this.series) {
      const point = step === null ? points.at(-1) : this.values.get(name).get(step);
      setText(this.drawn.get(name).value, point === undefined ? "–" : shortLabel(point.value));
      if (point === undefined) continue;
      told.push(`${label} ${shortLabel(point.value)}`);
      if (step !== null && this.x) marks += `M${pixels(this.x(step))} ${pixels(this.y(point.value))}h0`;
    }
    const shown = step ?? this.steps.at(-1);
    const epoch = this.series.map(({ name }) => this.values.get(name).get(shown)?.epoch).find((each) => each !== undefined);
    setText(this.at, `${step === null ? "last, " : ""}step ${shown}${epoch === undefined ? "" : `, epoch ${epoch}`}`);
    setAttribute(this.plot, "aria-valuenow", shown);
    setAttribute(this.plot, "aria-valuetext", `step ${shown}: ${told.join(", ") || "no value"}`);
    if (!this.x) return;
    setAttribute(this.rule, "d", step === null ? "" : `M${pixels(this.x(step))} ${TOP}V${HEIGHT - BOTTOM}`);
    setAttribute(this.marks, "d", marks);
  }

  #list() {
    const names = new Set(this.series.map(({ name }) => name));
    for (const [name, { item, line, dots }] of this.drawn) {
      if (names.has(name)) continue;
      for (const element of [item, line, dots]) element.remove();
      this.drawn.delete(name);
    }
    for (const { name, label, colour: style } of this.series) {
      if (!this.drawn.has(name)) {
        const value = html("span", { class: "value" });
        const item = html("li", { "data-series": name, title: name }, html("span", { class: "key" }), label, " ", value);
        const line = svg("path", { "data-series": name });
        const dots = svg("path", { "data-series": name });
        this.drawn.set(name, { value, item, line, dots });
        this.curves.append(line, dots);
      }
      const { item, line, dots } = this.drawn.get(name);
      setAttribute(item, "class", style);
      setAttribute(line, "class", `line ${style}`);
      setAttribute(dots, "class", `dots ${style}`);
      this.legend.append(item);
    }
    const { steps } = this;
    setAttribute(this.plot, "aria-valuemin", steps[0]);
    setAttribute(this.plot, "aria-valuemax", steps.at(-1));
  }

  #lines() {
    const place = ({ step, value }) => `${pixels(this.x(step))} ${pixels(this.y(value))}`;
    const missing = [];
    for (const { name, label, points } of this.series) {
      const { runs, gaps } = regularity(points);
      const { line, dots } = this.drawn.get(name);
      const alone = points.length <= MARKED ? points : runs.filter(({ length }) => length === 1).flat();
      setAttribute(line, "d", runs.map((run) => `M${run.map(place).join("L")}`).join(""));
      setAttribute(dots, "d", alone.map((point) => `M${place(point)}h0`).join(""));
      if (gaps.length > 0) missing.push(`${label} at ${listed(gaps)}`);
    }
    setText(this.gaps, missing.length > 0 ? `No value: ${missing.join("; ")}` : "");
    this.gaps.hidden = missing.length === 0;
  }

  #axes(values, labels, left, width) {
    const floor = HEIGHT - BOTTOM;
    const elements = [];
    values.forEach((value, index) => {
      const y = pixels(this.y(value));
      elements.push(svg("path", { d: `M${left} ${y}H${width - RIGHT}`, class: "y", "data-value": value }));
      elements.push(svg("text", { x: left - 6, y, class: "y" }, labels[index]));
    });
    const across = ticks(...this.domain, Math.max(2, Math.floor((width - left) / 70)), 1);
    for (const value of across.values) {
      const text = tickLabel(value, across.step);
      // The last label would be cut off where its half does not fit into the margin.
      const x = Math.min(this.x(value), width - (LETTER * text.length) / 2);
      elements.push(svg("path", { d: `M${pixels(this.x(value))} ${floor}v4`, class: "x", "data-value": value }));
      elements.push(svg("text", { x: pixels(x), y: floor + 16, class: "x" }, text));
    }
    elements.push(svg("path", { class: "base", d: `M${left} ${floor}H${width - RIGHT}` }));
    this.grid.replaceChildren(...elements);
  }

  #listen() {
    const { plot } = this;
    const follow = (event) => this.point(this.#nearest(event.clientX - plot.getBoundingClientRect().left));
    plot.addEventListener("pointermove", follow);
    plot.addEventListener("pointerdown", follow);
    // A finger leaves the plot when it is lifted, and the values are read after that.
    plot.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.point(null));
    plot.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.point(null);
      else if (event.key in KEYS) this.point(this.#moved(KEYS[event.key]));
      else return;
      event.preventDefault();
    });
  }

  #moved(by) {
    const last = this.steps.length - 1;
    const from = this.cursor === null ? last + 1 : this.steps.findIndex((step) => step >= this.cursor);
    return this.steps[Math.min(Math.max(from + by, 0), last)];
  }

  #nearest(x) {
    const distance = (step) => Math.abs(this.x(step) - x);
    return this.steps.reduce((best, step) => (distance(step) < distance(best) ? step : best));
  }
}

function colour({ phase, label }, index) {
  if (phase === "train") return "colour-0";
  return label === "val" ? "colour-1" : `colour-${index < 2 ? index + 2 : index % COLOURS}`;
}

function listed(gaps) {
  const first = gaps.slice(0, LISTED_GAPS).map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
  const rest = gaps.length - first.length;
  return first.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

function pixels(value) {
  return Math.round(value * 100) / 100;
}
