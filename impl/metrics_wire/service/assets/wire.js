// Tasks as the service writes them.

/** Integers beyond the 15 digits that a number of this language holds exactly. */
const LONG_INTEGER = /"value": ?-?\d{16}/;

/** The task in an answer. A point whose value is such an integer has its digits as `exact`, where they can be read. */
export function parse(text) {
  return LONG_INTEGER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

function keepDigits(key, value, context) {
  if (key === "value" && Number.isInteger(value) && !Number.isSafeInteger(value) && context) this.exact = context.source;
  return value;
}
