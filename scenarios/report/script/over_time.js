// What was sampled in one run: queues, rates, pauses, marks, buffers, flows.
const linesShownAtFirst = 5;

const familyOfPanel = {queue: 'port', rate: 'port', paused: 'port', marks: 'port', drops: 'port', buffer: 'switch'};

/** A port, switch or flow has the same colour in all panels, and all show the same ones at first: lookOf(panel) is a map by name. */
function looksByName(panels) {
  const families = new Map();
  for (const panel of panels) {
    const family = familyOfPanel[panel.id] ?? 'flow';
    if (!families.has(family)) families.set(family, new Map());
    const looks = families.get(family);
    for (const {name} of panel.series) {
      if (!looks.has(name)) looks.set(name, {style: lineStyle(looks.size), hidden: looks.size >= linesShownAtFirst});
    }
  }
  return (panel) => families.get(familyOfPanel[panel.id] ?? 'flow');
}

function drawSampledPanel(holder, panel, times, looks) {
  const figure = make('figure', {class: 'panel'}, make('h3', {}, panel.title));
  const shownFirst = [...panel.series].sort((a, b) => Number(looks.get(a.name).hidden) - Number(looks.get(b.name).hidden));
  holder.append(figure);
  const more = panel.sampled > panel.series.length ? ` ${countText(panel.series.length)} of ${countText(panel.sampled)}: those with the highest peaks.` : '';
  const chart = drawChart(figure, {
    label: `${panel.title} over time`,
    x: {title: 'Time', text: unitText.us, min: 0},
    y: {title: null, text: unitText[panel.unit] ?? plainText, fromZero: true},
    lines: shownFirst.map((series) => ({
      name: series.name,
      points: series.values.map((y, i) => ({x: times[i], y})),
      ...looks.get(series.name),
      width: 1.5,
    })),
    zoomGroup: 'time',
    empty: 'Nothing was sampled.',
    caption: panel.note + more,
  });
  if (chart && panel.series.length > linesShownAtFirst) addLineFilter(figure);
}

/** A field that leaves only the keys whose names have its text, and a button that hides all lines. */
function addLineFilter(figure) {
  const keys = [...figure.querySelectorAll('.keys button')];
  const filter = make('input', {
    'type': 'search', 'placeholder': 'Find a line', 'aria-label': 'Find a line by its name', 'size': 12,
    'oninput': (event) => {
      const text = event.currentTarget.value.toLowerCase();
      for (const key of keys) key.hidden = !key.title.toLowerCase().includes(text);
    },
  });
  const none = make('button', {
    type: 'button',
    onclick: () => {
      for (const key of keys) if (key.getAttribute('aria-pressed') === 'true') key.click();
    },
  }, 'Hide all');
  figure.querySelector('.tools').prepend(filter, none);
}

/** A strip of colours for each port: when it was paused. */
function drawPauseMap(figure, panel, times) {
  const rowsShown = 40;
  const cells = 120;
  figure.replaceChildren(figure.querySelector('h3'));
  figure.hidden = !panel;
  if (!panel) return;
  const end = times[times.length - 1];
  const rows = panel.series.slice(0, rowsShown).map((series) => {
    const heat = new Array(cells).fill(0);
    series.values.forEach((value, i) => {
      // The interval ends at its time; it colours every cell that it reaches into.
      const first = Math.floor((i === 0 ? 0 : times[i - 1]) / end * cells);
      const last = Math.min(Math.ceil(times[i] / end * cells), cells);
      for (let cell = first; cell < last; cell += 1) heat[cell] = Math.max(heat[cell], value);
    });
    const stops = heat.map((value, i) => `${heatColour(value)} ${i / cells * 100}% ${(i + 1) / cells * 100}%`);
    const worst = Math.max(...series.values);
    const strip = make('div', {'role': 'img', 'aria-label': `paused at most ${shareText(worst)} of an interval`});
    strip.style.background = `linear-gradient(90deg, ${stops.join(', ')})`;
    strip.addEventListener('pointermove', (event) => {
      const box = strip.getBoundingClientRect();
      const at = Math.min(Math.max(Math.floor((event.clientX - box.left) / box.width * cells), 0), cells - 1);
      showTip(`${shorten(series.name, 60)}\n${unitText.us((at + 0.5) / cells * end)}: paused ${shareText(heat[at])}`, event);
    });
    strip.addEventListener('pointerleave', () => showTip(null));
    return make('tr', {}, make('th', {scope: 'row', title: series.name}, shorten(series.name, 40)), make('td', {class: 'strip'}, strip));
  });
  figure.append(
    make('div', {'class': 'scroll tall', 'tabindex': 0, 'role': 'region', 'aria-label': 'Pause map'},
      make('table', {}, make('caption', {class: 'unseen'}, 'When ports were paused'),
        make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'Port'),
          make('th', {scope: 'col'}, `0 \u2013 ${unitText.us(end)}`))),
        make('tbody', {}, ...rows))),
    make('figcaption', {}, heatScale('never', 'all the time'), ' Share of each interval in which a port was paused by its peer.'));
}

function heatScale(low, high) {
  return make('span', {class: 'scale'}, low, make('i', {'aria-hidden': 'true'}), high);
}

function drawSampled(run) {
  const holder = byId('sampled');
  for (const figure of holder.children) clearPanel(figure);
  holder.replaceChildren();
  const {times, panels} = run.sampled;
  const drawn = panels.filter((panel) => panel.id !== 'paused');  // pauses have a map of their own
  const lookOf = looksByName(drawn);
  for (const panel of drawn) drawSampledPanel(holder, panel, times, lookOf(panel));
  if (panels.length === 0) holder.append(note('Nothing was sampled in this run; outputs in the scenario ask for time series.'));
  drawPauseMap(byId('pauses'), panels.find((panel) => panel.id === 'paused'), times);
}
