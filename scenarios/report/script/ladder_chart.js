// The chart of the diagram. Everything in it is a stretch from one point to another, drawn by Chart.js as a line; what is
// near the pointer is found among the same stretches.
const PACKET_LOOKS = {
  request: {name: 'request', colour: 'series-0'},
  response: {name: 'response with data', colour: 'series-5', dash: [7, 3]},
  ack: {name: 'ACK', colour: 'series-6', dash: [3, 3]},
  nak: {name: 'NAK', colour: 'bad', width: 2.5},
  rnr: {name: 'RNR NAK', colour: 'series-4', width: 2.5},
  again: {name: 'retransmission', colour: 'series-1', width: 2.5},
  mad: {name: 'CM MAD', colour: 'series-2'},
  cnp: {name: 'CNP', colour: 'series-3', dash: [2, 2]},
};
const STATE_LOOKS = {
  RESET: {colour: 'state-reset'}, INIT: {colour: 'state-init'}, RTR: {colour: 'state-rtr'}, RTS: {colour: 'state-rts'},
  SQD: {colour: 'state-sqd'}, SQE: {colour: 'state-sqe'}, ERR: {colour: 'state-err'},
};
const WORK_LOOKS = {
  send: {name: 'send, completed', colour: 'work-send'},
  receive: {name: 'receive, completed', colour: 'work-receive'},
  error: {name: 'completed in error', colour: 'bad'},
  open: {name: 'never completed', colour: 'work-open'},
};
const NEAR = 7;  // pixels from the pointer
const GAP_TOLD = 50_000_000;  // picoseconds: a pause that is written into the diagram

const lookOfPacket = (packet) => (packet.again && packet.kind === 'request' ? 'again' : packet.kind);

function lookOfWork(work) {
  if (work.status === undefined) return 'open';
  if (work.status !== 'SUCCESS') return 'error';
  return work.send ? 'send' : 'receive';
}

/** Stretches {kind, look, of, x0, t0, x1, t1, width, end ('arrow', 'cross', '')} of a part, by their layout. */
function stretchesOf(part, layout) {
  const out = [];
  for (const state of part.states) {
    const x = layout.places.get(state.qp).state;
    out.push({kind: 'state', look: state.name, of: state, x0: x, t0: state.t, x1: x, t1: state.end, width: layout.size.state, end: ''});
  }
  for (const work of part.works) {
    const places = layout.places.get(work.qp);
    const x = (work.send ? places.sends : places.receives)[work.lane];
    out.push({kind: 'work', look: lookOfWork(work), of: work, x0: x, t0: work.t, x1: x, t1: work.shownEnd, width: layout.size.work - 2, end: ''});
  }
  for (const packet of part.packets) {
    const from = layout.lines.get(packet.from);
    const to = layout.lines.get(packet.to) ?? from + 60;
    const isGone = packet.fate === 'lost' || packet.fate === 'discarded' || packet.fate === 'under way';
    const reach = isGone ? 0.55 : 1;
    out.push({
      kind: 'packet', look: lookOfPacket(packet), of: packet, x0: from, t0: packet.t,
      x1: from + (to - from) * reach, t1: packet.r ?? packet.t, width: 2,
      end: packet.fate === 'under way' ? '' : isGone || packet.fate === 'corrupt' || packet.fate === 'trimmed' ? 'cross' : 'arrow',
    });
  }
  for (const event of part.events) {
    if (event.kind !== 'timeout' && event.kind !== 'error state') continue;
    const x = layout.lines.get(event.port);
    if (x !== undefined) out.push({kind: 'mark', look: 'mark', of: event, x0: x, t0: event.t, x1: x, t1: event.t, width: 10, end: 'mark'});
  }
  return out;
}

function datasetOf(name, order, look, more) {
  return {
    label: name, data: [], order, style: {colour: look.colour}, borderDash: look.dash ?? [], borderWidth: look.width ?? 1.7,
    borderCapStyle: 'butt', parsing: {xAxisKey: 'x', yAxisKey: 'y'}, pointRadius: 0, pointHoverRadius: 0, spanGaps: false, ...more,
  };
}

/** Ends of stretches: arrowheads turned along them, crosses, marks. */
function endsOf(name, style, colourName, radius) {
  return {
    label: name, data: [], order: 1, style: {colour: colourName}, showLine: false, pointStyle: style, pointRadius: radius,
    pointHoverRadius: radius, pointBorderWidth: style === 'crossRot' ? 3 : 1, parsing: {xAxisKey: 'x', yAxisKey: 'y'},
    pointRotation: (context) => context.raw?.rotation ?? 0,
  };
}

function makeDatasets() {
  const sets = new Map();
  sets.set('line', datasetOf('hosts', 9, {colour: 'soft', width: 2}, {}));
  for (const [name, look] of Object.entries(STATE_LOOKS)) sets.set(`state ${name}`, datasetOf(name, 8, look, {}));
  for (const [name, look] of Object.entries(WORK_LOOKS)) sets.set(`work ${name}`, datasetOf(name, 7, look, {}));
  sets.set('chosen', datasetOf('chosen', 6, {colour: 'chosen', width: 9}, {borderCapStyle: 'round'}));
  for (const [name, look] of Object.entries(PACKET_LOOKS)) {
    sets.set(`packet ${name}`, datasetOf(name, 3, look, {}));
    sets.set(`arrow ${name}`, endsOf(`${name} ends`, 'triangle', look.colour, 5));
  }
  sets.set('cross', endsOf('lost', 'crossRot', 'bad', 8));
  sets.set('mark', endsOf('timeouts and errors', 'rectRot', 'bad', 7));
  return sets;
}

function distanceTo(stretch, x, y) {
  const [dx, dy] = [stretch.x1 - stretch.x0, stretch.y1 - stretch.y0];
  const length = dx * dx + dy * dy;
  const share = length === 0 ? 0 : Math.min(Math.max(((x - stretch.x0) * dx + (y - stretch.y0) * dy) / length, 0), 1);
  return Math.hypot(x - stretch.x0 - share * dx, y - stretch.y0 - share * dy);
}

/** Texts on the canvas: along arrows, in states, for long pauses. Each is left out where it has no room. */
function writeTexts(chart, view) {
  const {ctx, chartArea} = chart;
  const font = Chart.defaults.font.family;
  ctx.save();
  ctx.beginPath();
  ctx.rect(chartArea.left, chartArea.top, chartArea.width, chartArea.height);
  ctx.clip();
  ctx.textAlign = 'center';
  ctx.lineJoin = 'round';
  const taken = [];
  const write = (text, x, y, angle, ink, baseline) => {
    ctx.save();
    ctx.translate(x, y);
    ctx.rotate(angle);
    ctx.textBaseline = baseline;
    ctx.lineWidth = 3.5;
    ctx.strokeStyle = colour('surface');
    const lift = baseline === 'bottom' ? -2 : 0;
    ctx.strokeText(text, 0, lift);
    ctx.fillStyle = colour(ink);
    ctx.fillText(text, 0, lift);
    ctx.restore();
  };
  for (const {x0, x1, y0, y1, kind, of, look} of view.visible) {
    if (kind === 'packet') {
      ctx.font = `${view.isNarrow ? 11 : 13}px ${font}`;
      const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
      const room = Math.hypot(x1 - x0, y1 - y0) - 24;
      const text = arrowTexts(of).find((candidate) => ctx.measureText(candidate).width <= room);
      const key = Math.min(x0, x1);
      if (!text || taken.some((other) => other.key === key && Math.abs(other.y - y) < 13)) continue;
      taken.push({key, y});
      let angle = Math.atan2(y1 - y0, x1 - x0);
      if (Math.abs(angle) > Math.PI / 2) angle -= Math.sign(angle) * Math.PI;
      write(text, x, y, angle, ['ack', 'response', 'request'].includes(look) ? 'text' : PACKET_LOOKS[look].colour, 'bottom');
    } else if (kind === 'state') {
      ctx.font = `600 10px ${font}`;
      const [top, bottom] = [Math.max(y0, chartArea.top), Math.min(y1, chartArea.bottom)];
      if (bottom - top < ctx.measureText(of.name).width + 6) continue;
      ctx.save();
      ctx.translate(x0, (top + bottom) / 2);
      ctx.rotate(-Math.PI / 2);
      ctx.textBaseline = 'middle';
      ctx.fillStyle = colour('on-state');
      ctx.fillText(of.name, 0, 0);
      ctx.restore();
    } else if (kind === 'mark') {
      ctx.font = `600 12px ${font}`;
      ctx.textAlign = x0 < (chartArea.left + chartArea.right) / 2 ? 'left' : 'right';
      const text = of.kind === 'timeout' ? 'ACK timeout' : 'to the error state';
      write(text, x0 + (ctx.textAlign === 'left' ? 10 : -10), y0 - 3, 0, 'bad', 'bottom');
      ctx.textAlign = 'center';
    }
  }
  ctx.font = `11px ${font}`;
  for (const {y, text} of view.pauses) {
    const x = (view.firstLine + view.lastLine) / 2;
    if (!taken.some((other) => Math.abs(other.y - y) < 14)) write(`\u22ee  ${text}  \u22ee`, x, y, 0, 'soft', 'middle');
  }
  ctx.restore();
}

function makeLadderChart(canvas, view) {
  const sets = makeDatasets();
  const chart = new Chart(canvas, {
    type: 'line',
    data: {datasets: [...sets.values()]},
    options: {
      responsive: false,
      events: [],
      layout: {padding: 0, autoPadding: false},
      scales: {
        x: {type: 'linear', display: false, min: 0, max: 1, grid: {display: false}, ticks: {}, title: {}},
        y: {
          type: 'linear', reverse: true, min: 0, max: 1, title: {display: false},
          grid: {drawTicks: false, drawBorder: false},
          afterBuildTicks: (scale) => {
            scale.ticks = view.ticks.map((tick) => ({value: tick.place}));
          },
          afterFit: (scale) => {
            scale.width = view.axisWidth;
            scale.paddingTop = scale.paddingBottom = 0;
          },
          ticks: {autoSkip: false, font: {size: view.isNarrow ? 10 : 12}, padding: 6, callback: (_, index) => view.ticks[index]?.text ?? ''},
        },
      },
      plugins: {legend: {display: false}, tooltip: {enabled: false}},
    },
    plugins: [{id: 'texts', afterDatasetsDraw: (chart) => writeTexts(chart, view)}],
  });
  chart.sets = sets;
  applyTheme(chart);
  allCharts.add(chart);
  return chart;
}

/** Puts what is visible of the stretches into the chart. places: of times, in pixels from the top of the plot. */
function fillChart(chart, visible, lines, range, chosen, size) {
  for (const [name, set] of chart.sets) {
    set.data = [];
    if (name.startsWith('state ')) set.borderWidth = size.state;
    if (name.startsWith('work ')) set.borderWidth = size.work - 2;
  }
  const put = (name, stretch) => chart.sets.get(name).data.push({x: stretch.x0, y: stretch.u0}, {x: stretch.x1, y: stretch.u1}, {x: null, y: null});
  for (const x of lines) put('line', {x0: x, x1: x, u0: range.min, u1: range.max});
  for (const stretch of visible) {
    const {kind, look, end, x1, u1} = stretch;
    if (stretch.of === chosen) put('chosen', stretch);
    if (kind !== 'mark') put(`${kind} ${look}`, stretch);
    if (end === 'arrow') {
      const rotation = Math.atan2(stretch.y1 - stretch.y0, stretch.x1 - stretch.x0) * 180 / Math.PI + 90;
      // The tip, not the middle, is at the line.
      const back = 4 * Math.sign(stretch.x1 - stretch.x0);
      chart.sets.get(`arrow ${look}`).data.push({x: x1 - back, y: u1, rotation});
    } else if (end !== '') {
      chart.sets.get(end).data.push({x: x1, y: u1});
    }
  }
  chart.update('none');
}
