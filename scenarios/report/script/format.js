// Numbers as a reader wants them: three digits and a unit. What is no finite number is a dash.
const NO_NUMBER = '\u2013';

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

function threeDigits(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1000) return String(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

function withUnit(value, units) {
  if (!isNumber(value)) return NO_NUMBER;
  let unit = 0;
  while (unit + 1 < units.length && Math.abs(value) >= 999.5) {
    value /= 1000;
    unit += 1;
  }
  return `${threeDigits(value)} ${units[unit]}`;
}

function plainText(value) {
  if (!isNumber(value)) return NO_NUMBER;
  const size = Math.abs(value);
  return size === 0 || (size >= 0.1 && size < 1e6) ? threeDigits(value) : value.toPrecision(3);
}

function countText(value) {
  return isNumber(value) ? Math.round(value).toLocaleString('en-US') : NO_NUMBER;
}

function shareText(value) {
  return isNumber(value) ? `${threeDigits(Math.round(value * 1e4) / 100)}%` : NO_NUMBER;
}

/** By the units that the data name. Times are in microseconds. */
const unitText = {
  'B': (value) => withUnit(value, ['B', 'KB', 'MB', 'GB', 'TB', 'PB']),
  'b/s': (value) => withUnit(value, ['b/s', 'Kb/s', 'Mb/s', 'Gb/s', 'Tb/s']),
  'us': (value) => withUnit(isNumber(value) ? value * 1e6 : value, ['ps', 'ns', 'us', 'ms', 's']),
  'share': shareText,
  '1/s': (value) => withUnit(value, ['/s', 'K/s', 'M/s', 'G/s']),
  'x': plainText,
};

/** Text for an axis: without zeros that say nothing. */
function tickText(text, value) {
  return value === 0 ? '0' : text(value).replace(/\.(\d*?)0+(?=\D|$)/, (_, digits) => (digits ? `.${digits}` : ''));
}

function plural(count, one, many) {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** At most `most` characters; the middle goes, as names differ at their ends. */
function shorten(text, most) {
  if (text.length <= most) return text;
  const half = Math.floor((most - 1) / 2);
  return `${text.slice(0, half)}\u2026${text.slice(-half)}`;
}
