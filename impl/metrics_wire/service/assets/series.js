// Series by name: the panel in which a series is drawn, the section of that panel, and what is missing in its steps.

export const SECTIONS = ["Loss", "Reward", "Validation", "Diagnostics", "Timing"];

const PHASED = /^(train|val)_(.+)$/s;
const OF_A_SET = /^@([^/@]*)\/(.+)$/s;
const FIRST = new Set(["loss", "reward"]);

/** What the name of a series tells: its metric, whose it is, and whether it is a duration. */
export function parsed(name) {
  const phased = PHASED.exec(name);
  if (phased === null) return { metric: name, label: name, phase: "", isTiming: false };
  const phase = phased[1];
  const isTiming = phased[2].startsWith("timing/");
  let metric = isTiming ? phased[2].slice("timing/".length) : phased[2];
  let label = phase;
  if (phase === "val") {
    const ofSet = OF_A_SET.exec(metric);
    if (ofSet !== null) {
      label = `val ${ofSet[1].replaceAll("%40", "@").replaceAll("%2F", "/").replaceAll("%25", "%")}`;
      metric = ofSet[2];
    }
    if (metric.startsWith("@@/")) metric = metric.slice("@@/".length);
  }
  return { metric, label, phase, isTiming };
}

/**
 * The panels of `{series: [{step, epoch, value}, ...]}`, in the order in which they are shown.
 * Series without a point are in no panel: a loss is always listed, also where nothing observed one.
 */
export function panels(metrics) {
  const found = new Map();
  for (const [name, points] of Object.entries(metrics)) {
    if (points.length === 0) continue;
    const { metric, label, phase, isTiming } = parsed(name);
    const key = `${isTiming ? "timing" : "metric"}/${metric}`;
    if (!found.has(key)) found.set(key, { key, title: metric, isTiming, series: [] });
    found.get(key).series.push({ name, label, phase, points });
  }
  const all = [...found.values()];
  for (const panel of all) {
    panel.section = section(panel);
    panel.series.sort((one, other) => compared(one.label, other.label));
  }
  const rank = (panel) => SECTIONS.indexOf(panel.section) * 2 + (FIRST.has(panel.title) ? 0 : 1);
  return all.sort((one, other) => rank(one) - rank(other) || compared(one.title, other.title));
}

/**
 * The runs of points between which steps are missing, and those steps.
 * Missing is what a series that is otherwise regular leaves out: two of its usual strides at once, or more.
 */
export function regularity(points) {
  const strides = points.slice(1).map((point, index) => point.step - points[index].step);
  const usual = strides.length < 3 ? Infinity : strides.toSorted((one, other) => one - other)[(strides.length - 1) >> 1];
  const runs = [];
  const gaps = [];
  let first = 0;
  strides.forEach((stride, index) => {
    if (stride < 2 * usual) return;
    runs.push(points.slice(first, index + 1));
    gaps.push([points[index].step + usual, points[index + 1].step - (stride % usual || usual)]);
    first = index + 1;
  });
  runs.push(points.slice(first));
  return { runs, gaps };
}

function section({ title, isTiming, series }) {
  if (isTiming) return "Timing";
  if (/(^|[^a-z])loss$/i.test(title)) return "Loss";
  if (/(^|[^a-z])(reward|return|score)s?([^a-z]|$)/i.test(title)) return "Reward";
  return series.every(({ phase }) => phase === "val") ? "Validation" : "Diagnostics";
}

function compared(one, other) {
  return one < other ? -1 : Number(one > other);
}
