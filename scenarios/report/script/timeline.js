// The page of a timeline. The data are those of timeline_data.cpp.
function tellThing(data, thing) {
  const holder = byId('details');
  if (thing === null) {
    holder.replaceChildren(note('Nothing is chosen. Click an arrow, a state, a work request, or a row of a table.'));
    return;
  }
  const {heading, lines} = describeThing(data, thing);
  holder.replaceChildren(make('h3', {}, heading), make('pre', {}, lines.join('\n')));
}

function drawEvents(data, ladder) {
  sortableTable(byId('event-table'), {
    caption: 'Faults, and what the protocol made of them',
    columns: [{title: 'Time (us)', text: microseconds}, {title: 'What'}, {title: 'Queue pair'}, {title: 'In words', isLong: true}],
    rows: data.events.map((event) => [event.t, event.kind, qpText(data, event.qp), event.text, event]),
    sortBy: null,
    total: data.events.length,
    empty: 'No packet was lost, corrupted, delayed or sent again; nothing was refused.',
    choose: (row) => {
      byId('ladder-section').scrollIntoView();
      ladder?.showEvent(row[4]);
    },
  });
}

function drawWork(data, ladder) {
  sortableTable(byId('work-table'), {
    caption: 'Work requests',
    columns: [{title: 'Posted (us)', text: microseconds}, {title: 'Queue pair'}, {title: 'Opcode'}, {title: 'wr_id'},
      {title: 'Bytes', text: countText}, {title: 'Took', text: durationText}, {title: 'Status'}],
    rows: data.work.map((work) => [work.t, work.qp === null ? 'an SRQ' : qpText(data, work.qp), work.op, work.id,
      work.send || work.status !== undefined ? work.bytes : null, work.status === undefined ? null : work.end - work.t,
      work.status === undefined ? 'open' : work.cqe ? work.status : `${work.status}, unsignaled`, work]),
    sortBy: null,
    total: data.work.length,
    empty: 'No work request was posted.',
    choose: (row) => {
      byId('ladder-section').scrollIntoView();
      ladder?.showTime(row[7].t, {kind: 'work', of: row[7]});
    },
  });
}

function drawPackets(data, ladder) {
  sortableTable(byId('packet-table'), {
    caption: 'Packets',
    columns: [{title: 'Sent (us)', text: microseconds}, {title: 'From'}, {title: 'To'}, {title: 'Opcode', isLong: true},
      {title: 'PSN', text: String}, {title: 'Payload', text: unitText.B}, {title: 'Took', text: durationText}, {title: 'What became of it'}],
    rows: data.packets.map((packet) => [packet.t, packet.s === undefined ? portText(data, packet.from) : qpText(data, packet.s),
      packet.d === undefined ? `${portText(data, packet.to)} QP ${hex(packet.q, 6)}` : qpText(data, packet.d), packetTitle(packet),
      packet.psn, packet.bytes, packet.r === undefined ? null : packet.r - packet.t,
      `${packet.fate}${packet.again ? ', sent again' : ''}${packet.copy ? ', a copy' : ''}`, packet]),
    sortBy: null,
    total: data.packets.length,
    empty: 'No packet was sent.',
    choose: (row) => {
      byId('ladder-section').scrollIntoView();
      ladder?.showPacket(row[8]);
    },
  });
}

function drawStates(data) {
  const known = new Set();
  const isFirst = (qp) => !known.has(qp) && known.add(qp);
  sortableTable(byId('state-table'), {
    caption: 'States of queue pairs',
    columns: [{title: 'Time (us)', text: microseconds}, {title: 'Queue pair'}, {title: 'Type'}, {title: 'State'}, {title: 'By'}],
    rows: data.states.map(([t, qp, name, byProgram]) => [t, qpText(data, qp), data.qps[qp].type, name,
      isFirst(qp) ? 'ibv_create_qp' : byProgram ? 'ibv_modify_qp' : 'the adapter']),
    sortBy: null,
    total: data.states.length,
    empty: 'No queue pair was made.',
  });
}

function drawTimeline() {
  const data = JSON.parse(byId('data').textContent);
  let ladder = null;
  setUpCharts();
  attempt(() => tellThing(data, null));
  attempt(() => {
    if (Chart) ladder = makeLadder(byId('ladder'), data, (thing) => tellThing(data, thing));
    else byId('ladder').append(note('This build of simverbs has no chart library (Debian: libjs-chart.js); the tables have everything.'));
  });
  attempt(() => drawEvents(data, ladder));
  attempt(() => drawWork(data, ladder));
  attempt(() => drawPackets(data, ladder));
  attempt(() => drawStates(data));
}

attempt(drawTimeline);
// Told to whoever waits for it: everything is there.
document.documentElement.dataset.report = 'drawn';
