// Make elements in one call. Styles go through the style object: the page's policy forbids style attributes.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

export function h(tag, attributes, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return furnish(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [property, wanted] of Object.entries(value)) element.style.setProperty(property, wanted);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  put(element, children);
  return element;
}

function put(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

// Put new content in place of the old.
export function replace(element, ...children) {
  element.replaceChildren();
  put(element, children);
  return element;
}

let lastId = 0;

export function newId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}

// Run a function when calls have stopped coming for a while.
export function settle(milliseconds, action) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), milliseconds);
  };
}
