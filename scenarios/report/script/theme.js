// Colours come from the style sheet, which knows light and dark.
const SERIES_COLOURS = 7;
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** How the n-th line of a chart is told from the others. */
function lineStyle(n) {
  return {colour: `series-${n % SERIES_COLOURS}`, dash: DASHES[Math.floor(n / SERIES_COLOURS) % DASHES.length]};
}

/** From pale to strong as `share` goes from 0 to 1. */
function heatColour(share) {
  const steps = 4;
  const at = Math.min(Math.max(isNumber(share) ? share : 0, 0), 1) * steps;
  const low = Math.min(Math.floor(at), steps - 1);
  const percent = Math.round((at - low) * 100);
  return `color-mix(in oklab, var(--heat-${low + 1}) ${percent}%, var(--heat-${low}))`;
}

/** Calls change() when the colours have changed: another scheme, before and after printing. */
function onThemeChange(change) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', change);
  addEventListener('beforeprint', () => {
    document.documentElement.classList.add('printing');
    change();
  });
  addEventListener('afterprint', () => {
    document.documentElement.classList.remove('printing');
    change();
  });
}
