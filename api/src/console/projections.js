// Read models: how far behind the log they are, and building them anew while the bank goes on.

import { get, may, open, post } from "./api.js";
import { bar } from "./charts.js";
import { badge, h, show, table } from "./dom.js";
import { count, time } from "./format.js";

const WATCH = 500;

/** What came of a rebuild, in words. */
const ENDS = {
  INTERRUPTED: "The server that carried it out is gone: order it again and it goes on there.",
  SWAPPED: "The tables were replaced.",
  EQUAL: "The tables are what the log says.",
  DIFFERENT: "The tables are not what the log says. A rebuild repairs them.",
  FAILED: "It failed; the tables are as they were.",
};

function differences(now) {
  return now.differences.length > 0 && h("details", null, h("summary", null, "Which rows"),
    h("ol", { class: "tree" }, now.differences.map((row) => h("li", null, h("span", { class: "id" }, `${row.table} ${JSON.stringify(row.key)}`),
      ` ${row.kind.toLowerCase()} from event ${count(row.firstPosition)} on`, row.columns.length > 0 && `: ${row.columns.join(", ")}`))));
}

/** One rebuild, watched while it runs. */
function rebuild(view, name) {
  const frame = h("div", { class: "rebuild", role: "status" });
  const path = `/v1/staff/ops/projections/${encodeURIComponent(name)}/rebuild`;
  let watching = false;
  const report = (now) => {
    const running = now.state === "RUNNING";
    const share = running && now.target ? now.position / now.target : running ? 0 : 1;
    show(frame,
      h("div", { class: "line" }, badge(now.state), now.verify ? "Check" : "Rebuild",
        h("span", { class: "count" }, `${count(now.position)} of ${count(now.target)} events`, now.eventsPerSecond > 0 && `, ${count(now.eventsPerSecond)} a second`)),
      bar(`${now.verify ? "Check" : "Rebuild"} of ${name}`, share),
      !running && h("p", { class: ["DIFFERENT", "FAILED"].includes(now.state) ? "late" : "count" },
        `${ENDS[now.state] ?? ""} ${count(now.rowsCompared)} rows compared, ${now.differing ? count(now.differing) : "none"} different. ${time(now.finishedAt)}`),
      now.reason && h("p", { class: "late" }, now.reason),
      differences(now));
    return running;
  };
  const watch = async () => {
    if (!view.alive()) return;
    watching = true;
    try {
      if (report(await get(path))) {
        setTimeout(watch, WATCH);
        return;
      }
    } catch (error) {
      show(frame, view.refusal(error));
    }
    watching = false;
  };
  const begin = async (verify) => {
    if (watching) return;
    try {
      await post(path, { verify });
    } catch (error) {
      show(frame, view.refusal(error));
      return;
    }
    await watch();
  };
  return { frame, begin, watch };
}

/** The read models as whoever looks may see them. */
async function models(allowed) {
  if (allowed) return (await get("/v1/staff/ops/projections")).projections;
  const ready = await open("/readyz");
  return ready.projections.map((model) => ({ ...model, state: model.parked ? "PARKED" : "FOLLOWING" }));
}

/** The read models. */
export async function projectionsPage(view) {
  view.title("Projections");
  const allowed = may("OPS_REBUILD");
  const first = await models(allowed);
  const jobs = new Map(first.map((model) => [model.name, rebuild(view, model.name)]));
  const states = new Map(first.map((model) => [model.name, h("span")]));
  const top = h("div", { class: "figures" });
  const draw = (now) => {
    show(top,
      h("div", null, h("span", null, "Read models"), h("strong", null, count(now.length))),
      h("div", null, h("span", null, "Most behind"), h("strong", { id: "lag" }, `${count(Math.max(0, ...now.map((model) => model.lag)))} events`)),
      h("div", null, h("span", null, "Parked"), h("strong", null, count(now.filter((model) => model.state === "PARKED").length))));
    for (const model of now) {
      const place = states.get(model.name);
      if (place) {
        show(place, badge(model.state === "FOLLOWING" && model.lag > 0 ? "BEHIND" : model.state), " ", count(model.position), model.lag > 0 && h("span", { class: "late" }, ` ${count(model.lag)} behind`),
          model.reason && h("span", { class: "sub" }, `Event ${count(model.poison)}: ${model.reason}`));
      }
    }
  };
  draw(first);
  const actions = (model) => {
    const job = jobs.get(model.name);
    const act = (words, verify) => h("button", { type: "button", disabled: !allowed, "aria-label": `${words} ${model.name}`, onclick: () => job.begin(verify) }, words);
    return [h("div", { class: "acts" }, act("Verify", true), act("Rebuild", false)), job.frame];
  };
  view.show(h("h1", null, "Projections"), top,
    !allowed && h("div", { class: "notice" }, h("strong", null, "Look, but do not touch"), h("p", null, "You need the permission OPS_REBUILD to rebuild. Whoever has STAFF_ADMIN can give it to you.")),
    table("Projections", [
      { head: "Read model", cell: (model) => h("span", { class: "id", tabindex: "0", "data-row": true }, model.name) },
      { head: "Position", cell: (model) => states.get(model.name) },
      { head: "Rebuild", cell: actions },
    ], first, "The server is stopping."));
  for (const model of first) if (model.rebuild && model.rebuild !== "NONE") jobs.get(model.name).watch();
  view.every(2000, async () => {
    try {
      draw(await models(allowed));
    } catch { /* The next look tells. */ }
  });
}
