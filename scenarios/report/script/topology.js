// A picture of the fabric: hosts below, switches in tiers above; links by utilisation and rate.
const picture = {width: 1200, tier: 120, side: 24, top: 34, foot: 30};

function placeNodes(nodes) {
  const tiers = Math.max(...nodes.map((node) => node[1])) + 1;
  const onTier = new Array(tiers).fill(0);
  for (const node of nodes) onTier[node[1]] = Math.max(onTier[node[1]], node[2] + 1);
  const height = picture.top + (tiers - 1) * picture.tier + picture.foot + (onTier[tiers - 1] > 1 ? 0 : 6);
  const inner = picture.width - 2 * picture.side;
  const placed = nodes.map(([name, tier, place, isSwitch]) => {
    const step = inner / onTier[tier];
    return {
      name, tier, isSwitch: isSwitch === 1, step,
      x: picture.side + step * (place + 0.5),
      y: height - picture.foot - tier * picture.tier,
      size: Math.min(Math.max(step * 0.36, 1.3), isSwitch === 1 ? 9 : 6),
    };
  });
  return {placed, height};
}

/** Straight; between nodes of one tier that are no neighbours an arc above them. */
function linkPath(a, b) {
  const apart = Math.abs(a.x - b.x);
  if (a.tier !== b.tier || apart < a.step * 1.5) return `M${a.x} ${a.y}L${b.x} ${b.y}`;
  const rise = Math.min(14 + apart * 0.12, 90);
  return `M${a.x} ${a.y}Q${(a.x + b.x) / 2} ${a.y - rise} ${b.x} ${b.y}`;
}

function linkTip([, , rate, there, back, paused, drops, name], a, b) {
  return [shorten(name || `${a.name} - ${b.name}`, 80), unitText['b/s'](rate),
    `${shorten(a.name, 30)} \u2192 ${shorten(b.name, 30)}: ${shareText(there)} busy`,
    `${shorten(b.name, 30)} \u2192 ${shorten(a.name, 30)}: ${shareText(back)} busy`,
    ...(paused > 0 ? [`paused ${shareText(paused)} of the time`] : []),
    ...(drops > 0 ? [`${countText(drops)} packets dropped`] : [])].join('\n');
}

function withTip(element, text) {
  element.addEventListener('pointermove', (event) => showTip(text, event));
  element.addEventListener('pointerleave', () => showTip(null));
  return element;
}

function drawLinks(svg, links, placed) {
  const slowest = Math.min(...links.map((link) => link[2] ?? Infinity));
  const busyness = (link) => Math.max(link[3] ?? 0, link[4] ?? 0);
  const hits = [];
  for (const link of [...links].sort((p, q) => busyness(p) - busyness(q))) {
    const [a, b] = [placed[link[0]], placed[link[1]]];
    const path = linkPath(a, b);
    const width = Math.min(1.2 + 0.9 * Math.log2(link[2] / slowest || 1), 6) * (links.length > 300 ? 0.7 : 1.2);
    svg.append(makeSvg('path', {'class': 'link', 'd': path, 'stroke-width': width.toFixed(2), 'style': `stroke:${heatColour(busyness(link))}`}));
    hits.push(withTip(makeSvg('path', {class: 'hit', d: path}), linkTip(link, a, b)));
  }
  svg.append(...hits);
}

function drawNodes(svg, placed, choose) {
  // A tier has its names where all of them have room.
  const longest = [];
  for (const node of placed) longest[node.tier] = Math.max(longest[node.tier] ?? 0, node.name.length);
  for (const node of placed) {
    const shape = node.isSwitch ?
      makeSvg('rect', {x: node.x - node.size, y: node.y - node.size * 0.7, width: node.size * 2, height: node.size * 1.4, rx: 2}) :
      makeSvg('circle', {cx: node.x, cy: node.y, r: node.size});
    shape.setAttribute('class', 'node');
    shape.style.fill = node.isSwitch ? 'var(--series-0)' : 'var(--series-6)';
    if (node.step < 10) shape.style.strokeWidth = '0.5px';
    shape.addEventListener('click', () => choose(node.name));
    svg.append(withTip(shape, `${shorten(node.name, 80)}\nclick: its ports`));
    const letters = Math.floor(node.step / 7.2);
    if (longest[node.tier] <= letters || letters >= 9) {
      const y = node.tier === 0 ? node.y + node.size + 14 : node.y - node.size - 5;
      svg.append(makeSvg('text', {'x': node.x, y, 'text-anchor': 'middle', 'pointer-events': 'none'}, shorten(node.name, letters)));
    }
  }
}

/** choose(name) is called when a node is clicked. */
function drawTopology(figure, run, choose) {
  figure.replaceChildren();
  const {count, most, nodes, links} = run.topology;
  if (!nodes || nodes.length === 0) {
    figure.append(note(nodes ? 'There are no nodes.' :
      `The fabric has ${countText(count)} hosts and switches; more than ${countText(most)} are not drawn. The ports below have the numbers.`));
    return;
  }
  const {placed, height} = placeNodes(nodes);
  const busiest = links.reduce((best, link) => Math.max(best, link[3] ?? 0, link[4] ?? 0), 0);
  const switches = nodes.filter((node) => node[3] === 1).length;
  const parts = [plural(nodes.length - switches, 'host', 'hosts'), plural(switches, 'switch', 'switches'), plural(links.length, 'link', 'links')];
  const label = `${parts.join(', ')}; the busiest direction of a link sent ${shareText(busiest)} of the time`;
  const svg = makeSvg('svg', {'viewBox': `0 0 ${picture.width} ${height}`, 'role': 'img', 'aria-label': label});
  svg.style.minWidth = nodes.length > 24 ? '680px' : '340px';
  svg.style.width = '100%';
  if (links.length > 0) drawLinks(svg, links, placed);
  drawNodes(svg, placed, choose);
  figure.append(
    make('div', {'class': 'scroll', 'tabindex': 0, 'role': 'region', 'aria-label': 'Topology'}, svg),
    make('figcaption', {}, heatScale('idle', 'busy'), ` Links by the share of the run in which their busier direction sent; wider ones are faster. ${label}.`));
}
