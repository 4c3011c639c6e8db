// The page of a task: what it does now, and a panel for each of its metrics.

import { Panel } from "./chart.js";
import { follow, tellTimes } from "./connection.js";
import { html, setAttribute, setText } from "./elements.js";
import { shortLabel } from "./scale.js";
import { panels, SECTIONS } from "./series.js";
import { parse } from "./wire.js";

const ENDED = new Set(["completed", "error", "cancelled"]);
const PERIOD_MS = 1000;
/** A task that ended may be resumed. */
const PERIOD_ENDED_MS = 3000;

const by = (id) => document.getElementById(id);
const live = by("live");
const drawn = new Map();
const sections = new Map();

follow(live.dataset.source, "application/json", async (response) => {
  const task = parse(await response.text());
  tell(task);
  draw(task.status_details.metrics ?? {});
  return ENDED.has(task.status) ? PERIOD_ENDED_MS : PERIOD_MS;
});
setInterval(() => tellTimes(by("facts")), 10_000);
new ResizeObserver(() => drawn.forEach((panel) => panel.draw())).observe(live);

function tell(task) {
  const details = task.status_details;
  document.title = `${live.dataset.job} · ${task.status}`;
  setAttribute(by("status"), "data-status", task.status);
  setText(by("status"), task.status);
  const done = details.percentage_done;
  by("progress").hidden = typeof done !== "number";
  if (typeof done === "number") by("progress").firstElementChild.value = done;
  const facts = [
    ["phase", details.phase],
    ["step", of(details.step, details.max_steps)],
    ["epoch", of(details.epoch, details.num_epochs)],
    ["done", typeof done === "number" ? `${done} %` : undefined],
    ["best val_loss", best(details)],
    ["backend", details.backend],
    ["checkpoint", details.checkpoint_path],
  ].filter(([, fact]) => typeof fact === "string" || typeof fact === "number");
  const entries = facts.map(([name, fact]) => html("div", {}, html("dt", {}, name), html("dd", {}, String(fact))));
  const updated = html("div", {}, html("dt", {}, "updated"), html("dd", {}, html("time", { datetime: task.updated_at })));
  by("facts").replaceChildren(...entries, updated);
  tellTimes(by("facts"));
  const failure = task.error_details?.message;
  said(by("message"), details.message === failure ? "" : details.message);
  const [what, stack] = by("error").children;
  // The service keeps what an earlier try has failed with.
  by("error").hidden = task.status !== "error" || !(task.error_details || task.error_stack);
  said(what, failure ?? (task.error_details && JSON.stringify(task.error_details)));
  said(stack, task.error_stack);
}

function draw(metrics) {
  const found = panels(metrics);
  const steps = found.flatMap(({ series }) => series.flatMap(({ points }) => [points[0].step, points.at(-1).step]));
  const first = steps.reduce((one, other) => Math.min(one, other), Infinity);
  const last = steps.reduce((one, other) => Math.max(one, other), -Infinity);
  // One step alone stands in the middle.
  const domain = first === last ? [Math.max(first - 1, 0), last + 1] : [first, last];
  const empty = by("empty") ?? html("p", { id: "empty", class: "empty" }, "No values yet. Curves appear with the first step that is reported.");
  if (found.length === 0) live.replaceChildren(empty);
  else empty.remove();
  for (const [key, panel] of drawn) {
    if (found.some((each) => each.key === key)) continue;
    panel.element.remove();
    drawn.delete(key);
  }
  for (const name of SECTIONS) {
    const within = found.filter(({ section }) => section === name);
    place(name, within.map(({ key, title }) => panelOf(key, title).element));
  }
  for (const { key, series } of found) drawn.get(key).update(series, domain);
}

function panelOf(key, title) {
  if (!drawn.has(key)) drawn.set(key, new Panel(title, point));
  return drawn.get(key);
}

function point(step) {
  for (const panel of drawn.values()) panel.show(step);
}

function place(name, elements) {
  if (elements.length === 0) {
    sections.get(name)?.remove();
    sections.delete(name);
    return;
  }
  if (!sections.has(name)) {
    sections.set(name, html("section", {}, html("h2", {}, name), html("div", { class: "panels" })));
    live.append(...SECTIONS.filter((each) => sections.has(each)).map((each) => sections.get(each)));
  }
  setAttribute(sections.get(name), "class", elements.length === 1 ? "single" : "several");
  const around = sections.get(name).lastElementChild;
  // Only where something is new: an element that is moved loses its focus.
  if (elements.some((element, index) => around.children[index] !== element)) around.append(...elements);
}

function of(done, all) {
  return typeof done === "number" && typeof all === "number" ? `${done} of ${all}` : done;
}

function best({ best_val_loss: loss, best_val_step: step }) {
  return typeof loss === "number" && typeof step === "number" ? `${shortLabel(loss)} at step ${step}` : undefined;
}

function said(element, text) {
  element.hidden = typeof text !== "string" || text === "";
  if (!element.hidden) setText(element, text);
}
