// The page of runs side by side: what was sampled at one place, a line for each run. The data are those of comparison_data.
const families = [
  {title: 'Port', panels: ['queue', 'rate', 'paused', 'marks', 'drops']},
  {title: 'Switch', panels: ['buffer']},
  {title: 'Flow', panels: ['delivered', 'allowed']},
];

/** The names of what any run has sampled in these panels, the most active first. */
function namesOf(runs, ids) {
  const panels = runs.flatMap((run) => run.sampled.panels.filter((panel) => ids.includes(panel.id)));
  return [...new Set(panels.flatMap((panel) => panel.series.map((series) => series.name)))];
}

/** One line for each run that has sampled `name`. */
function linesOf(runs, id, name) {
  return runs.flatMap((run, index) => {
    const series = run.sampled.panels.find((panel) => panel.id === id)?.series.find((one) => one.name === name);
    if (!series) return [];
    return [{name: run.label, points: series.values.map((y, i) => ({x: run.sampled.times[i], y})), style: lineStyle(index), width: 1.5}];
  });
}

function drawPlace(figure, panel, runs, name) {
  clearPanel(figure);
  figure.querySelector('h3').textContent = `${panel.title}: ${shorten(name, 60)}`;
  drawChart(figure, {
    label: `${panel.title} of ${name} over time, a line for each run`,
    x: {title: 'Time', text: unitText.us, min: 0},
    y: {title: null, text: unitText[panel.unit] ?? plainText, fromZero: true},
    lines: linesOf(runs, panel.id, name),
    zoomGroup: 'time',
    empty: 'In no run was there any, or it is not among the most active that the page has.',
    caption: panel.note,
  });
}

/** The panels of one family, and the field that chooses the port, switch or flow that they show. */
function drawFamily({title, panels: ids}, runs) {
  const names = namesOf(runs, ids);
  if (names.length === 0) return;
  const panels = ids.flatMap((id) => runs.flatMap((run) => run.sampled.panels.filter((panel) => panel.id === id)).slice(0, 1));
  const figures = panels.map(() => make('figure', {class: 'panel'}, make('h3', {})));
  byId('sampled').append(...figures);
  const show = (name) => panels.forEach((panel, i) => attempt(() => drawPlace(figures[i], panel, runs, name)));
  const choice = make('select', {'aria-label': title, 'onchange': (event) => show(names[Number(event.currentTarget.value)])},
    ...names.map((name, index) => make('option', {value: index}, shorten(name, 60))));
  byId('places').append(make('label', {}, `${title} `, choice));
  show(names[0]);
}

function drawComparison() {
  const {runs} = JSON.parse(byId('data').textContent);
  setUpCharts();
  attempt(() => drawSlowdown(byId('slowdown'), runs));
  attempt(() => drawDistribution(byId('distribution'), runs));
  attempt(() => drawGoodput(byId('goodput'), runs));
  for (const family of families) attempt(() => drawFamily(family, runs));
  if (byId('sampled').childElementCount === 0) {
    byId('sampled').append(note('No run has a series.csv; outputs.series in the scenario asks for it.'));
  }
}

attempt(drawComparison);
// Told to whoever waits for it: everything is there.
document.documentElement.dataset.report = 'drawn';
