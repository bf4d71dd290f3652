// The diagram as a reader uses it: scrolls through time, zooms, filters, steps from event to event.
const HEADS = 104;  // pixels, as in timeline.css
const STEP = 1.5;   // of a zoom
const HIGHEST = 8_000_000;  // pixels that browsers surely scroll

function legendOf() {
  const entry = (look, name, shape) => make('li', {}, makeSvg('svg', {'width': 22, 'height': 12, 'aria-hidden': 'true'}, shape(look)), name);
  const line = (look) => makeSvg('line', {'x1': 1, 'x2': 21, 'y1': 6, 'y2': 6, 'stroke-width': look.width ?? 2, 'stroke-dasharray': (look.dash ?? []).join(' '),
    'style': `stroke:var(--${look.colour})`});
  const band = (look) => makeSvg('rect', {x: 6, y: 0, width: 10, height: 12, rx: 1, style: `fill:var(--${look.colour})`});
  const title = (text) => make('li', {class: 'group'}, text);
  const cross = () => makeSvg('path', {'d': 'M6 1L16 11M16 1L6 11', 'stroke-width': 3, 'style': 'stroke:var(--bad)'});
  return make('ul', {class: 'legend'}, title('Packets'),
    ...Object.values(PACKET_LOOKS).map((look) => entry(look, look.name, line)), entry({}, 'lost or discarded', cross),
    title('QP states'), ...Object.entries(STATE_LOOKS).map(([name, look]) => entry(look, name, band)),
    title('Work requests'), ...Object.values(WORK_LOOKS).map((look) => entry(look, look.name, band)));
}

/** Makes the diagram in `figure`; returns show(thing or event), which brings it into view. */
function makeLadder(figure, data, tell) {
  const spans = stateSpans(data);
  const chosen = {qp: null, acks: true, receives: false, isTrueToScale: false};
  const view = {visible: [], pauses: [], ticks: [], axisWidth: 0, isNarrow: innerWidth < 560, selected: null, event: -1};
  const canvas = make('canvas', {'role': 'img', 'aria-label': 'Ladder diagram'});
  const plot = make('div', {class: 'plot'}, canvas);
  const heads = make('div', {class: 'heads'});
  const sticky = make('div', {class: 'sticky'}, heads, plot);
  const room = make('div', {class: 'room'}, sticky);
  const box = make('div', {'class': 'view', 'tabindex': 0, 'role': 'group', 'aria-label': 'Diagram: scroll to move through time, + and - zoom, 0 shows all'}, room);
  const told = make('span', {role: 'status'});
  const hiddenNote = make('figcaption', {});
  // Room for the longest time; digits are all as wide.
  view.axisWidth = 14 + Math.ceil(microseconds(data.end).length * (view.isNarrow ? 5.6 : 6.7));
  let part;
  let layout;
  let map;
  let stretches = [];
  let zoom = 1;  // pixels for each unit of the map

  const plotHeight = () => Math.max(box.clientHeight - HEADS, 100);
  const margin = 14;
  const setHeight = () => {
    room.style.height = `${Math.max(map.length * zoom + 2 * margin, plotHeight()) + HEADS}px`;
  };
  const topPlace = () => (box.scrollTop - margin) / zoom;

  function rebuild() {
    part = choosePart(data, spans, chosen);
    map = timeMap(timesOf(part), chosen.isTrueToScale);
    layout = layOut(part, data, box.clientWidth - view.axisWidth);
    stretches = stretchesOf(part, layout).map((stretch) => ({...stretch, u0: map.place(stretch.t0), u1: map.place(stretch.t1)}));
    const width = layout.width + view.axisWidth;
    room.style.width = `${Math.max(width, box.clientWidth)}px`;
    view.firstLine = Math.min(...layout.lines.values()) + view.axisWidth;
    view.lastLine = Math.max(...layout.lines.values()) + view.axisWidth;
    drawHeads();
    hiddenNote.textContent = part.hiddenQps > 0 ?
      `${plural(part.hiddenQps, 'more queue pair has', 'more queue pairs have')} packets here but no lane: choose one to see its states and work requests.` : '';
    view.event = -1;
    tellStep();
  }

  function drawHeads() {
    heads.replaceChildren(make('span', {class: 'axis'}, view.isNarrow ? 'us' : 'time in us'));
    for (const [port, x] of layout.lines)
      heads.append(make('span', {class: 'host', style: `left:${x + view.axisWidth}px`}, data.ports[port].name));
    for (const [qp, places] of layout.places) {
      heads.append(make('button', {
        'type': 'button', 'class': 'lane', 'style': `left:${places.state + view.axisWidth}px`, 'aria-pressed': String(chosen.qp === qp),
        'title': `only ${qpText(data, qp)}`, 'onclick': () => setQp(chosen.qp === qp ? null : qp),
      }, data.qps[qp].name));
    }
  }

  /** A zoom at which labels of packets that follow each other can be read. */
  function readableZoom() {
    const sent = distinct(part.packets.map((packet) => map.place(packet.t)));
    const steps = sent.slice(1).map((place, i) => place - sent[i]).sort((a, b) => a - b);
    const step = steps[Math.floor(steps.length / 4)] ?? map.length / 20;
    return limitZoom(24 / (step || 1));
  }
  const wholeZoom = () => (plotHeight() - 2 * margin) / (map.length || 1);
  const limitZoom = (value) => Math.min(Math.max(value, Math.min(wholeZoom(), 1)), HIGHEST / (map.length || 1));

  function draw() {
    const [width, height] = [parseFloat(room.style.width), plotHeight()];
    if (chart.width !== width || chart.height !== height) chart.resize(width, height);
    sticky.style.width = `${width}px`;
    const range = {min: topPlace(), max: topPlace() + height / zoom};
    const y = (place) => (place - range.min) * zoom;
    view.visible = stretches.filter((stretch) => Math.max(stretch.u0, stretch.u1) >= range.min && Math.min(stretch.u0, stretch.u1) <= range.max)
      .map((stretch) => ({...stretch, x0: stretch.x0 + view.axisWidth, x1: stretch.x1 + view.axisWidth, y0: y(stretch.u0), y1: y(stretch.u1)}));
    setTicks(range, y);
    Object.assign(chart.options.scales.y, range);
    Object.assign(chart.options.scales.x, {min: view.axisWidth, max: width});
    fillChart(chart, view.visible, [...layout.lines.values()].map((x) => x + view.axisWidth), range, view.selected, layout.size);
    const seen = view.visible.filter((stretch) => stretch.kind === 'packet').length;
    canvas.setAttribute('aria-label', `Ladder diagram: ${countText(seen)} of ${plural(part.packets.length, 'packet', 'packets')}, ` +
      `${microseconds(map.time(range.min))} to ${microseconds(map.time(range.max))} us; the tables below have them too`);
  }

  /** Times of what happens, as many as can be read; and the long pauses. */
  function setTicks(range, y) {
    view.ticks = [];
    view.pauses = [];
    let lastY = -Infinity;
    const first = Math.max(map.places.findIndex((place) => place >= range.min), 0);
    for (let i = first; i < map.places.length && map.places[i] <= range.max; i += 1) {
      const at = y(map.places[i]);
      if (at - lastY < 30) continue;
      view.ticks.push({place: map.places[i], text: microseconds(map.times[i])});
      lastY = at;
    }
    for (let i = Math.max(first, 1); i < map.places.length && map.places[i - 1] <= range.max; i += 1) {
      const apart = map.times[i] - map.times[i - 1];
      if (apart < GAP_TOLD || y(map.places[i]) - y(map.places[i - 1]) < 18) continue;
      view.pauses.push({y: (y(map.places[i]) + y(map.places[i - 1])) / 2, text: durationText(apart)});
    }
  }

  /** Zooms around a pixel of the plot. */
  function setZoom(value, around = plotHeight() / 2) {
    const place = topPlace() + around / zoom;
    zoom = limitZoom(value);
    setHeight();
    box.scrollTop = place * zoom - around + margin;
    draw();
  }

  function refresh(keepsTime) {
    const time = map ? map.time(topPlace() + plotHeight() / 3 / zoom) : 0;
    rebuild();
    zoom = readableZoom();
    setHeight();
    box.scrollTop = keepsTime ? map.place(time) * zoom - plotHeight() / 3 + margin : 0;
    draw();
  }

  function setQp(qp) {
    chosen.qp = qp;
    choice.value = qp === null ? '' : String(qp);
    refresh(true);
  }

  function thingAt(event) {
    const bounds = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
    let best = null;
    for (const stretch of view.visible) {
      const isBand = stretch.kind === 'state' || stretch.kind === 'work';
      const distance = distanceTo(stretch, x, y);
      if (distance > (isBand ? stretch.width / 2 + 1 : NEAR)) continue;
      // What is thin lies on what is wide.
      const rank = distance + {mark: 0, packet: 1, work: 20, state: 40}[stretch.kind];
      if (best === null || rank < best.rank) best = {rank, stretch};
    }
    return best?.stretch ?? null;
  }

  function select(thing) {
    view.selected = thing?.of ?? null;
    tell(thing);
    draw();
  }

  function scrollToTime(time) {
    box.scrollTop = map.place(time) * zoom - plotHeight() * 0.35 + margin;
  }

  function showEvent(event) {
    const isShown = event.packet === null || part.packets.includes(data.packets[event.packet]);
    if (!isShown || !part.events.includes(event)) {
      chosen.qp = null;
      chosen.acks = true;
      choice.value = '';
      acks.setAttribute('aria-pressed', 'true');
      refresh(false);
    }
    view.event = part.events.indexOf(event);
    scrollToTime(event.packet === null ? event.t : data.packets[event.packet].t);
    select(event.packet === null ? {kind: 'event', of: event} : {kind: 'packet', of: data.packets[event.packet]});
    tellStep();
  }

  function tellStep() {
    const count = part.events.length;
    previous.disabled = count === 0 || view.event <= 0;
    next.disabled = count === 0 || view.event >= count - 1;
    const event = part.events[view.event];
    told.textContent = event ? `${view.event + 1} of ${countText(count)}: ${event.kind}, ${microseconds(event.t)} us, ${qpText(data, event.qp)}: ${event.text}` :
      count === 0 ? 'No faults, NAKs, timeouts or retransmissions here.' : `${plural(count, 'event', 'events')}: faults, and what the protocol made of them`;
  }

  const toggle = (text, key, title) => make('button', {
    'type': 'button', 'aria-pressed': String(chosen[key]), title, 'onclick': (event) => {
      chosen[key] = !chosen[key];
      event.currentTarget.setAttribute('aria-pressed', String(chosen[key]));
      refresh(true);
    },
  }, text);
  const choice = make('select', {'id': 'qp-choice', 'onchange': () => setQp(choice.value === '' ? null : Number(choice.value))},
    make('option', {value: ''}, 'all queue pairs'),
    ...data.qps.map((qp, index) => make('option', {value: index}, `${qpText(data, index)}${qp.management ? ' (CM)' :
      ` (${qp.type})${qp.peer === null ? '' : ` \u2013 ${qpText(data, qp.peer)}`}`}`)));
  const acks = toggle('ACKs', 'acks', 'Positive acknowledges');
  const receives = toggle('Receives', 'receives', 'Receive work requests, from post to completion');
  const button = (text, label, onclick) => make('button', {'type': 'button', 'aria-label': label, 'title': label, onclick}, text);
  const previous = button('\u25c2', 'Previous event', () => showEvent(part.events[view.event - 1]));
  const next = button('Next \u25b8', 'Next event', () => showEvent(part.events[view.event + 1]));
  figure.append(
    make('div', {class: 'tools ladder-tools'},
      make('label', {for: 'qp-choice'}, 'Show'), choice, acks, receives, make('span', {class: 'spring'}),
      choiceButtons('Scale of time', [[false, 'pauses shortened'], [true, 'true to scale']], false, (value) => {
        chosen.isTrueToScale = value;
        refresh(true);
      }),
      button('\u2212', 'Zoom out', () => setZoom(zoom / STEP)), button('+', 'Zoom in', () => setZoom(zoom * STEP)),
      button('Whole run', 'Whole run', () => setZoom(wholeZoom()))),
    make('div', {class: 'step'}, previous, next, told),
    box, hiddenNote, legendOf(),
    make('figcaption', {}, 'Time goes downwards. Scroll to move through it, + and \u2212 (or Ctrl and the wheel) zoom; point at an arrow for its headers, ' +
      'click to keep them below. Packets that an adapter sends to itself do not leave it and are not here.'));

  const chart = makeLadderChart(canvas, view);
  refresh(false);
  let isWaiting = false;
  const soon = () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      draw();
    });
  };
  box.addEventListener('scroll', soon);
  box.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    setZoom(zoom * Math.exp(-event.deltaY / 300), event.clientY - canvas.getBoundingClientRect().top);
  }, {passive: false});
  box.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const change = {'+': zoom * STEP, '=': zoom * STEP, '-': zoom / STEP, '0': wholeZoom()}[event.key];
    if (change === undefined) return;
    event.preventDefault();
    setZoom(change);
  });
  canvas.addEventListener('pointermove', (event) => {
    const thing = thingAt(event);
    canvas.style.cursor = thing ? 'pointer' : 'default';
    const said = thing && describeThing(data, thing);
    showTip(said ? [said.heading, ...said.lines].join('\n') : null, event);
  });
  canvas.addEventListener('pointerleave', () => showTip(null));
  canvas.addEventListener('click', (event) => select(thingAt(event)));
  new ResizeObserver(() => {
    if (chart.width === box.clientWidth && chart.height === plotHeight()) return;
    const place = map.time(topPlace());
    const before = zoom;
    rebuild();
    zoom = before;
    setHeight();
    box.scrollTop = map.place(place) * zoom + margin;
    draw();
  }).observe(box);
  return {showEvent, showPacket: (packet) => {
    if (!part.packets.includes(packet)) {
      chosen.acks = true;
      acks.setAttribute('aria-pressed', 'true');
      setQp(null);
    }
    scrollToTime(packet.t);
    select({kind: 'packet', of: packet});
  }, showTime: (time, thing) => {
    scrollToTime(time);
    select(thing);
  }};
}
