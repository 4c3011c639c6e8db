// Axes: where a number lies, and which round numbers are marked. Any finite number is fine, the largest ones included.

/** What a range from `low` to `high` is on the way from `from` to `to` pixels. */
export function scale(low, high, from, to) {
  const factor = Number.isFinite(high - low) ? 1 : 0.5;
  const span = high * factor - low * factor;
  return (value) => from + ((value * factor - low * factor) / span) * (to - from);
}

/** The range that shows all of `values`, with some room above and below. */
export function padded(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const room = low === high ? Math.abs(low) / 2 || 1 : high / 16 - low / 16 || Number.MIN_VALUE;
  return [Math.max(low - room, -Number.MAX_VALUE), Math.min(high + room, Number.MAX_VALUE)];
}

/** Round numbers from `low` to `high`, about `count` of them, and the distance between two. */
export function ticks(low, high, count, smallest = 0) {
  const rough = Math.max(high / count - low / count, smallest);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((each) => each >= rough * 0.999);
  const first = Math.ceil(low / step);
  const last = Math.floor(high / step);
  // Closer together than numbers are here, or further apart: the ends alone are marked.
  if (!(step > 0) || !(last - first < 4 * count) || first * step === (first + 1) * step) {
    return { values: [low, high], step: high / 2 - low / 2 || 1 };
  }
  return { values: Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step), step };
}

/** A tick's text, with as many digits as tell it from its neighbours. */
export function tickLabel(value, step) {
  if (value === 0) return "0";
  const digit = Math.floor(Math.log10(step) + 1e-9);
  if (Math.abs(value) >= 1e6 || digit < -4) {
    const digits = Math.min(Math.max(Math.floor(Math.log10(Math.abs(value)) + 1e-9) - digit, 0), 16);
    return minus(value.toExponential(digits).replace("e+", "e"));
  }
  return minus(value.toFixed(Math.max(-digit, 0)));
}

/** A value's text beside a chart: short, and never so short that a number reads as zero. */
export function shortLabel(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) return minus(String(value));
  return minus(size >= 1e-4 && size < 1e7 ? String(Number(value.toPrecision(5))) : value.toExponential(3).replace("e+", "e"));
}

function minus(text) {
  return text.replace("-", "−");
}
