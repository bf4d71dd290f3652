// Building and finding elements. Text goes in as text, never as HTML.
const byId = (id) => document.getElementById(id);

function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== null) element.setAttribute(name, value);
  }
  return element;
}

function make(tag, attributes, ...children) {
  const element = setAll(document.createElement(tag), attributes);
  element.append(...children.filter((child) => child !== null));
  return element;
}

function makeSvg(tag, attributes, ...children) {
  const element = setAll(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes);
  element.append(...children);
  return element;
}

function note(text) {
  return make('p', {class: 'none'}, text);
}

/** Buttons of which one is pressed. choices: [value, text]…; calls choose(value). */
function choiceButtons(label, choices, chosen, choose) {
  const buttons = choices.map(([value, text]) => make('button', {
    'type': 'button',
    'aria-pressed': String(value === chosen),
    'onclick': (event) => {
      for (const button of buttons) button.setAttribute('aria-pressed', String(button === event.currentTarget));
      choose(value);
    },
  }, text));
  return make('span', {'role': 'group', 'aria-label': label}, ...buttons.flatMap((button) => [button, ' ']));
}

/** Text beside the pointer; null hides it. */
function showTip(text, event) {
  const tip = byId('tip');
  tip.hidden = text === null;
  if (text === null) return;
  tip.textContent = text;
  const gap = 14;
  const box = tip.getBoundingClientRect();
  const left = event.clientX + gap + box.width > innerWidth ? event.clientX - gap - box.width : event.clientX + gap;
  const top = event.clientY + gap + box.height > innerHeight ? event.clientY - gap - box.height : event.clientY + gap;
  tip.style.left = `${Math.max(left, 4)}px`;
  tip.style.top = `${Math.max(top, 4)}px`;
}
