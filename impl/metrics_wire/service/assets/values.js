// The values of one panel as a table: a row for each step, a column for each series. Rows exist only while it is open.

import { html } from "./elements.js";

export class ValuesTable {
  constructor(title) {
    this.series = [];
    this.shown = "";
    this.head = html("thead");
    this.body = html("tbody");
    this.summary = html("summary", {}, "Values");
    const caption = html("caption", { class: "unseen" }, `Values of ${title}`);
    // What scrolls can be reached, and thereby scrolled, with the keyboard.
    const around = { class: "scroll", tabindex: "0", role: "region", "aria-label": `Values of ${title}` };
    const table = html("table", { class: "values" }, caption, this.head, this.body);
    this.element = html("details", {}, this.summary, html("div", around, table));
    this.element.addEventListener("toggle", () => this.#fill());
  }

  update(series) {
    this.series = series;
    this.#fill();
  }

  #fill() {
    if (!this.element.open) {
      this.shown = "";
      this.body.replaceChildren();
      return;
    }
    const state = JSON.stringify(this.series.map(({ name, points }) => [name, points]));
    if (state === this.shown) return;
    this.shown = state;
    const heading = (text, attributes = {}) => html("th", { scope: "col", ...attributes }, text);
    const columns = this.series.map(({ name }) => heading(name, { "data-series": name }));
    this.head.replaceChildren(html("tr", {}, heading("step"), heading("epoch"), ...columns));
    this.body.replaceChildren(...rows(this.series));
  }
}

function rows(series) {
  const byStep = new Map();
  series.forEach(({ points }, column) => {
    for (const { step, epoch, value, exact } of points) {
      const text = exact ?? (Object.is(value, -0) ? "-0.0" : String(value));
      const key = `${step} ${epoch}`;
      if (!byStep.has(key)) byStep.set(key, { step, epoch, values: series.map(() => "") });
      byStep.get(key).values[column] = text;
    }
  });
  const ascending = [...byStep.values()].sort((one, other) => one.step - other.step || one.epoch - other.epoch);
  return ascending.map(({ step, epoch, values }) => {
    const cells = [epoch, ...values].map((text) => html("td", {}, String(text)));
    return html("tr", {}, html("th", { scope: "row" }, String(step)), ...cells);
  });
}
