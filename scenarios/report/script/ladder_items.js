// What the diagram shows of a run, and where it stands from left to right: hosts as lines, beside each its queue pairs.
const MOST_QPS_A_HOST = 6;
const SEND_LANES = 4;
const RECEIVE_LANES = 2;

/** Stretches of one state: {qp, name, t, end, byProgram, isFirst}. */
function stateSpans(data) {
  const last = new Map();
  const spans = [];
  for (const [t, qp, name, byProgram] of data.states) {
    const before = last.get(qp);
    if (before) before.end = t;
    const span = {qp, name, t, end: data.qps[qp].destroyed ?? data.end, byProgram, isFirst: !before};
    last.set(qp, span);
    spans.push(span);
  }
  const limit = data.cut ?? data.end;
  for (const span of spans) span.end = Math.max(Math.min(span.end, limit), span.t);
  return spans;
}

/** Gives each work request of a queue a lane of its own while it is open, as far as there are lanes. */
function assignLanes(works, lanes) {
  const freeAt = new Array(lanes).fill(-Infinity);
  for (const work of works) {
    let lane = freeAt.findIndex((end) => end <= work.t);
    if (lane < 0) lane = lanes - 1;
    freeAt[lane] = Math.max(freeAt[lane], work.end);
    work.lane = lane;
  }
  return works.reduce((most, work) => Math.max(most, work.lane + 1), 0);
}

/** What of the data is shown. chosen: {qp (null: all), acks, receives}. */
function choosePart(data, spans, chosen) {
  const isOfQp = (packet) => chosen.qp === null || packet.s === chosen.qp || packet.d === chosen.qp;
  const packets = data.packets.filter((packet) => isOfQp(packet) && (chosen.acks || packet.kind !== 'ack'));
  const qps = new Set();
  for (const packet of packets) for (const end of [packet.s, packet.d]) if (end !== undefined) qps.add(end);
  if (chosen.qp === null) data.qps.forEach((_, index) => qps.add(index));
  else qps.add(chosen.qp);
  const withLanes = [...qps].filter((index) => !data.qps[index].management);
  const perPort = new Map();
  const shown = new Set();
  for (const index of withLanes.sort((a, b) => a - b)) {
    const port = data.qps[index].port;
    const count = perPort.get(port) ?? 0;
    perPort.set(port, count + 1);
    if (count < MOST_QPS_A_HOST || index === chosen.qp) shown.add(index);
  }
  const ports = new Set(withLanes.map((index) => data.qps[index].port));
  for (const packet of packets) for (const port of [packet.from, packet.to]) if (port !== undefined) ports.add(port);
  if (ports.size === 0) data.ports.forEach((_, index) => ports.add(index));
  const limit = data.cut ?? data.end;
  const works = data.work.filter((work) => work.qp !== null && shown.has(work.qp) && (work.send || chosen.receives));
  for (const work of works) work.shownEnd = Math.min(work.end, Math.max(limit, work.t));
  return {
    packets, works, limit,
    qps: [...shown],
    hiddenQps: withLanes.length - shown.size,
    ports: [...ports].sort((a, b) => a - b),
    states: spans.filter((span) => shown.has(span.qp)),
    events: data.events.filter((event) => (event.packet !== null ? isOfQp(data.packets[event.packet]) :
      chosen.qp === null || event.qp === chosen.qp)),
  };
}

/** All times at which something begins or ends. */
function timesOf(part) {
  const times = [];
  for (const packet of part.packets) times.push(packet.t, packet.r ?? packet.t);
  for (const state of part.states) times.push(state.t, state.end);
  for (const work of part.works) times.push(work.t, work.shownEnd);
  for (const event of part.events) times.push(event.t);
  return distinct(times);
}

/**
 * Places from left to right, in pixels: lines (of ports), lanes (of queue pairs: state, sends, receives), width.
 * Queue pairs stand at the outer side of the first host's line and to the right of the others'.
 */
function layOut(part, data, available) {
  const isTight = available < 520 || part.ports.length > 2;
  const size = isTight ? {state: 13, work: 5, gap: 4, arrows: 120} : {state: 18, work: 8, gap: 9, arrows: 220};
  const byQueue = new Map();
  for (const work of part.works) {
    const key = `${work.qp} ${work.send}`;
    if (!byQueue.has(key)) byQueue.set(key, []);
    byQueue.get(key).push(work);
  }
  const groups = part.ports.map((port) => {
    const lanes = part.qps.filter((index) => data.qps[index].port === port).map((qp) => ({
      qp,
      sends: assignLanes(byQueue.get(`${qp} true`) ?? [], SEND_LANES),
      receives: assignLanes(byQueue.get(`${qp} false`) ?? [], RECEIVE_LANES),
    }));
    const width = lanes.reduce((sum, lane) => sum + size.gap + size.state + (lane.sends + lane.receives) * size.work, size.gap);
    return {port, lanes, width};
  });
  const used = groups.reduce((sum, group) => sum + group.width, 0);
  const between = Math.max(groups.length - 1, 1);
  const arrows = Math.max((available - used - 8) / between, size.arrows);
  const lines = new Map();
  const places = new Map();
  let x = 4;
  groups.forEach((group, place) => {
    const outwards = place === 0 ? -1 : 1;
    const line = place === 0 ? x + group.width : x;
    lines.set(group.port, line);
    let at = line + outwards * size.gap;
    for (const lane of group.lanes) {
      const take = (width) => {
        const middle = at + outwards * width / 2;
        at += outwards * width;
        return middle;
      };
      const state = take(size.state);
      const sends = Array.from({length: lane.sends}, () => take(size.work));
      const receives = Array.from({length: lane.receives}, () => take(size.work));
      at += outwards * size.gap;
      places.set(lane.qp, {state, sends, receives});
    }
    x += group.width + arrows;
  });
  const last = groups[groups.length - 1];
  const width = lines.get(last.port) + (groups.length === 1 ? arrows : last.width) + 4;
  return {lines, places, size, width};
}
