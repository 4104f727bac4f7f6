// A sheet to draw on with a finger or a mouse, white on black, as handwritten digits are in MNIST.

import { h } from "./dom.js";
import { t } from "./i18n.js";

const SIDE = 196;
const PEN = 15;

// ondraw(blob): a stroke has ended.
export function drawingPad(ondraw) {
  const paper = h("canvas", { width: SIDE, height: SIDE, class: "pad", role: "img", "aria-label": t("pad.label") });
  const context = paper.getContext("2d");
  const clear = () => {
    context.fillStyle = "black";
    context.fillRect(0, 0, SIDE, SIDE);
  };
  clear();
  let last = null;
  const place = (event) => {
    const box = paper.getBoundingClientRect();
    return [(event.clientX - box.left) * (SIDE / box.width), (event.clientY - box.top) * (SIDE / box.height)];
  };
  const line = (to) => {
    Object.assign(context, { strokeStyle: "white", lineWidth: PEN, lineCap: "round" });
    context.beginPath();
    context.moveTo(...last);
    context.lineTo(...to);
    context.stroke();
    last = to;
  };
  paper.addEventListener("pointerdown", (event) => {
    paper.setPointerCapture(event.pointerId);
    last = place(event);
    line(last);
  });
  paper.addEventListener("pointermove", (event) => {
    if (last) line(place(event));
  });
  const end = () => {
    if (last) paper.toBlob(ondraw, "image/png");
    last = null;
  };
  paper.addEventListener("pointerup", end);
  paper.addEventListener("pointercancel", end);
  return h("details", { class: "pad-holder" }, h("summary", {}, t("pad.title")), h("p", { class: "caption" }, t("pad.about")), paper,
    h("p", {}, h("button", { type: "button", class: "quiet", onclick: clear }, t("pad.clear"))));
}
