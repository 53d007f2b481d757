"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = id => document.getElementById(id);
  const make = (tag, name, text) => {
    const e = document.createElement(tag);
    if (name) e.className = name;
    if (text !== undefined) e.textContent = text;
    return e;
  };
  // A token is a list: its text (an index into texts), its verdict (an index into verdicts, or -1), p, q, u, bound,
  // and the likeliest tokens of the target and of the draft, each as a list of text, probability, text, …
  const TEXT = 0, VERDICT = 1, P = 2, Q = 3, U = 4, BOUND = 5, TARGET = 6, DRAFT = 7;
  const verdicts = ["accepted", "rejected", "discarded", "resampled", "bonus", "plain"];
  const words = {
    accepted: "kept", rejected: "refused", discarded: "discarded: after a refused token", resampled: "drawn by the target in place of the refused token",
    bonus: "free: drawn by the target after all drafted tokens were kept", plain: "drawn by the target, nothing was drafted", pending: "unchecked: drafted, and not verified yet",
  };
  const number = x => x === null || x === undefined ? "–" : x >= 0.9995 && x < 1 ? ">.999" : x > 0 && x < 0.0005 ? "<.001" : x.toFixed(3).replace(/^0/, "");
  const ms = x => x < 0.1 ? x.toFixed(3) : x < 10 ? x.toFixed(2) : x.toFixed(1);
  const visible = text => "“" + text.replace(/ /g, "␣").replace(/\n/g, "↵") + "”";

  let reply, steps, tokens, columns, times, at = 0, chosen = -1, timer = 0;

  // open shows reply i as it is after its last step.
  function open(i) {
    pause();
    reply = data.replies[i];
    steps = [];
    tokens = [];
    reply.rounds.forEach((r, n) => {
      if (r.draft.length) steps.push([n, 0], [n, 1]);
      steps.push([n, 2]);
      r.draft.forEach((t, k) => tokens.push({ t, round: n, place: k }));
      if (r.own) tokens.push({ t: r.own, round: n, place: -1 });
    });
    $("prompt").textContent = reply.prompt;
    $("prompt").className = reply.prompt === document.title ? "hidden" : "";
    const text = $("text");
    text.replaceChildren();
    tokens.forEach((x, k) => {
      x.text = data.texts[x.t[TEXT]];
      x.span = make("span", "", x.text);
      x.span.dataset.token = k;
      x.span.setAttribute("role", "button");
      x.span.tabIndex = -1;
      x.hidden = false;
      text.append(x.span);
    });
    [...$("replies").children].forEach((b, k) => b.setAttribute("aria-pressed", k === i));
    hero();
    drawColumns();
    $("seek").max = steps.length;
    chosen = -1;
    seek(steps.length);
  }

  function hero() {
    const box = $("hero"), s = reply.summary;
    box.replaceChildren();
    if (s.speedup) {
      const loses = s.speedup < 0.995;
      box.append(make("strong", loses ? "big loses" : "big", (s.estimated ? "≈ " : "") + "×" + s.speedup.toFixed(2) + (loses ? " slower" : " faster")));
    }
    box.append(make("span", "", s.tokens + " tokens in " + s.rounds + " rounds"));
    if (s.tested) box.append(make("span", "", Math.round(100 * s.accepted / s.tested) + " % of the tested draft tokens kept"));
    if (s.perSecond) box.append(make("span", "", Math.round(s.perSecond).toLocaleString("en") + " tokens/s"));
    reply.settings.forEach(x => box.append(make("span", "", x)));
  }

  function drawColumns() {
    const rounds = reply.rounds, most = Math.max(1, ...rounds.map(r => Math.max(r.gamma, r.draft.length) + 1));
    const slowest = Math.max(1e-9, reply.plainMS || 0, ...rounds.map(r => r.draftMS + r.verifyMS + r.otherMS));
    const part = (box, name, share) => { const e = make("i", name); e.style.height = 100 * share + "%"; box.append(e); };
    columns = rounds.map((r, n) => {
      const c = make("div", r.measuring ? "col measuring" : "col");
      c.dataset.round = n;
      r.draft.forEach(t => part(c, ["k", "r", "d"][t[VERDICT]] || "d", 1 / most));
      if (r.own) part(c, { resampled: "in", bonus: "f" }[verdicts[r.own[VERDICT]]] || "o", 1 / most);
      part(c, "cap", (r.gamma + 1) / most);
      return c;
    });
    times = rounds.map((r, n) => {
      const c = make("div", "col");
      c.dataset.round = n;
      part(c, "tc", r.verifyMS / slowest);
      part(c, "td", r.draftMS / slowest);
      part(c, "to", r.otherMS / slowest);
      return c;
    });
    $("columns").replaceChildren(...columns);
    $("times").replaceChildren(...times);
    $("plainKey").hidden = !reply.plainMS;
    if (reply.plainMS) {
      const line = make("div", "line");
      line.style.bottom = 100 * reply.plainMS / slowest + "%";
      $("times").append(line);
    }
    const s = reply.summary;
    $("columns").setAttribute("aria-label", rounds.length + " rounds: " + s.accepted + " drafted tokens kept, " + (s.tested - s.accepted) + " refused, " + (s.drafted - s.tested) + " discarded");
    $("times").setAttribute("aria-label", "time of each round, at most " + ms(slowest) + " milliseconds");
  }

  const shown = x => !x.span.hidden && x.text !== "";

  // seek shows the reply after its first steps, as many as to says.
  function seek(to) {
    at = Math.max(0, Math.min(steps.length, to));
    const [now, phase] = at ? steps[at - 1] : [-1, 2];
    const show = +$("show").value;
    for (const x of tokens) {
      const verdict = verdicts[x.t[VERDICT]] || "pending";
      let name = verdict, hidden = x.round > now || x.text === "";
      if (x.round === now && phase < 2) {
        if (x.place < 0) hidden = true;
        if (phase === 0) name = "pending";
      } else if (verdict === "rejected" && show < 1 || verdict === "discarded" && show < 2) hidden = true;
      if (x.span.hidden !== hidden) x.span.hidden = hidden;
      if (x.name !== name) { x.name = name; if (tokens[chosen] === x) name += " chosen"; x.span.className = name; }
    }
    const mark = (list) => list.forEach((c, n) => { c.classList.toggle("later", n > now); c.classList.toggle("now", n === now && at < steps.length); });
    mark(columns);
    mark(times);
    const phases = ["drafted", "verified", "written"];
    const where = at ? "round " + (now + 1) + " of " + reply.rounds.length + ", " + phases[phase] : "before round 1 of " + reply.rounds.length;
    $("seek").value = at;
    $("seek").setAttribute("aria-valuetext", where);
    $("where").textContent = where;
    describeRound(Math.max(now, 0));
    if (at && columns[now].offsetWidth) for (const box of [$("columns"), $("times")]) {
      const c = columns[now];
      if (c.offsetLeft < box.scrollLeft || c.offsetLeft + c.offsetWidth > box.scrollLeft + box.clientWidth) box.scrollLeft = c.offsetLeft - box.clientWidth / 2;
    }
    if (chosen < 0 || tokens[chosen].span.hidden) choose(tokens.findLastIndex(shown), false);
    else describe(chosen);
  }

  function describeRound(n) {
    const r = reply.rounds[n];
    if (!r) return;
    const who = r.draft.length ? "drafted by " + r.who : r.measuring ? "no draft, to measure" : "no draft";
    $("round").textContent = "Round " + (n + 1) + ": " + who + " · γ " + r.gamma + " · draft " + ms(r.draftMS) + " ms, check " + ms(r.verifyMS) + " ms";
  }

  // choose selects token k and shows its numbers. -1 selects none.
  function choose(k, focus) {
    if (chosen >= 0) { tokens[chosen].span.classList.remove("chosen"); tokens[chosen].span.tabIndex = -1; tokens[chosen].span.removeAttribute("aria-current"); }
    chosen = k;
    if (k < 0) { $("detail").replaceChildren(); return; }
    const span = tokens[k].span;
    span.classList.add("chosen");
    span.setAttribute("aria-current", "true");
    span.tabIndex = 0;
    if (focus) span.focus();
    describe(k);
    if (focus) $("said").textContent = sentence(tokens[k]);
  }

  function sentence(x) {
    const t = x.t, name = x.name;
    let s = "Token " + x.text + ": " + words[name] + ".";
    if (t[Q] !== null && name !== "bonus") s += " Draft probability q " + number(t[Q]) + ".";
    if (name === "pending") return s;
    if (t[P] !== null) s += " Target probability p " + number(t[P]) + ".";
    if (t[U] !== null) s += " Random number u " + number(t[U]) + ".";
    return s;
  }

  function test(t) {
    if (t[U] === null || t[P] === null) return "";
    if (reply.rule === "token" && t[Q] !== null) {
      const kept = t[VERDICT] === 0;
      return "u · q = " + number(t[U] * t[Q]) + (kept ? " is below p = " : " is not below p = ") + number(t[P]) + (kept ? ": kept" : ": refused");
    }
    if (t[BOUND] !== null) return "u = " + number(t[U]) + ", bound = " + number(t[BOUND]);
    return "";
  }

  function describe(k) {
    const x = tokens[k], t = x.t, box = $("detail"), pending = x.name === "pending";
    const head = make("h3", x.name);
    head.append(make("code", "", visible(x.text)));
    const note = make("p", "", words[x.name]);
    const figures = make("p", "", "q " + number(t[Q]) + (pending ? "" : " · p " + number(t[P]) + " · u " + number(t[U])));
    box.replaceChildren(head, note, figures);
    if (!pending && test(t)) box.append(make("p", "", test(t)));
    const list = candidates(t, pending);
    if (list.length) box.append(table(list, x, pending));
  }

  // candidates joins the likeliest tokens of both models to one list of at most 8, the likeliest first.
  function candidates(t, pending) {
    const byText = new Map();
    const add = (list, key) => {
      for (let i = 0; i + 1 < list.length; i += 2) {
        const c = byText.get(list[i]) || { text: data.texts[list[i]], p: null, q: null };
        c[key] = list[i + 1];
        byText.set(list[i], c);
      }
    };
    if (!pending) add(t[TARGET] || [], "p");
    add(t[DRAFT] || [], "q");
    return [...byText.values()].sort((a, b) => Math.max(b.p || 0, b.q || 0) - Math.max(a.p || 0, a.q || 0)).slice(0, 8);
  }

  function table(list, x, pending) {
    const residual = (x.name === "rejected" || x.name === "resampled") && reply.rule === "token";
    const out = make("table"), head = make("tr");
    for (const h of ["likeliest", "draft q", "", ...(pending ? [] : ["target p", ""]), ...(residual ? ["left p − q"] : [])]) head.append(make("th", "", h));
    out.append(head);
    const rest = residual && x.name === "rejected" ? tokens.find(y => y.round === x.round && y.place < 0) : x;
    for (const c of list) {
      const row = make("tr", rest && rest.text === c.text && residual ? "drawn" : ""), name = make("td");
      name.append(make("code", "", visible(c.text)));
      row.append(name);
      const cell = (v, kind) => {
        row.append(make("td", "n " + kind, number(v)));
        const td = make("td", kind), bar = make("span", "bar"), part = make("i");
        part.style.width = 100 * (v || 0) + "%";
        bar.append(part);
        td.append(bar);
        row.append(td);
      };
      cell(c.q, "q");
      if (!pending) cell(c.p, "p");
      if (residual) row.append(make("td", "n", c.p === null ? "–" : c.q === null ? "≤ " + number(c.p) : number(Math.max(0, c.p - c.q))));
      out.append(row);
    }
    return out;
  }

  function pause() {
    clearTimeout(timer);
    timer = 0;
    $("play").textContent = "Play";
  }

  function play() {
    if (at === steps.length) seek(0);
    $("play").textContent = "Pause";
    tick();
  }

  function tick() {
    if (at === steps.length) { pause(); return; }
    seek(at + 1);
    const [n, phase] = steps[at - 1], r = reply.rounds[n], rate = +$("speed").value;
    let wait = rate ? 1000 / (rate * (r.draft.length ? 3 : 1)) : [r.draftMS, r.verifyMS, r.otherMS][phase];
    if (!rate && !r.draft.length) wait = r.verifyMS + r.otherMS;
    timer = setTimeout(tick, wait);
  }

  const toggle = () => timer ? pause() : play();
  const step = by => { pause(); seek(at + by); };

  // move selects the next token that is shown: after the selected one if by is 1, before it if by is -1.
  function move(by) {
    for (let k = chosen + by; k >= 0 && k < tokens.length; k += by) if (shown(tokens[k])) { choose(k, true); return; }
  }

  const tokenOf = e => e.target.dataset && e.target.dataset.token !== undefined ? +e.target.dataset.token : -1;
  $("text").addEventListener("click", e => { const k = tokenOf(e); if (k >= 0) choose(k, true); });
  $("text").addEventListener("pointerover", e => { const k = tokenOf(e); if (k >= 0) describe(k); });
  $("text").addEventListener("pointerleave", () => { if (chosen >= 0) describe(chosen); });
  $("text").addEventListener("keydown", e => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (by) move(by);
    else if (e.key === "Home") choose(tokens.findIndex(shown), true);
    else if (e.key === "End") choose(tokens.findLastIndex(shown), true);
    else return;
    e.preventDefault();
    e.stopPropagation();
  });
  for (const box of ["columns", "times"]) $(box).addEventListener("click", e => {
    const c = e.target.closest(".col");
    if (!c) return;
    pause();
    seek(steps.findLastIndex(s => s[0] === +c.dataset.round) + 1);
  });
  $("play").addEventListener("click", toggle);
  $("back").addEventListener("click", () => step(-1));
  $("forward").addEventListener("click", () => step(1));
  $("seek").addEventListener("input", () => { pause(); seek(+$("seek").value); });
  $("show").addEventListener("change", () => seek(at));
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.altKey || e.metaKey || /^(INPUT|SELECT|BUTTON)$/.test(e.target.tagName)) return;
    if (e.key === " ") toggle();
    else if (e.key === "ArrowLeft") step(-1);
    else if (e.key === "ArrowRight") step(1);
    else if (e.key === "Home") step(-Infinity);
    else if (e.key === "End") step(Infinity);
    else return;
    e.preventDefault();
  });

  if (data.replies.length > 1) {
    data.replies.forEach((r, i) => {
      const b = make("button", "", (i + 1) + ". " + (r.prompt.length > 40 ? r.prompt.slice(0, 39) + "…" : r.prompt));
      b.type = "button";
      b.addEventListener("click", () => open(i));
      $("replies").append(b);
    });
    $("replies").hidden = false;
  }
  $("main").hidden = false;
  open(data.replies.length - 1);
})();
