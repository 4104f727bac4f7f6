// A place to drop a file on, a button to choose one, and examples for those who have none at hand.

import { Refusal } from "./api.js";
import { h, newId } from "./dom.js";
import { count } from "./format.js";
import { t } from "./i18n.js";
import { message } from "./sentence.js";

export const MOST_BYTES = 12_000_000; // as the server has it

// name: what the button says; accept: kinds of files; examples: [{ name, address }]; onfile(blob): somebody gave one.
export function fileBox({ name, hint, accept, examples = [], onfile }) {
  const id = newId("file");
  const problem = h("div", {});
  const give = (file) => {
    problem.replaceChildren();
    if (file.size <= MOST_BYTES) onfile(file);
    else problem.append(message(new Refusal(t("server.large", { limit: count(MOST_BYTES) }))));
  };
  const field = h("input", { type: "file", id, accept, class: "hidden", onchange: () => {
    if (field.files[0]) give(field.files[0]);
    field.value = ""; // the same file may be chosen again
  } });
  const show = (over) => box.classList.toggle("over", over);
  const box = h("div", {
    class: "drop",
    ondragover: (event) => {
      event.preventDefault();
      show(true);
    },
    ondragleave: () => show(false),
    ondrop: (event) => {
      event.preventDefault();
      show(false);
      const [file] = event.dataTransfer.files;
      if (file) give(file);
    },
  }, h("p", {}, field, h("label", { for: id, class: "file-button" }, name), h("span", { class: "facts" }, hint)),
  examples.length ? h("p", { class: "examples" }, h("span", { class: "facts" }, t("upload.examples")),
    examples.map((example) => h("button", { type: "button", class: "quiet", "data-example": example.address, onclick: async () => give(await (await fetch(example.address)).blob()) }, example.name))) : null,
  problem);
  return box;
}
