// Charts in which all runs stand together: slowdown by flow size, distributions, goodput.
const percentiles = [['p50', 2], ['p95', 3], ['p99', 4]];  // and where a bin has them

/** Of one run, each percentile has its colour; of several, each run has, and the percentiles are chosen by buttons. */
function slowdownLines(runs, chosen) {
  const lines = [];
  runs.forEach((run, index) => {
    percentiles.forEach(([name, column], order) => {
      if (runs.length > 1 && name !== chosen) return;
      lines.push({
        name: runs.length > 1 ? run.label : name,
        points: run.bins.map((bin) => ({x: bin[0], y: bin[column]})),
        style: lineStyle(runs.length > 1 ? index : order),
        dots: true,
      });
    });
  });
  return lines;
}

function drawSlowdown(panel, runs, chosen = 'p99') {
  clearPanel(panel);
  const bins = runs.flatMap((run) => run.bins);
  if (runs.length > 1 && bins.length > 0) {
    panel.append(make('div', {class: 'tools'}, choiceButtons('Percentile', percentiles.map(([name]) => [name, name]), chosen,
      (name) => drawSlowdown(panel, runs, name))));
  }
  const columns = runs.length > 1 ? percentiles.filter(([name]) => name === chosen) : percentiles;
  const values = bins.flatMap((bin) => columns.map(([, column]) => bin[column]));
  const log = Math.max(...values) > 8;
  drawChart(panel, {
    label: `Slowdown of flow completion times by flow size${runs.length > 1 ? `, ${chosen} of each run` : ''}`,
    x: {title: 'Flow size', text: unitText.B, log: true, ...logRange(bins.map((bin) => bin[0]))},
    y: {title: 'FCT slowdown', text: plainText, log, ...(log ? logRange(values, 0.9) : {fromZero: true})},
    lines: slowdownLines(runs, chosen),
    byPoint: true,
    empty: 'No flow has completed.',
    caption: 'Flow completion time (start to last ACK) over that in the empty network; flows in four bins for each power of ten.',
  });
  slowdownTable(panel, runs);
}

/** The numbers of the slowdown chart, of all runs and percentiles. */
function slowdownTable(panel, runs) {
  if (runs.every((run) => run.bins.length === 0)) return;
  const several = runs.length > 1;
  const heads = [...(several ? ['Run'] : []), 'Flow size', 'Flows', ...percentiles.map(([name]) => name)];
  const rows = runs.flatMap((run) => run.bins.map((bin) => make('tr', {},
    ...(several ? [make('td', {title: run.label}, shorten(run.label, 32))] : []),
    make('th', {scope: 'row'}, unitText.B(bin[0])), make('td', {class: 'number'}, countText(bin[1])),
    ...percentiles.map(([, column]) => make('td', {class: 'number'}, plainText(bin[column]))))));
  panel.append(make('details', {}, make('summary', {}, 'As a table'),
    make('div', {'class': 'scroll tall', 'tabindex': 0, 'role': 'region', 'aria-label': 'FCT slowdown by flow size'},
      make('table', {}, make('caption', {class: 'unseen'}, 'FCT slowdown by flow size'),
        make('thead', {}, make('tr', {}, ...heads.map((head) => make('th', {scope: 'col', class: /^(Flows|p\d+)$/.test(head) ? 'number' : ''}, head)))),
        make('tbody', {}, ...rows)))));
}

function drawDistribution(panel, runs, quantity = 'fct', tail = false) {
  clearPanel(panel);
  const unit = quantity === 'fct' ? unitText.us : plainText;
  const values = runs.flatMap((run) => run.distributions[quantity].x);
  if (values.length > 0) {
    panel.append(make('div', {class: 'tools'},
      choiceButtons('Quantity', [['fct', 'FCT'], ['slowdown', 'Slowdown']], quantity,
        (chosen) => drawDistribution(panel, runs, chosen, tail)),
      choiceButtons('Form', [[false, 'CDF'], [true, 'Tail']], tail,
        (chosen) => drawDistribution(panel, runs, quantity, chosen))));
  }
  const shares = (run) => run.distributions[quantity].y.map((share) => (tail ? 1 - share : share));
  const above = runs.flatMap(shares).filter((share) => share > 1e-9);
  drawChart(panel, {
    label: `${tail ? 'Share of flows above' : 'Cumulative distribution of'} ${quantity === 'fct' ? 'flow completion time' : 'slowdown'}`,
    x: {title: quantity === 'fct' ? 'Flow completion time' : 'Slowdown', text: unit, log: true, ...logRange(values)},
    y: tail ? {title: 'Share of flows above', text: shareText, log: true, max: 1, min: Math.min(0.1, ...above)} :
      {title: 'Share of flows', text: shareText, min: 0, max: 1},
    lines: runs.map((run, index) => {
      const y = shares(run);
      return {
        name: run.label,
        points: run.distributions[quantity].x.map((x, i) => ({x, y: y[i]})).filter((point) => !tail || point.y > 1e-9),
        style: lineStyle(index),
        stepped: true,
      };
    }),
    byPoint: true,
    empty: 'No flow has completed.',
  });
}

function drawGoodput(panel, runs) {
  drawChart(panel, {
    label: 'Goodput of all flows over time',
    x: {title: 'Time', text: unitText.us, min: 0},
    y: {title: 'Goodput', text: unitText['b/s'], fromZero: true},
    lines: runs.map((run, index) => ({
      name: run.label,
      points: run.goodput.values.map((y, i) => ({x: run.goodput.step * (i + 0.5), y})),
      style: lineStyle(index),
    })),
    zoomGroup: 'time',
    empty: 'No bytes have arrived.',
    caption: 'All flows together; the bytes of a flow that has arrived count evenly from its start to its last byte. ' +
      'Drag over a chart to zoom, double-click to see all; with the keyboard + - \u2190 \u2192 and 0.',
  });
}
