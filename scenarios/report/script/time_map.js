// Where times stand in the diagram: true to scale, or with pauses shortened so that packets of one burst, microseconds and
// timeouts can be read beside each other.
const SHORT_PAUSE = 10_000;  // picoseconds that still take about as much room as they last
const LONG_PAUSE = 1_000_000;  // beyond this a pause hardly takes more room

function shortened(apart) {
  const room = (pause) => Math.log2(1 + pause / SHORT_PAUSE);
  return apart <= LONG_PAUSE ? room(apart) : room(LONG_PAUSE) + 0.3 * (room(apart) - room(LONG_PAUSE));
}

/** times: in rising order. Returns place(time), time(place), length, and the times. */
function timeMap(times, isTrueToScale) {
  const room = isTrueToScale ? (apart) => apart / 1e6 : shortened;
  const places = [0];
  for (let i = 1; i < times.length; i += 1) places.push(places[i - 1] + room(times[i] - times[i - 1]));
  const between = (from, to, value) => {
    if (from.length < 2) return to[0] ?? 0;
    let low = 0;
    let high = from.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (from[middle] <= value) low = middle;
      else high = middle;
    }
    const share = (value - from[low]) / (from[high] - from[low]);
    return to[low] + Math.min(Math.max(share, 0), 1) * (to[high] - to[low]);
  };
  return {
    times, places,
    place: (time) => between(times, places, time),
    time: (place) => between(places, times, place),
    length: places[places.length - 1],
  };
}

/** Sorted, each once. */
function distinct(values) {
  return [...new Set(values)].sort((a, b) => a - b);
}

/** Picoseconds as "1,234.567": microseconds, as exact as captures. */
function microseconds(ps) {
  return (ps / 1e6).toLocaleString('en-US', {minimumFractionDigits: 3, maximumFractionDigits: 3});
}

const durationText = (ps) => unitText.us(ps / 1e6);
