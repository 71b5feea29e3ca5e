// Logging in: a password, and a second factor when somebody has one.

import { login, resend, verify } from "./api.js";
import { h, show } from "./dom.js";

function field(label, props) {
  return h("label", null, h("span", null, label), h("input", { required: true, ...props }));
}

/** Shows the form; `done` once somebody is in. */
export function loginPage(root, words, done) {
  const notice = h("p", { class: "form-notice", role: "alert" }, words ?? "");
  const frame = (...children) => show(root, h("main", { id: "main", class: "login", tabindex: "-1" },
    h("h1", { class: "brand" }, "bursar", h("span", null, "console")), ...children));
  const tried = async (button, act) => {
    button.disabled = true;
    notice.textContent = "";
    try {
      await act();
    } catch (error) {
      notice.textContent = error.problem?.code === "INVALID_CREDENTIALS" ? "That email and password do not go together." : error.message;
    }
    button.disabled = false;
  };
  const go = h("button", { type: "submit", class: "primary" }, "Log in");
  const form = h("form", {
    onsubmit: (event) => {
      event.preventDefault();
      const given = new FormData(form);
      tried(go, async () => {
        const pending = await login(given.get("username"), given.get("password"));
        if (pending) second(pending);
        else done();
      });
    },
  },
  field("Email", { name: "username", type: "email", autocomplete: "username", id: "username" }),
  field("Password", { name: "password", type: "password", autocomplete: "current-password", id: "password" }),
  notice, go);

  function second(pending) {
    const ok = h("button", { type: "submit", class: "primary" }, "Continue");
    const method = h("select", { name: "method", id: "method" }, h("option", { value: "TOTP" }, "Authenticator app"), h("option", { value: "SMS" }, "Short message"));
    const ask = h("button", { type: "button", class: "quiet", onclick: () => tried(ask, async () => {
      await resend(pending);
      notice.textContent = "A code is on its way.";
    }) }, "Send a code");
    const step = h("form", {
      onsubmit: (event) => {
        event.preventDefault();
        const given = new FormData(step);
        tried(ok, async () => {
          await verify(pending, given.get("code"), given.get("method"));
          done();
        });
      },
    },
    h("label", null, h("span", null, "Second factor"), method),
    field("Code", { name: "code", id: "code", inputmode: "numeric", autocomplete: "one-time-code", pattern: "[0-9]{6}", maxlength: 6 }),
    notice, h("div", { class: "row" }, ok, ask));
    frame(h("p", null, "A second factor is needed."), step);
    step.querySelector("#code").focus();
  }

  frame(form);
  form.querySelector("#username").focus();
}
