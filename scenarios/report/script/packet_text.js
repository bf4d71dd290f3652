// What is said of a packet, a work request or a state when it is pointed at.
const hex = (value, digits) => `0x${value.toString(16).padStart(digits, '0')}`;

function qpText(data, index) {
  if (index === null || index === undefined) return 'no queue pair';
  const qp = data.qps[index];
  return `${data.ports[qp.port].name} ${qp.name}`;
}

const portText = (data, index) => (index === undefined || index === null ? 'nowhere' : data.ports[index].name);

/** "RC_SEND_ONLY", of a MAD its name; what an acknowledge says. */
function packetTitle(packet) {
  const aeth = (packet.headers ?? []).find((line) => line.startsWith('AETH'));
  const says = aeth && (packet.kind === 'nak' || packet.kind === 'rnr') ? aeth.slice(6).replace(/, MSN.*/, '') : '';
  return says || packet.name;
}

/** For the arrow, the longest first. */
function arrowTexts(packet) {
  const again = packet.again && !packet.copy ? ' (again)' : '';
  const title = packetTitle(packet);
  if (packet.kind === 'mad') return [title + again];
  const short = title.replace(/^(RC|UC|UD|XRC)_/, '').replace('ACKNOWLEDGE', 'ACK');
  return [`${title}  PSN ${packet.psn}${again}`, `${short} ${packet.psn}${again}`, `${short} ${packet.psn}`, String(packet.psn)];
}

function fateText(packet) {
  const took = packet.r === undefined ? '' : ` after ${durationText(packet.r - packet.t)}`;
  const fates = {
    'received': `received${took}`,
    'corrupt': `received${took}, discarded: its ICRC is wrong`,
    'trimmed': `received${took} without its payload, discarded`,
    'lost': `lost${took}`,
    'discarded': `discarded${took}`,
    'under way': 'under way when the run ended',
  };
  return fates[packet.fate] + (packet.ce ? ', marked with congestion experienced' : '');
}

function packetLines(data, packet) {
  const bth = `BTH  ${packet.name.startsWith('CM') || packet.kind === 'mad' ? 'UD_SEND_ONLY' : packet.name} (${hex(packet.op, 2)}), ` +
    `PSN ${packet.psn} (${hex(packet.psn, 6)}), DestQP ${hex(packet.q, 6)}${packet.flags ? `, ${packet.flags.split(' ').join(', ')}` : ''}`;
  return [
    ...(packet.again && !packet.copy ? ['Retransmission: this PSN was sent before.'] : []),
    ...(packet.copy ? ['A copy that a fault has made.'] : []),
    bth, ...(packet.headers ?? []),
    `payload ${countText(packet.bytes)} B, on the wire ${countText(packet.wire)} B`,
    `sent ${microseconds(packet.t)} us, ${fateText(packet)}`,
    ...(packet.what ? [packet.what] : []),
  ];
}

function packetHeading(data, packet) {
  return `${packetTitle(packet)}: ${portText(data, packet.from)} \u2192 ${portText(data, packet.to)}`;
}

function workHeading(data, work) {
  return `${work.op} wr_id ${work.id} of ${qpText(data, work.qp)}`;
}

function workLines(data, work) {
  const took = durationText(work.end - work.t);
  const ending = work.status === undefined ?
    `never completed: still open at ${microseconds(work.end)} us` :
    `${work.cqe ? 'CQE' : 'done without a CQE (unsignaled)'} at ${microseconds(work.end)} us, ${took} later: ${work.status}`;
  return [
    ...(work.send ? [] : [`in the ${work.srq ? 'SRQ' : 'receive queue'}`]),
    `posted ${microseconds(work.t)} us`, ending,
    ...(work.send || work.status !== undefined ? [`${countText(work.bytes)} B`] : []),
  ];
}

function stateLines(data, state) {
  const who = state.byProgram ? 'ibv_modify_qp' : 'the adapter itself';
  return [`from ${microseconds(state.t)} us for ${durationText(state.end - state.t)}`,
    state.name === 'RESET' && state.isFirst ? 'by its creation' : `by ${who}`];
}

const stateHeading = (data, state) => `${qpText(data, state.qp)} (${data.qps[state.qp].type}): ${state.name}`;

/** A thing of the diagram in words: heading and lines. */
function describeThing(data, thing) {
  switch (thing.kind) {
    case 'packet':
      return {heading: packetHeading(data, thing.of), lines: packetLines(data, thing.of)};
    case 'work':
      return {heading: workHeading(data, thing.of), lines: workLines(data, thing.of)};
    case 'state':
      return {heading: stateHeading(data, thing.of), lines: stateLines(data, thing.of)};
    default:
      return {heading: thing.of.kind, lines: [`${microseconds(thing.of.t)} us, ${qpText(data, thing.of.qp)}`, thing.of.text]};
  }
}
