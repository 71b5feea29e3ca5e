// Read models: how far behind the log they are, and building them anew while the bank goes on.

import { get, may, open, post } from "./api.js";
import { bar } from "./charts.js";
import { badge, h, show, table } from "./dom.js";
import { count, time } from "./format.js";

const WATCH = 1000;

function state(model) {
  return model.parked ? "PARKED" : model.lag > 0 ? "BEHIND" : "FOLLOWING";
}

/** One rebuild, watched while it runs. */
function rebuild(view, name) {
  const frame = h("div", { class: "rebuild", role: "status" });
  let started = false;
  const path = `/v1/staff/ops/projections/${encodeURIComponent(name)}/rebuild`;
  const report = (now) => {
    const running = !now.finishedAt;
    const share = now.target ? now.position / now.target : running ? 0 : 1;
    show(frame,
      h("div", { class: "line" }, badge(now.state), now.verify ? "checking" : "rebuilding", h("span", { class: "count" },
        `${count(now.position)} of ${count(now.target)} events`, now.eventsPerSecond ? `, ${count(Math.round(now.eventsPerSecond))} a second` : "")),
      bar(`Rebuild of ${name}`, share),
      !running && h("p", null, `Finished ${time(now.finishedAt)}. ${count(now.rowsCompared)} rows compared, `,
        h("strong", { class: differing(now) ? "late" : null }, differing(now) ? `${count(differing(now))} different` : "none different"), "."));
    return running;
  };
  const differing = (now) => Array.isArray(now.differences) ? now.differences.length : Number(now.differences ?? 0);
  const watch = async () => {
    if (!view.alive()) return;
    try {
      if (report(await get(path))) setTimeout(watch, WATCH);
      else started = false;
    } catch (error) {
      started = false;
      if (error.status !== 404) show(frame, view.refusal(error));
    }
  };
  const begin = async (verify) => {
    if (started) return;
    started = true;
    try {
      await post(path, { verify });
      await watch();
    } catch (error) {
      started = false;
      show(frame, view.refusal(error));
    }
  };
  return { frame, begin, watch };
}

/** The read models. */
export async function projectionsPage(view) {
  view.title("Projections");
  const ready = await open("/readyz");
  const allowed = may("OPS_REBUILD");
  const jobs = new Map(ready.projections.map((model) => [model.name, rebuild(view, model.name)]));
  const lag = h("div");
  const draw = (now) => show(lag,
    h("div", { class: "figures" },
      h("div", null, h("span", null, "The bank"), h("strong", null, badge(now.status))),
      h("div", null, h("span", null, "Database"), h("strong", null, now.database ? "answers" : "does not answer")),
      h("div", null, h("span", null, "Most behind"), h("strong", { id: "lag" }, `${count(Math.max(0, ...now.projections.map((model) => model.lag)))} events`))));
  const cells = new Map();
  const cell = (model) => {
    const place = h("span");
    cells.set(model.name, place);
    return place;
  };
  const fill = (now) => {
    for (const model of now.projections) {
      const place = cells.get(model.name);
      if (place) show(place, badge(state(model)), ` ${count(model.position)}`, model.lag > 0 && h("span", { class: "late" }, ` ${count(model.lag)} behind`));
    }
  };
  draw(ready);
  view.show(h("h1", null, "Projections"), lag,
    !allowed && h("div", { class: "notice" }, h("strong", null, "Look, but do not touch"), h("p", null, "You need the permission OPS_REBUILD to rebuild. Whoever has STAFF_ADMIN can give it to you.")),
    table("Projections", [
      { head: "Read model", cell: (model) => h("span", { class: "id", tabindex: "0", "data-row": true }, model.name) },
      { head: "Position", cell },
      { head: "Rebuild", cell: (model) => {
        const job = jobs.get(model.name);
        return [h("div", { class: "acts" },
          h("button", { type: "button", disabled: !allowed, "aria-label": `Verify ${model.name}`, onclick: () => job.begin(true) }, "Verify"),
          h("button", { type: "button", disabled: !allowed, "aria-label": `Rebuild ${model.name}`, onclick: () => job.begin(false) }, "Rebuild")), job.frame];
      } },
    ], ready.projections, "The server is stopping."));
  fill(ready);
  if (allowed) for (const job of jobs.values()) job.watch();
  view.every(WATCH * 2, async () => {
    try {
      const now = await open("/readyz");
      draw(now);
      fill(now);
    } catch { /* The next look tells. */ }
  });
}
