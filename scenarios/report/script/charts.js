// Line charts in panels of the page: what this report asks of Chart.js, and the keys and tools around a chart.
const Chart = globalThis.Chart;
delete globalThis.Chart;

const allCharts = new Set();

function applyTheme(chart) {
  for (const dataset of chart.data.datasets) {
    dataset.borderColor = colour(dataset.style.colour);
    dataset.backgroundColor = dataset.borderColor;
  }
  for (const scale of Object.values(chart.options.scales)) {
    scale.grid.color = colour('grid');
    scale.grid.borderColor = colour('line');
    scale.ticks.color = colour('soft');
    scale.title.color = colour('soft');
  }
  Object.assign(chart.options.plugins.tooltip, {
    backgroundColor: colour('text'), titleColor: colour('ground'), bodyColor: colour('ground'),
  });
}

function setUpCharts() {
  if (!Chart) return;
  Object.assign(Chart.defaults, {animation: false, responsive: true, maintainAspectRatio: false, parsing: false});
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  // One item of each visible line: the one nearest to the pointer along x.
  Chart.Interaction.modes.nearestOfEach = (chart, event) => {
    const items = [];
    for (const meta of chart.getSortedVisibleDatasetMetas()) {
      let best = null;
      meta.data.forEach((element, index) => {
        const distance = Math.abs(element.x - event.x);
        if (best === null || distance < best.distance) best = {distance, element, index};
      });
      if (best !== null) items.push({element: best.element, datasetIndex: meta.index, index: best.index});
    }
    return items;
  };
  onThemeChange(() => {
    for (const chart of allCharts) {
      applyTheme(chart);
      chart.resize();
      chart.update();
    }
  });
}

/** Few round numbers on a logarithmic axis: the fewer, the more powers of ten it spans. */
function isRoundTick(value, decades) {
  const mantissa = Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9) * 100) / 100;
  if (decades > 3) return mantissa === 1;
  return decades > 0.9 ? [1, 2, 5].includes(mantissa) : Number.isInteger(mantissa);
}

function scaleOptions(axis) {
  const ticks = {maxRotation: 0, autoSkip: true, autoSkipPadding: 14, callback: (value) => tickText(axis.text, value)};
  return {
    type: axis.log ? 'logarithmic' : 'linear',
    min: axis.min,
    max: axis.max,
    beginAtZero: axis.fromZero === true,
    title: {display: Boolean(axis.title), text: axis.title},
    afterBuildTicks: (scale) => {
      if (axis.log) scale.ticks = scale.ticks.filter((tick) => isRoundTick(tick.value, Math.log10(scale.max / scale.min)));
    },
    grid: {drawTicks: false},
    ticks,
  };
}

/** A logarithmic axis that holds the values with some room; a single value stands in its middle. */
function logRange(values, floor) {
  const positive = values.filter((value) => isNumber(value) && value > 0);
  if (positive.length === 0) return {};
  const low = Math.min(...positive);
  const high = Math.max(...positive);
  const room = high / low > 1.5 ? 1.15 : 2;
  return {min: Math.max(low / room, floor ?? 0), max: high * room};
}

function toDataset(line) {
  return {
    label: shorten(line.name, 60),
    data: line.points.filter((point) => isNumber(point.x) && isNumber(point.y)),
    hidden: line.hidden === true,
    style: line.style,
    borderDash: line.style.dash,
    borderWidth: line.width ?? 1.75,
    borderCapStyle: 'round',
    borderJoinStyle: 'round',
    pointRadius: line.dots ? 3 : 0,
    pointHoverRadius: 4,
    stepped: line.stepped ? 'before' : false,
  };
}

/** One button for each line, with its colour and dashes; pressing shows or hides it. */
function lineKeys(chart, lines) {
  const buttons = lines.map((line, index) => {
    const swatch = makeSvg('svg', {'width': 22, 'height': 8, 'aria-hidden': 'true'}, makeSvg('line', {
      'x1': 1, 'x2': 21, 'y1': 4, 'y2': 4, 'stroke-width': 2.5,
      'style': `stroke:var(--${line.style.colour})`, 'stroke-dasharray': line.style.dash.join(' '),
    }));
    return make('button', {
      'type': 'button', 'title': line.name, 'aria-pressed': String(line.hidden !== true),
      'onclick': (event) => {
        const show = !chart.isDatasetVisible(index);
        chart.setDatasetVisibility(index, show);
        event.currentTarget.setAttribute('aria-pressed', String(show));
        chart.update();
      },
    }, swatch, make('span', {}, shorten(line.name, 60)));
  });
  return make('div', {'class': 'keys', 'role': 'group', 'aria-label': 'Lines shown'}, ...buttons);
}

/**
 * Draws lines into `panel` (below its heading) and returns the chart, null if there is nothing to draw.
 * chart: label, x and y (title, text, log, min, max), lines (name, points, style, hidden, dots, stepped),
 * zoomGroup (charts of a group zoom together), empty (what to say instead of a chart), caption.
 */
function drawChart(panel, {label, x, y, lines, zoomGroup = null, empty, caption = null, byPoint = false}) {
  if (lines.every((line) => line.points.length === 0)) {
    panel.append(note(empty));
    return null;
  }
  if (!Chart) {
    panel.append(note('This build of simverbs has no chart library (Debian: libjs-chart.js); the tables have the numbers.'));
    return null;
  }
  const canvas = make('canvas', {'role': 'img', 'tabindex': 0, 'aria-label': label});
  const box = make('div', {class: 'canvas'}, canvas);
  const reset = make('button', {type: 'button', hidden: ''}, 'Whole range');
  panel.append(box, make('div', {class: 'tools'}, make('span', {class: 'spring'}), reset));
  const drag = {from: null, to: null};
  const chart = new Chart(canvas, {
    type: 'line',
    data: {datasets: lines.map(toDataset)},
    options: {
      scales: {x: scaleOptions(x), y: scaleOptions(y)},
      interaction: byPoint ? {mode: 'nearest', axis: 'xy', intersect: false} : {mode: 'nearestOfEach', intersect: false},
      plugins: {
        legend: {display: false},
        tooltip: {
          filter: (item, index) => index < 12,
          callbacks: {
            title: (items) => (items.length > 0 ? `${x.title}: ${x.text(items[0].parsed.x)}` : ''),
            label: (item) => ` ${item.dataset.label}: ${y.text(item.parsed.y)}`,
          },
        },
      },
    },
    plugins: [selectionPainter(drag)],
  });
  applyTheme(chart);
  chart.update();
  allCharts.add(chart);
  addZoom(chart, reset, zoomGroup, drag);
  if (lines.length > 1) panel.append(lineKeys(chart, lines));
  if (caption) panel.append(make('figcaption', {}, caption));
  return chart;
}

/** Takes a panel's chart away, and all below its heading. */
function clearPanel(panel) {
  for (const chart of allCharts) {
    if (panel.contains(chart.canvas)) {
      allCharts.delete(chart);
      chart.destroy();
    }
  }
  panel.replaceChildren(...panel.querySelectorAll(':scope > h3'));
}
