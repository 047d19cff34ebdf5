// The page's own script: takes the token, fetches parts, sends what is to be done, and hears what changed.
// It makes no HTML of its own: parts come escaped from the server, messages are set as text.

const KEY = "claude-mem-lite";
const main = document.getElementById("main");
const news = document.getElementById("news");
const pending = document.getElementById("pending");
const live = document.getElementById("live");
const menu = document.getElementById("menu");
const help = document.getElementById("help");
const question = document.getElementById("question");
const GO = {f: "/", c: "/context", p: "/projects", l: "/lessons", q: "/quarantine", h: "/health", s: "/search",
  t: "/team", g: "/guards", e: "/evaluation", x: "/experiment"};
const GONE = "The server of this page is gone: run `claude-mem-lite ui` again.";
const CODE = /^[\w-]{43}$/;
const TYPED_MS = 120;
const GOING_MS = 1500;
const READ_FROM = 300;
const MAX_LEFT = 20;
const DELAY_S = 10;
// Titles of pages are kept by the browser for long: none of them tells what is remembered.
const TITLES = {search: "Search", context: "What Claude sees", projects: "Projects", lessons: "Lessons", guards: "Guards",
  quarantine: "Quarantine", health: "Health", memories: "A memory", sessions: "A session", turns: "A turn", team: "Team",
  evaluation: "Evaluation", experiment: "Experiment"};

// A list grows when its end is a screen away: who reads on waits for nothing.
const nearing = new IntersectionObserver((all) => {
  for (const one of all) if (one.isIntersecting) grow(one.target);
}, {rootMargin: "0px 0px 100% 0px"});
const growing = new WeakSet();

let shown = 0;
let typing = 0;
let goingUntil = 0;
let refused = "";  // why the link opened nothing

// A code stands in the link behind #, which no browser sends. It is good for one use: for it the server gives the token,
// which goes into this origin's own storage. A link that another site made up changes nothing.
async function enter() {
  const code = location.hash.slice(1);
  if (CODE.test(code)) {
    history.replaceState(history.state, "", location.pathname + location.search);
    const headers = {"Content-Type": "application/json"};
    const answer = await fetch("/enter", {method: "POST", headers, body: JSON.stringify({code})});
    const told = await answer.json();
    if (answer.ok) localStorage.setItem(KEY, told.token);
    else refused = told.error;
  }
  return localStorage.getItem(KEY) ?? "";
}

const token = await enter().catch(() => "");

function ask(path, options = {}) {
  const headers = {...options.headers, Authorization: `Bearer ${token}`};
  return fetch(path, {...options, headers});
}

function send(name, given, options = {}) {
  const headers = {"Content-Type": "application/json"};
  return ask(`/do/${name}`, {...options, method: "POST", headers, body: JSON.stringify(given)});
}

// Text in which commands stand between backticks, as the server writes them.
function withCode(text) {
  return text.split("`").map((words, at) => (at % 2 ? Object.assign(document.createElement("code"), {textContent: words}) : words));
}

// `undo` names what takes it back, as the server said.
function tell(message, isProblem = false, undo = null) {
  news.replaceChildren(...withCode(message));
  news.classList.toggle("problem", isProblem);
  if (!undo) return;
  const button = document.createElement("button");
  button.type = "button";
  button.id = "undo-last";
  button.textContent = "Undo";
  Object.assign(button.dataset, {do: undo.do, with: JSON.stringify(undo.with)});
  news.append(" ", button);
}

// Parts.

// The HTML of a part; null when there is none, and the user was told why.
async function part(path) {
  let answer;
  try {
    answer = await ask(`/part${path}`);
  } catch {
    tell(GONE, true);
    return null;
  }
  if (answer.status !== 401) return {html: await answer.text(), isProblem: !answer.ok};
  lockedOut();
  return null;
}

// The same for a place in the page: a problem is told, and what stands there stays.
async function partFor(path) {
  const found = await part(path);
  if (!found?.isProblem) return found?.html ?? null;
  const told = new DOMParser().parseFromString(found.html, "text/html").querySelector(".problem");
  tell(told?.textContent ?? "That did not work: load the page again.", true);
  return null;
}

// `isNew` goes to another address, `keep` stays where the user is in the page.
async function show(path, {isNew = false, keep = false, at = "", y = 0} = {}) {
  const number = ++shown;
  main.setAttribute("aria-busy", "true");
  const found = await part(path);
  if (number !== shown) return;
  main.removeAttribute("aria-busy");
  if (!found) return;
  if (isNew) leave(path + at);
  put(main, found.html, keep);
  settle();
  if (keep) return;
  tell("");
  if (isNew) main.focus({preventScroll: true});
  scrollTo(0, y);
  const place = at && document.getElementById(at.slice(1));
  if (place) {
    place.setAttribute("open", "");
    place.scrollIntoView();
  }
}

function settle() {
  document.title = `${TITLES[location.pathname.split("/")[1]] ?? "Feed"} · claude-mem-lite`;
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  openMenu(false);
}

// In a narrow window the list of pages is behind a button; elsewhere the button is not in sight.
function openMenu(isOpen) {
  menu.setAttribute("aria-expanded", String(isOpen));
}

menu.addEventListener("click", () => openMenu(menu.getAttribute("aria-expanded") === "false"));

// What is open, selected or focused stays so when a part comes anew.
function put(place, html, keep) {
  const open = keep ? [...place.querySelectorAll("details[open][id]")].map((one) => one.id) : [];
  const selected = keep ? [...place.querySelectorAll("input.select:checked")].map((one) => one.id) : [];
  const isInside = keep && place.contains(document.activeElement) && document.activeElement !== main;
  const focused = isInside ? document.activeElement.id : "";
  place.innerHTML = html;
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  for (const id of selected) if (document.getElementById(id)) document.getElementById(id).checked = true;
  count();
  watch(place);
  if (isInside) (document.getElementById(focused) ?? main).focus({preventScroll: true});
}

// `isWanted` is asked when the part has come: the user may have gone on meanwhile.
async function fill(place, path, isWanted = () => true) {
  place.asked = path;
  const html = await partFor(path);
  if (html !== null && place.asked === path && isWanted()) put(place, html, true);  // else something else was asked for since
}

function lockedOut() {
  main.removeAttribute("aria-busy");
  live.textContent = "locked";
  const told = document.createElement("p");
  told.className = "problem";
  const title = document.createElement("h1");
  title.textContent = "This page is locked";
  told.append(...withCode(refused || "Open the link that `claude-mem-lite ui` printed last, or run it again."));
  main.replaceChildren(title, told);
}

// The way back: a list is there again as it was left, however far it was read; anything else is fetched anew.

const left = new Map();
history.scrollRestoration = "manual";

function note() {
  const key = history.state ?? crypto.randomUUID();
  history.replaceState(key, "");
  left.set(key, {html: main.querySelector("[data-fresh]") ? main.innerHTML : "", y: scrollY});
  if (left.size > MAX_LEFT) left.delete(left.keys().next().value);
}

function leave(path) {
  note();
  history.pushState(crypto.randomUUID(), "", path);
}

addEventListener("popstate", () => {
  const known = left.get(history.state);
  if (!known?.html) return show(here(), {at: location.hash, y: known?.y ?? 0});
  shown += 1;
  tell("");
  put(main, known.html, false);
  settle();
  scrollTo(0, known.y);
});

function here() {
  return location.pathname + location.search;
}

// Links, forms and buttons.

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-do]");
  if (button && button.dataset.asks && !(await isSure(button))) return;
  if (button) return button.dataset.delay ? delay(button) : act(button);
  if (event.target.closest("[data-offer]")) return show(here());
  const link = event.target.closest("a[href]");
  if (!link || link.origin !== location.origin || event.ctrlKey || event.metaKey || event.shiftKey || link.target) return;
  event.preventDefault();
  if (link.hash && link.pathname === location.pathname) return document.getElementById(link.hash.slice(1))?.focus();
  if (link.dataset.more) return grow(link);
  show(link.pathname + link.search, {isNew: true, at: link.hash});
});

// The next part of a long list, put below it. A link that failed stays, and can be pressed again.
async function grow(link) {
  if (growing.has(link)) return;
  growing.add(link);
  const html = await partFor(link.pathname + link.search);
  growing.delete(link);
  if (html === null || !link.isConnected) return;
  const place = document.getElementById(link.dataset.more);
  const isFocused = document.activeElement === link;
  const before = main.querySelectorAll("a[data-item]").length;
  link.closest("p").remove();
  place.insertAdjacentHTML("beforeend", html);
  place.dataset.grown = "yes";
  if (isFocused) main.querySelectorAll("a[data-item]")[before]?.focus({preventScroll: true});
  watch(place);
}

function watch(place) {
  for (const link of place.querySelectorAll("a[data-auto]")) nearing.observe(link);
}

// The way back to the filters is in sight once they are not.
addEventListener("scroll", () => main.toggleAttribute("data-deep", scrollY > READ_FROM), {passive: true});

// The question before what cannot be taken back; its words are a template of the part.
async function isSure(button) {
  const words = document.getElementById(button.dataset.asks);
  question.querySelector("[data-words]").replaceChildren(words.content.cloneNode(true));
  question.querySelector("[data-yes]").textContent = button.dataset.yes;
  question.returnValue = "";
  question.showModal();
  await new Promise((closed) => question.addEventListener("close", closed, {once: true}));
  return question.returnValue === "yes";
}

// Memories that are selected by their boxes: the bar with what can be done is there while any is.
function count() {
  for (const bar of main.querySelectorAll("[data-selected]")) {
    const number = bar.closest("form").querySelectorAll("input.select:checked").length;
    bar.hidden = !number;
    bar.querySelector("[data-count]").textContent = number ? `${number} selected` : "";
  }
}

document.addEventListener("reset", () => setTimeout(count));

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "dialog") return;
  event.preventDefault();
  if (form.dataset.do) act(form);
  else if (form.dataset.live) typed(form);
  else show(asQuery(form), {isNew: true});
});

document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-live]");
  if (!form) return;
  clearTimeout(typing);
  typing = setTimeout(typed, TYPED_MS, form);
});

async function typed(form) {
  clearTimeout(typing);
  if (!form.isConnected) return;
  const path = asQuery(form);
  // What is searched for can be found again by the way back; a prompt that is tried is nobody's business.
  if (form.role === "search") history.replaceState(history.state, "", path);
  const place = document.getElementById(form.dataset.live);
  await fill(place, `${path}${path.includes("?") ? "&" : "?"}only=results`);
  // How it went is read out; the results themselves would be too long for that.
  const told = document.getElementById(`${place.id}-told`);
  if (told) told.textContent = place.querySelector("[data-told]")?.textContent ?? "";
}

document.addEventListener("change", (event) => {
  if (event.target.matches("input.select")) return count();
  const form = event.target.closest("form[data-changing]");
  // While a year is typed, the browser takes each digit for one.
  const isYoung = event.target.type === "date" && event.target.value && event.target.value < "1970";
  if (form && !isYoung) show(asQuery(form), {isNew: true, keep: true});
});

function asQuery(form) {
  const path = form.getAttribute("action") || location.pathname;
  // What another form of the same page chose stays chosen.
  const chosen = new URLSearchParams(path === location.pathname ? location.search : "");
  for (const field of form.elements) chosen.delete(field.name);
  for (const [name, value] of new FormData(form)) if (value !== "") chosen.append(name, value);
  return chosen.size ? `${path}?${chosen}` : path;
}

// `data-do` names what is to be done, `data-with` what with; a form adds its fields. `at` is where it was pressed: whoever
// is elsewhere when it is done stays there.
async function act(element, at = location.pathname, given = givenBy(element)) {
  if (isAllLeaving(given)) return;
  element.closest("dialog")?.close();
  element.setAttribute("aria-busy", "true");
  try {
    const answer = await send(element.dataset.do, given);
    if (answer.status === 401) return lockedOut();
    const isTold = answer.headers.get("Content-Type")?.startsWith("application/json");
    const told = isTold ? await answer.json() : {error: await answer.text()};
    if (!told.error) {
      element.closest("details")?.removeAttribute("open");
      for (const box of element.querySelectorAll("input.select:checked")) box.checked = false;
      if (at === location.pathname) await show(told.go ?? here(), {isNew: Boolean(told.go), keep: !told.go});
    }
    tell(told.error ?? told.message ?? "Done.", Boolean(told.error), told.undo);
    const isLost = document.activeElement === document.body || document.activeElement === main;
    if (isLost) (document.getElementById("undo-last") ?? main).focus({preventScroll: true});
  } catch {
    tell(GONE, true);
  } finally {
    element.removeAttribute("aria-busy");
  }
}

function givenBy(element) {
  const given = element.dataset.with ? JSON.parse(element.dataset.with) : {};
  if (element instanceof HTMLFormElement) {
    const fields = new FormData(element);
    Object.assign(given, Object.fromEntries(fields));
    if (fields.has("ids")) given.ids = fields.getAll("ids");
  }
  const leaving = new Set([...delayed.values()].flatMap((one) => one.given.ids ?? []));
  if (given.ids && leaving.size) given.ids = given.ids.filter((id) => !leaving.has(id));
  return given;
}

function isAllLeaving(given) {
  const isAll = Boolean(given.ids) && !given.ids.length;
  if (isAll) tell("That is about to be dropped: undo it first.", true);
  return isAll;
}

// What erases is sent after a delay, or when the page is left: until then it can be undone, and after it nothing of what was
// forgotten is kept anywhere. Until then nothing else is done with it.

const delayed = new Map();
// A browser sends no more than 64 KB for a page that is left.
const MAX_DELAYED = 60_000;

function delay(button) {
  const key = button.dataset.do + button.dataset.with;
  if (delayed.has(key)) return;
  const at = location.pathname;
  const given = givenBy(button);
  if (isAllLeaving(given)) return;
  const size = [given, ...[...delayed.values()].map((one) => one.given)].reduce((sum, one) => sum + JSON.stringify(one).length, 0);
  if (size > MAX_DELAYED) return act(button, at, given);
  const line = document.createElement("p");
  const timer = document.createElement("span");
  const undo = document.createElement("button");
  let left = DELAY_S;
  const tick = () => (timer.textContent = `${button.dataset.delay} in ${left} s`);
  const ticking = setInterval(() => {
    left -= 1;
    tick();
    if (left > 0) return;
    stop();
    act(button, at, given);
  }, 1000);
  function stop() {
    clearInterval(ticking);
    delayed.delete(key);
    line.remove();
  }
  timer.role = "timer";  // each second is shown, and not read out
  tick();
  undo.type = "button";
  undo.textContent = "Undo";
  undo.addEventListener("click", () => {
    stop();
    tell("Undone: nothing was erased.");
    main.focus({preventScroll: true});
  });
  line.append(timer, " · ", undo);
  pending.append(line);
  const sendNow = () => {
    stop();
    send(button.dataset.do, given, {keepalive: true});
  };
  delayed.set(key, {given, sendNow});
  undo.focus({preventScroll: true});
}

addEventListener("pagehide", () => {
  for (const one of [...delayed.values()]) one.sendNow();
});

// What changed. A stream read by hand: the browser's own reader of such streams sends no token. One tab reads for all of
// them, because a browser has six connections to a server; when it is closed, another does.

const others = new BroadcastChannel(KEY);
others.onmessage = ({data}) => (data === "?" ? others.postMessage({state: live.textContent}) : hear(data));

function say(told) {
  hear(told);
  others.postMessage(told);
}

async function listen() {
  for (;;) {
    let isFirst = true;
    try {
      const answer = await ask("/events");
      if (answer.status === 401) return;
      say({state: "live"});
      let rest = "";
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const {value, done} = await reader.read();
        if (done) break;
        rest += value;
        const events = rest.split("\n\n");
        rest = events.pop();
        for (const event of events) {
          if (event.startsWith("event: away")) say({state: "worker asleep: it wakes when you go on"});
          if (!event.startsWith("event: changed")) continue;
          say({state: "live", isChanged: !isFirst});
          isFirst = false;
        }
      }
    } catch {
      // told below
    }
    say({state: "not connected"});
    await new Promise((again) => setTimeout(again, 2000));
  }
}

function hear({state, isChanged}) {
  live.textContent = state;
  if (!isChanged) return;
  const offer = main.querySelector("[data-offer]");
  for (const place of main.querySelectorAll("[data-fresh]")) {
    const mayMove = () => {
      const isFree = isUnread(place, offer);
      if (!isFree && offer) offer.hidden = false;
      return isFree;
    };
    if (mayMove()) fill(place, place.dataset.fresh, mayMove);
  }
}

// Nothing moves under the eyes of who reads further down, or is in the middle of something.
function isUnread(place, offer) {
  const isKept = document.activeElement.matches("button[id], input.select");
  const isBusy = question.open || (place.contains(document.activeElement) && !isKept);
  return !isBusy && !place.dataset.grown && !(offer && scrollY > READ_FROM);
}

// Keys.

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input:not(.select), textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "Escape" && !help.open && !question.open) openMenu(false);
  // In a form of boxes a browser takes Enter for its button.
  if (event.key === "Enter" && event.target.matches("input.select")) event.preventDefault();
  if (help.open || question.open) return;
  if (performance.now() < goingUntil) {
    goingUntil = 0;
    if (GO[event.key]) show(GO[event.key], {isNew: true});
    return;
  }
  if (event.key === "g") goingUntil = performance.now() + GOING_MS;
  else if (event.key === "/") find(event);
  else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
  else if (event.key === "x") document.activeElement.closest(".item")?.querySelector("input.select")?.click();
  else if (event.key === "t") switchTheme();
  else if (event.key === "?") help.showModal();
  else press(event);
});

// What an item offers by a key of its own.
function press(event) {
  const keyed = document.activeElement.closest(".item")?.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!keyed) return;
  event.preventDefault();
  keyed.click();
  keyed.closest("details")?.querySelector("textarea")?.focus();
}

async function find(event) {
  event.preventDefault();
  if (location.pathname !== "/search") await show("/search", {isNew: true});
  document.getElementById("query")?.focus();
}

function step(by) {
  const items = [...main.querySelectorAll("a[data-item]")];
  const at = items.indexOf(document.activeElement.closest(".item")?.querySelector("a[data-item]") ?? document.activeElement);
  items[Math.max(0, Math.min(items.length - 1, at + by))]?.focus();
}

// Light and dark: as the machine has it, until somebody says otherwise; the third press is the machine's again.

const machine = matchMedia("(prefers-color-scheme: dark)");
const THEME = `${KEY}-theme`;

function setTheme() {
  const chosen = localStorage.getItem(THEME);
  document.documentElement.dataset.theme = chosen ?? (machine.matches ? "dark" : "light");
  document.getElementById("theme").textContent = `Theme: ${chosen ?? "auto"}`;
}

function switchTheme() {
  const [other, same] = machine.matches ? ["light", "dark"] : ["dark", "light"];
  const next = {[other]: same, [same]: null}[localStorage.getItem(THEME)];
  if (next === null) localStorage.removeItem(THEME);
  else localStorage.setItem(THEME, next ?? other);
  setTheme();
}

document.getElementById("theme").addEventListener("click", switchTheme);
document.getElementById("keys").addEventListener("click", () => help.showModal());
machine.addEventListener("change", setTheme);

setTheme();
if (token) {
  show(here(), {at: location.hash});
  others.postMessage("?");
  navigator.locks.request(KEY, listen);
} else {
  lockedOut();
}
