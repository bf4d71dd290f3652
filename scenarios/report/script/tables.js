// Tables that sort by any column, with bars behind numbers, and tell how many rows are left out.
const rowsAtFirst = 40;
const rowsMore = 200;

function compareValues(a, b) {
  if (typeof a === 'string' && typeof b === 'string') return a.localeCompare(b, 'en', {numeric: true});
  // What is no number comes last, whichever way.
  return (a ?? -Infinity) - (b ?? -Infinity);
}

function tableCell(column, value, scale) {
  const text = column.text ? column.text(value) : String(value ?? NO_NUMBER);
  if (column.isName) return make('th', {scope: 'row', title: text}, shorten(text, 48));
  if (column.isLong) return make('td', {class: 'sentence'}, text);
  const cell = make('td', {class: column.text ? 'number' : ''}, shorten(text, 32));
  if (column.bar && isNumber(value) && value > 0) {
    cell.classList.add('bar');
    cell.style.setProperty('--share', `${Math.min(value / scale * 100, 100).toFixed(1)}%`);
  }
  return cell;
}

/**
 * columns: {title, text (of a number), isName, isLong (sentences), bar (true: of the largest value; or what is full)}.
 * choose(row), if given, is called when a row is clicked.
 * sortBy: the column sorted by at first, downwards; null: the order of the rows.
 * Returns find(text), which leaves only rows in whose text columns it stands.
 */
function sortableTable(holder, {caption, columns, rows, sortBy, total, empty, choose = null}) {
  holder.replaceChildren();
  if (rows.length === 0) {
    holder.append(note(empty));
    return () => {};
  }
  const state = {column: sortBy, down: true, shown: rowsAtFirst, text: ''};
  const scales = columns.map((column, i) => (column.bar === true ? Math.max(...rows.map((row) => row[i] ?? 0), 0) : column.bar));
  const body = make('tbody', {});
  const told = make('span', {role: 'status'});
  const more = make('button', {type: 'button', class: 'more'}, 'Show more');
  const heads = columns.map((column, i) => make('th', {scope: 'col', class: 'sortable'}, make('button', {
    type: 'button', class: column.text ? 'number' : '',
    onclick: () => {
      state.down = state.column === i ? !state.down : Boolean(column.text);
      state.column = i;
      fill();
    },
  }, column.title)));
  const find = make('input', {'type': 'search', 'placeholder': 'Find', 'aria-label': `Find in ${caption}`, 'size': 16,
    'oninput': () => {
      state.text = find.value.toLowerCase();
      fill();
    }});
  const choosing = (row) => (choose === null ? {} : {
    class: 'choosable', tabindex: 0, onclick: () => choose(row),
    onkeydown: (event) => {
      if (event.key === 'Enter') choose(row);
    },
  });
  function fill() {
    const texts = columns.map((column, i) => (column.text ? -1 : i)).filter((i) => i >= 0);
    const chosen = rows.filter((row) => texts.some((i) => String(row[i]).toLowerCase().includes(state.text)));
    if (state.column !== null) {
      const sign = state.down ? -1 : 1;
      chosen.sort((a, b) => sign * compareValues(a[state.column], b[state.column]));
    }
    heads.forEach((head, i) => {
      head.removeAttribute('aria-sort');
      const arrow = i === state.column ? (state.down ? ' \u2193' : ' \u2191') : '';
      if (arrow) head.setAttribute('aria-sort', state.down ? 'descending' : 'ascending');
      head.firstChild.textContent = columns[i].title + arrow;
    });
    const visible = chosen.slice(0, state.shown);
    body.replaceChildren(...visible.map((row) => make('tr', choosing(row), ...columns.map((column, i) => tableCell(column, row[i], scales[i])))));
    const all = total > rows.length ? ` (the page has ${countText(rows.length)} of ${countText(total)})` : '';
    told.textContent = `${countText(visible.length)} of ${countText(chosen.length)} shown${all}`;
    more.hidden = visible.length === chosen.length;
  }
  more.addEventListener('click', () => {
    state.shown += rowsMore;
    fill();
  });
  holder.append(
    make('div', {class: 'tools'}, find, told, more),
    make('div', {'class': 'scroll tall', 'tabindex': 0, 'role': 'region', 'aria-label': caption},
      make('table', {}, make('caption', {class: 'unseen'}, caption), make('thead', {}, make('tr', {}, ...heads)), body)));
  fill();
  return (text) => {
    find.value = text;
    state.text = text.toLowerCase();
    fill();
  };
}

function drawPorts(run) {
  return sortableTable(byId('port-table'), {
    caption: 'Ports',
    columns: [
      {title: 'Port', isName: true},
      {title: 'Rate', text: unitText['b/s']},
      {title: 'Utilisation', text: shareText, bar: 1},
      {title: 'Paused', text: shareText, bar: 1},
      {title: 'Max queue', text: unitText.B, bar: true},
      {title: 'Drops', text: countText, bar: true},
      {title: 'ECN marks', text: countText, bar: true},
      {title: 'Pauses sent', text: countText, bar: true},
      {title: 'Pauses received', text: countText, bar: true},
    ],
    rows: run.ports,
    sortBy: 2,
    total: run.portCount,
    empty: 'There are no ports.',
  });
}

function drawFlows(run) {
  sortableTable(byId('flow-table'), {
    caption: 'Flows',
    columns: [
      {title: 'Flow', isName: true},
      {title: 'From'},
      {title: 'To'},
      {title: 'Size', text: unitText.B},
      {title: 'Start', text: unitText.us},
      {title: 'FCT', text: unitText.us},
      {title: 'Slowdown', text: plainText, bar: true},
      {title: 'Resent', text: countText, bar: true},
      {title: 'Timeouts', text: countText, bar: true},
      {title: 'CNPs', text: countText, bar: true},
      {title: 'State'},
    ],
    rows: run.flows,
    sortBy: null,
    total: run.flowCount,
    empty: 'There are no flows.',
  });
}
