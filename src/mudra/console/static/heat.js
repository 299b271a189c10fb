"use strict";
// The figures of a cell of the matrix, under the pointer and by the arrow keys; Enter opens its page.
// The table under the picture says what is bad without this script.
function heat(place) {
  const data = JSON.parse(place.dataset.heat);
  const words = JSON.parse(place.dataset.words);
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const box = place.querySelector(".cells");
  const picture = box.querySelector("svg");
  const [rows, columns] = [data.rows.length, data.columns.length];
  const tip = Object.assign(document.createElement("p"), { className: "tip", hidden: true });
  tip.setAttribute("role", "status");
  const frame = Object.assign(document.createElement("span"), { className: "here", hidden: true });
  box.append(frame);
  place.append(tip);
  box.tabIndex = 0;
  box.setAttribute("role", "application");
  box.setAttribute("aria-label", filled(words.keys, { picture: picture.getAttribute("aria-label") }));
  const names = { b: "bad", r: "recovered", u: "unsure", n: "none" };
  const cells = new Map(); // of those that are not good: kind, API, succeeded, calls
  data.at.reduce(([place, figure], step, which) => {
    const kind = names[data.kinds[which]];
    const next = figure + (kind === "none" ? 0 : 3);
    cells.set(place + step, [kind, ...data.figures.slice(figure, next)]);
    return [place + step, next];
  }, [0, 0]);
  const number = new Intl.NumberFormat(document.documentElement.lang);
  let at = null;

  const ends = ([row, column]) => {
    const [down, right] = [data.rows[row], data.columns[column]];
    return data.across ? [down, right] : [right, down];
  };

  function said([row, column]) {
    const [aa, fip] = ends([row, column]);
    const cell = cells.get(row * columns + column);
    const pair = filled(words.pair, { aa: aa[1], fip: fip[1] });
    if (!cell) return `${pair}: ${words.good}`;
    const [kind, api, succeeded, eligible] = cell;
    if (kind === "none") return `${pair}: ${words.none}`;
    const share = eligible ? `${((100 * succeeded) / eligible).toFixed(1)} %` : "?";
    const calls = filled(words.calls, { api: data.apis[api], share, calls: number.format(eligible) });
    return `${pair}: ${calls}${kind === "bad" ? "" : `, ${words[kind]}`}`;
  }

  function show(cell) {
    at = cell;
    const [width, height] = [picture.clientWidth / columns, picture.clientHeight / rows];
    const [row, column] = cell;
    frame.hidden = tip.hidden = false;
    Object.assign(frame.style, { left: `${column * width}px`, top: `${row * height}px`, width: `${width}px`, height: `${height}px` });
    tip.textContent = said(cell);
  }

  function hide() {
    frame.hidden = tip.hidden = true;
  }

  function under(event) {
    const of = picture.getBoundingClientRect();
    const [x, y] = [(event.clientX - of.left) / of.width, (event.clientY - of.top) / of.height];
    const inside = (value, count) => Math.min(count - 1, Math.max(0, Math.floor(value * count)));
    return [inside(y, rows), inside(x, columns)];
  }

  function open() {
    const [aa, fip] = ends(at);
    location.assign(`${data.pair}${encodeURIComponent(aa[0])}/${encodeURIComponent(fip[0])}${data.query}`);
  }

  picture.addEventListener("pointermove", (event) => show(under(event)));
  box.addEventListener("pointerleave", hide);
  picture.addEventListener("click", (event) => {
    const cell = under(event);
    const again = at && at[0] === cell[0] && at[1] === cell[1];
    show(cell);
    if (event.pointerType !== "touch" || again) open();
  });
  box.addEventListener("focus", () => show(at ?? [0, 0]));
  box.addEventListener("blur", hide);
  box.addEventListener("keydown", (event) => {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === "Enter" && at) open();
    if (event.key === "Escape") hide();
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const [row, column] = at ?? [0, 0];
    show([Math.min(rows - 1, Math.max(0, row + move[0])), Math.min(columns - 1, Math.max(0, column + move[1]))]);
  });
}

function heatAll() {
  for (const place of document.querySelectorAll(".heat:not([data-ready])")) {
    place.dataset.ready = "";
    heat(place);
  }
}

heatAll();
document.addEventListener("htmx:afterSettle", heatAll);
