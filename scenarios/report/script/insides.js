// The inside of each host: its PCIe tree, and how busy each link was over time.
const wayTexts = {up: 'towards the root', down: 'towards the device'};

/** One direction of a link over the run, as a strip of colours; says how busy it was where the pointer is. */
function useStrip(name, way, use, end) {
  const {bin, values, mean} = use;
  const strip = make('div', {'role': 'img', 'aria-label': `${name} ${wayTexts[way]}: busy ${shareText(mean)} of the run`});
  const stops = values.map((value, i) => `${heatColour(value)} ${Math.min(i * bin / end, 1) * 100}% ${Math.min((i + 1) * bin / end, 1) * 100}%`);
  strip.style.background = `linear-gradient(90deg, ${(stops.length > 0 ? stops : [`${heatColour(0)} 0% 100%`]).join(', ')})`;
  strip.addEventListener('pointermove', (event) => {
    const box = strip.getBoundingClientRect();
    const at = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) * end;
    const value = values[Math.min(Math.floor(at / bin), values.length - 1)] ?? 0;
    showTip(`${name}, ${wayTexts[way]}\n${unitText.us(at)}: ${shareText(value)}`, event);
  });
  strip.addEventListener('pointerleave', () => showTip(null));
  return strip;
}

function deviceRow(inside, device) {
  const cells = ['down', 'up'].flatMap((way) => {
    const use = device[way];
    if (!use) return [make('td', {}), make('td', {class: 'number'})];
    return [make('td', {class: 'strip'}, useStrip(`${inside.host}/${device.name}`, way, use, inside.end)),
      make('td', {class: 'number'}, shareText(use.mean))];
  });
  const head = make('th', {'scope': 'row', 'class': 'device', 'data-kind': device.kind, 'aria-level': device.depth + 1},
    make('span', {}, shorten(device.name, 40)), device.what ? ` ${shorten(device.what, 40)}` : '');
  head.style.setProperty('--depth', device.depth);
  return make('tr', {}, head, make('td', {}, device.link ?? ''), ...cells);
}

function drawInsideTree(panel, inside) {
  panel.append(
    make('div', {'class': 'scroll', 'tabindex': 0, 'role': 'region', 'aria-label': `PCIe tree of ${inside.host}`},
      make('table', {class: 'inside'}, make('caption', {class: 'unseen'}, `The inside of ${inside.host}, and how busy its links were`),
        make('thead', {}, make('tr', {}, ...['Device', 'Link', `To the device, 0 \u2013 ${unitText.us(inside.end)}`, 'Mean',
          'To the root', 'Mean'].map((head) => make('th', {scope: 'col', class: head === 'Mean' ? 'number' : ''}, head)))),
        make('tbody', {}, ...inside.devices.map((device) => deviceRow(inside, device))))),
    make('figcaption', {}, heatScale('idle', 'always busy'), ' Share of each interval in which a link carried TLPs.'));
}

/** Lines of the links that were used, the busiest first. */
function drawInsideChart(panel, inside) {
  const lines = inside.devices.flatMap((device) => ['down', 'up'].filter((way) => device[way] && device[way].mean > 0)
    .map((way) => ({name: `${device.name} ${way}`, use: device[way]})));
  lines.sort((a, b) => b.use.mean - a.use.mean);
  drawChart(panel, {
    label: `Utilisation of the PCIe links of ${inside.host} over time`,
    x: {title: 'Time', text: unitText.us, min: 0},
    y: {title: 'Utilisation', text: shareText, min: 0, max: 1},
    lines: lines.map(({name, use}, index) => ({
      name,
      points: use.values.map((y, i) => ({x: Math.min((i + 0.5) * use.bin, inside.end), y})),
      style: lineStyle(index),
      hidden: index >= linesShownAtFirst,
      width: 1.5,
    })),
    zoomGroup: 'time',
    empty: 'Nothing passed these links.',
  });
}

function drawInsides(run) {
  const holder = byId('insides');
  for (const figure of holder.querySelectorAll('figure')) clearPanel(figure);
  holder.querySelectorAll('figure').forEach((figure) => figure.remove());
  holder.hidden = run.insides.length === 0;
  for (const inside of run.insides) {
    const figure = make('figure', {class: 'panel'}, make('h3', {}, `${shorten(inside.host, 60)}: ${shorten(inside.platform, 60)}`));
    holder.append(figure);
    drawInsideTree(figure, inside);
    drawInsideChart(figure, inside);
  }
  if (run.insidesLeftOut > 0) holder.append(make('figure', {class: 'panel'}, note(`${countText(run.insidesLeftOut)} more hosts have platforms; pcie.csv has them all.`)));
}
