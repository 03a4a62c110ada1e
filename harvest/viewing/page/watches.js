// The watched audits, each with its charts, tables and audits.

import { at, clean, counted, link, made, minute, picture, pill, scrolled, table, WORSE } from "./elements.js";
import { histories, load, report, runLink, runs } from "./folder.js";

const runAt = (path) => [...runs.values()].find((each) => each.path === path);

// The name of the audit, as its latest run that is here has it; the file's name otherwise.
const nameOf = (one) => {
  const known = [...one.looks].reverse().map(([, , , path]) => runAt(path)).find((run) => run && run.audit);
  return clean(known ? known.audit : one.path.replace(/^.*\//, "").replace(/\.history\.jsonl$/, ""));
};

const openHistory = async (one, into) => {
  into.replaceChildren(made("p", "dim", "Loading…"));
  try {
    const found = await load("/api/histories/" + one.key);
    const parts = found.series.flatMap((each) => [scrolled(picture(each.svg, each.words), "Chart of " + each.name),
      ...each.blocks.map((block) => ("table" in block ? table(block.table) : made("p", block.tone || "", clean(block.text || ""))))]);
    const list = made("ol", "looks", ...[...one.looks].reverse().map(([verdict, when, name, path]) => {
      const run = runAt(path);
      return made("li", "", pill(verdict), " ", minute(when), " ", run ? link(clean(name), runLink(run)) : clean(name), " ", run ? report([run.key], "report of " + clean(name)) : made("span", "dim", "this run is not in the folder"));
    }));
    into.replaceChildren(...parts, made("h3", "", "Its audits, the latest first"), list,
      one.earlier ? made("p", "dim", counted(one.earlier, "earlier audit") + " not listed; harvest watch history prints them") : "");
    for (const part of into.querySelectorAll(".wide")) part.classList.toggle("cut", part.scrollWidth > part.clientWidth + 1);
  } catch (fault) {
    into.replaceChildren(made("p", "warn", "It cannot be shown: " + clean(fault.message)));
  }
};

export const drawHistories = () => {
  at("watches").hidden = !histories.length;
  const there = new Map([...at("histories").children].map((one) => [one.dataset.key, one]));
  for (const one of histories) {
    let found = there.get(one.key);
    there.delete(one.key);
    if (!found) {
      found = made("details", "card", made("summary"), made("div"));
      found.dataset.key = one.key;
      found.addEventListener("toggle", () => { if (found.open) openHistory(histories.find((each) => each.key === one.key), found.lastElementChild); });
      at("histories").append(found);
    }
    const last = one.looks[one.looks.length - 1];
    const strip = made("span", "strip", ...one.looks.map(([verdict]) => made("i", WORSE.includes(verdict) ? "bad" : ["same", "back", "perhaps back"].includes(verdict) ? "good" : "")));
    strip.setAttribute("aria-hidden", "true");
    found.firstElementChild.replaceChildren(made("b", "", nameOf(one)), " ", last ? pill(last[0]) : "", " ", last ? minute(last[1]) : "", " ",
      one.fault ? made("span", "cut", clean(one.fault)) : made("span", "dim", counted(one.looks.length + one.earlier, "audit")), " ", strip, made("span", "dim under", clean(one.path)));
    if (found.open) openHistory(one, found.lastElementChild);
  }
  for (const gone of there.values()) gone.remove();
};
