// Zooming along x: dragging over a chart, or its keys: + and - zoom, arrows move, 0 or Escape show all.
const zoomGroups = new Map();

function chartsOfGroup(chart, group) {
  return group === null ? [{chart}] : zoomGroups.get(group).filter((member) => allCharts.has(member.chart));
}

/** Shows `range` of x in all charts of the group; null: everything. */
function setRange(chart, group, range) {
  if (range !== null) {
    range = {min: Math.max(range.min, chart.extent.min), max: Math.min(range.max, chart.extent.max)};
    if (!(range.min < range.max) || (range.min === chart.extent.min && range.max === chart.extent.max)) range = null;
  }
  for (const member of chartsOfGroup(chart, group)) {
    Object.assign(member.chart.options.scales.x, range ?? member.chart.wholeX);
    member.chart.resetButton.hidden = range === null;
    member.chart.update();
  }
}

/** The part from fraction `from` to fraction `to` of what is shown. */
function shownPart(chart, from, to) {
  const {left, right} = chart.chartArea;
  const value = (fraction) => chart.scales.x.getValueForPixel(left + (right - left) * fraction);
  return {min: value(from), max: value(to)};
}

function onZoomKey(chart, group, event) {
  const parts = {'+': [0.25, 0.75], '=': [0.25, 0.75], '-': [-0.5, 1.5], 'ArrowLeft': [-0.2, 0.8], 'ArrowRight': [0.2, 1.2]};
  const isReset = event.key === '0' || event.key === 'Escape';
  if (event.ctrlKey || event.metaKey || event.altKey || !(isReset || event.key in parts)) return;
  event.preventDefault();
  setRange(chart, group, isReset ? null : shownPart(chart, ...parts[event.key]));
}

function selectionPainter(drag) {
  return {
    id: 'selection',
    afterDraw(chart) {
      if (drag.from === null) return;
      const {top, bottom} = chart.chartArea;
      chart.ctx.save();
      chart.ctx.globalAlpha = 0.18;
      chart.ctx.fillStyle = colour('accent');
      chart.ctx.fillRect(Math.min(drag.from, drag.to), top, Math.abs(drag.to - drag.from), bottom - top);
      chart.ctx.restore();
    },
  };
}

function addZoom(chart, reset, group, drag) {
  const shortest = 8;  // pixels; less is a click
  const canvas = chart.canvas;
  chart.resetButton = reset;
  chart.wholeX = {min: chart.options.scales.x.min, max: chart.options.scales.x.max};
  chart.extent = {min: chart.scales.x.min, max: chart.scales.x.max};
  if (group !== null) zoomGroups.set(group, [...(zoomGroups.get(group) ?? []), {chart}]);
  const inside = (event) => {
    const at = event.clientX - canvas.getBoundingClientRect().left;
    return Math.min(Math.max(at, chart.chartArea.left), chart.chartArea.right);
  };
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    drag.from = drag.to = inside(event);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (drag.from === null) return;
    drag.to = inside(event);
    chart.draw();
  });
  canvas.addEventListener('pointercancel', () => {
    drag.from = null;
    chart.draw();
  });
  canvas.addEventListener('pointerup', () => {
    if (drag.from === null) return;
    const [low, high] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
    drag.from = null;
    if (high - low < shortest) {
      chart.draw();
      return;
    }
    setRange(chart, group, {min: chart.scales.x.getValueForPixel(low), max: chart.scales.x.getValueForPixel(high)});
  });
  canvas.addEventListener('dblclick', () => setRange(chart, group, null));
  canvas.addEventListener('keydown', (event) => onZoomKey(chart, group, event));
  reset.addEventListener('click', () => setRange(chart, group, null));
}
