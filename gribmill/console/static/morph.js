// Turns one tree of elements into another with as few changes as possible: unchanged elements keep their focus,
// selection and scroll position. Elements with an id or data-key are matched even after they have moved.

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.id || node.dataset.key || "" : "");
const isTyping = (node) => node === document.activeElement && node.matches("input:not([type=checkbox], [type=radio]), textarea, select");

function sameKind(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName && keyOf(one) === keyOf(other);
}

function morphAttributes(from, to) {
  for (const { name, value } of to.attributes) {
    if (name === "open" && from.id) continue; // the user opened or closed it
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name) && !(name === "open" && from.id)) from.removeAttribute(name);
  }
}

function morphNode(from, to) {
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  // times.js updates the text and title of a time.
  if (from.nodeName === "TIME" && from.dateTime === to.dateTime) return;
  if (isTyping(from)) return;
  if (from.name === "once") return; // a random value; the old one is as good as the new one
  morphAttributes(from, to);
  morphChildren(from, to);
}

export function morphChildren(from, to) {
  const keyed = new Map();
  for (const node of from.children) if (keyOf(node)) keyed.set(keyOf(node), node);
  let place = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const key = keyOf(wanted);
    let found = null;
    if (key) {
      const known = keyed.get(key);
      if (known && known.nodeName === wanted.nodeName) found = known;
    } else if (place && sameKind(place, wanted)) {
      found = place;
    }
    if (!found) {
      from.insertBefore(document.importNode(wanted, true), place);
      continue;
    }
    if (found === place) place = place.nextSibling;
    else from.insertBefore(found, place);
    morphNode(found, wanted);
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}
