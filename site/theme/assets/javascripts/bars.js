/* Results as bars, on the home page and on Compare: read from figures.js, drawn as HTML, and the same bars as an SVG. */
(function () {
  "use strict";

  const SHARES = ["spread", "efficiency", "mfu", "roofline"];
  const UNPADDED = ["value", "per_gpu", "per_joule"];
  const PER_SECOND = /\/s$/;
  const APART_BY = " · ";
  const data = { columns: [], names: {}, metrics: {}, words: {}, also: {}, rows: [] };
  const at = {};

  function open() {
    Object.assign(data, window.dlperfFigures);
    data.columns.forEach((name, index) => { at[name] = index; });
  }

  /* A row's value: names are stored once, a row holds their number. */
  function of(row, column) {
    const value = row[at[column]];
    return data.names[column] ? data.names[column][value] : value;
  }

  /* What the part of the address after "#" keeps, with the names of this language where another one wrote it. */
  function chosen() {
    const own = name => Object.hasOwn(data.also, name) ? data.also[name] : name;
    return new URLSearchParams([...new URLSearchParams(location.hash.slice(1))]
      .map(([name, value]) => [name, own(value) === value ? value.split(APART_BY).map(own).join(APART_BY) : own(value)]));
  }

  const gpusOf = row => of(row, "nodes") * of(row, "gpus");
  const isLower = (row, metric) => metric === "value" ? of(row, "lower") === 1 : Boolean(data.metrics[metric].lower);
  const addressOf = row => of(row, "page") + "#" + of(row, "anchor");

  function measure(row, metric) {
    if (metric === "per_gpu") return of(row, "rate") && of(row, "value") ? of(row, "value") / gpusOf(row) : null;
    if (metric in at) return of(row, metric);
    const [, value = null] = metricIn(row, metric);
    return value;
  }

  /* What a result is ranked and drawn by, as unpadded_per_gpu does: a throughput without the share that counts padding. */
  const isUnpadded = (row, metric) => Boolean(of(row, "padding")) && UNPADDED.includes(metric);
  const compared = (row, metric) => isUnpadded(row, metric) ? measure(row, metric) * (1 - of(row, "padding")) : measure(row, metric);

  /* Id and value; a metric that rests on more than the trial, such as a price, also has its own unit, and what it rests on. */
  function metricIn(row, metric) {
    return (of(row, "metrics") || []).find(found => found[0] === metric) || [];
  }

  const basisOf = (row, metric) => metricIn(row, metric)[3];

  function unitOf(row, metric) {
    const own = metricIn(row, metric)[2] || (data.metrics[metric] && data.metrics[metric].unit);
    if (own !== undefined) return own;
    if (SHARES.includes(metric)) return "";
    return metric === "per_joule" ? of(row, "unit").replace(PER_SECOND, "/J") : of(row, "unit");
  }

  /* As figures.four_digits does. */
  function text(value, metric) {
    if (value === null || value === undefined) return "";
    if (SHARES.includes(metric)) return (value * 100).toFixed(metric === "spread" && value < 0.0005 ? 2 : 1) + " %";
    if (value && Math.abs(value) < 0.001) return String(+value.toPrecision(4));
    const digits = Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value) || 1)));
    return grouped(+value.toFixed(digits));
  }

  /* With thousands separators; toLocaleString takes a tenth of a second for the first picture on a telephone. */
  const grouped = number => String(number).replace(/\d+/, whole => whole.replace(/\B(?=(\d{3})+$)/g, ","));

  const distinct = values => Array.from(new Set(values));
  const batchText = row => of(row, "batch_size") ? data.words.batch.replace("{size}", grouped(of(row, "batch_size"))) : "";
  const gpusText = count => count === 1 ? data.words.gpu : data.words.gpus.replace("{count}", count);

  /* How many GPUs a result is of; of several that were measured together it says whether it stands for them or for itself. */
  const togetherText = row => of(row, "together") > 1 ? data.words[of(row, "newest") ? "median_of_gpus" : "one_of_gpus"].replace("{count}", of(row, "together")) : "";
  const scaleText = row => togetherText(row) || gpusText(gpusOf(row));

  /* What a framework's name does not say of a program, as program_words does. */
  const programText = row => [of(row, "tuning") === "tuned" && data.words.tuned, of(row, "earlier") && data.words.earlier].filter(Boolean).join(APART_BY);

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    Object.entries(attributes || {}).forEach(([name, value]) => {
      if (typeof value === "function") made.addEventListener(name, value);
      else if (value === true) made.setAttribute(name, "");
      else if (value !== false && value !== undefined && value !== null) made.setAttribute(name, value);
    });
    made.append(...children.filter(child => child !== null && child !== undefined && child !== false && child !== ""));
    return made;
  }

  /* Best first. */
  const ranked = (rows, metric) => rows.slice().sort((a, b) =>
    (compared(b, metric) - compared(a, metric)) * (isLower(a, metric) ? -1 : 1));

  /* The best row of each key, the best first, as best_of of best.py chooses it: of those with most support the highest;
     if it has caveats, the highest of its precision and GPUs that has none. */
  function bestOf(rows, metric, keyOf) {
    const most = new Map();
    for (const row of rows) most.set(keyOf(row), Math.max(most.get(keyOf(row)) || 0, of(row, "support")));
    const order = ranked(rows.filter(row => of(row, "support") === most.get(keyOf(row))), metric);
    const pointOf = row => [keyOf(row), of(row, "precision"), gpusOf(row)].join("|");
    const first = (key, found) => found.reduce((kept, row) => kept.has(key(row)) ? kept : kept.set(key(row), row), new Map());
    const sure = first(pointOf, order.filter(row => !of(row, "caveats")));
    const best = Array.from(first(keyOf, order).values(), row => of(row, "caveats") && sure.get(pointOf(row)) || row);
    return ranked(best, metric);
  }

  /* What a model's best results are the best of: accelerator, family of frameworks, and of our own the precision. */
  const kindBy = name => row => [of(row, "chip"), of(row, name), of(row, "published") ? "" : of(row, "precision")].join("|");
  const kindOf = kindBy("family");

  /* The same of each program: under a filter, the best of a family would hide the others that have results there. */
  const programOf = kindBy("framework");

  /* What tells two results of the same name and conditions apart, the most telling first. */
  const APART = [programText, batchText, row => of(row, "settings"), row => of(row, "hardware"), row => of(row, "source"), row => of(row, "date")];

  /* Name of each row and what stands small beside it, by title(row); where several are alike, also what they differ in. */
  function named(rows, title) {
    return APART.reduce((names, read) => names.map(([name, aside], place) => {
      const alike = rows.filter((row, other) => names[other][0] === name && names[other][1] === aside);
      return [name, distinct(alike.map(read)).length > 1 ? [aside, read(rows[place])].filter(Boolean).join(" · ") : aside];
    }), rows.map(title));
  }

  /* What is drawn of each row: title(row) gives its name and what stands small beside it. */
  function barsOf(rows, metric, baseline, title) {
    const names = named(rows, title);
    const longest = Math.max(...rows.map(row => compared(row, metric))) || 1;
    return rows.map((row, place) => {
      const value = compared(row, metric), base = baseline ? compared(baseline, metric) : 0;
      const [name, conditions] = names[place];
      const aside = [conditions, isUnpadded(row, metric) && data.words.unpadded].filter(Boolean).join(APART_BY);
      return {
        name, aside, value, text: text(value, metric), share: value / longest, row, isBaseline: row === baseline,
        times: base ? (value / base).toFixed(2) + "×" : "", series: of(row, "series") % data.colours,
        published: of(row, "published") === 1, caveats: of(row, "caveats"), address: addressOf(row),
      };
    });
  }

  /* Who shows these bars: the site, the day of the newest result, the licence, and the sources to whom others' results belong. */
  function credit(bars) {
    const rows = bars.map(bar => bar.row), licence = document.querySelector("a[rel=license]");
    const sources = distinct(rows.filter(row => of(row, "published")).map(row => of(row, "source")));
    const newest = rows.map(row => of(row, "date")).sort().pop();
    return [[document.title.split(" - ").pop(), newest].filter(Boolean).join(", "), licence && licence.textContent,
      sources.length && data.words.of_sources.replace("{sources}", sources.join("; "))].filter(Boolean).join(" · ");
  }

  const caveatsOf = bars => distinct(bars.map(bar => bar.caveats).filter(Boolean));

  /* The mark beside a value, with its number among several notes. */
  const markOf = (caveats, notes) => "†" + (notes && notes.length > 1 ? notes.indexOf(caveats) + 1 : "");

  /* What the marks say, where a reader has no page to follow them to. */
  const notesOf = bars => caveatsOf(bars).map((caveats, _, notes) => markOf(caveats, notes) + " " + caveats);

  /* A bar's HTML, as the macro "bars" makes it. base: the address to which links are relative; notes: caveats to number. */
  function item(bar, base, notes) {
    const address = new URL(bar.address, base || location).href;
    const made = element("li", { class: `series-${bar.series}${bar.published ? " published" : ""}` },
      element("span", { class: "name" }, bar.name + " ", element("small", {}, bar.aside)),
      element("span", { class: "bar" }, element("span")),
      element("span", { class: "value" }, element("a", { href: address, title: bar.value }, bar.text),
        bar.caveats && " ", bar.caveats && doubt(address, bar.caveats, markOf(bar.caveats, notes))),
      element("span", { class: "times" }, bar.times));
    made.style.setProperty("--share", 100 * bar.share + "%");
    return made;
  }

  const doubt = (address, caveats, mark) => element("a", { class: "doubt", href: address, title: caveats,
    "aria-label": data.words.caveats + ": " + caveats }, mark || "†");
  const list = (bars, base, notes) => element("ul", { class: "bars" }, ...bars.map(bar => item(bar, base, notes)));

  /* Panels { title, aside, bars } below each other as one SVG, in the colours of the page. */
  function picture(panels, footnotes) {
    const WIDE = 860, NAME = 300, BAR = 350, ROW = 32, probe = document.body.appendChild(element("i"));
    const seen = name => getComputedStyle(probe).getPropertyValue(name).trim();
    const ink = seen("--md-typeset-color"), quiet = seen("--dlperf-quiet"), paper = seen("--md-default-bg-color");
    const colours = Array.from({ length: data.colours }, (_, number) => {
      probe.className = "series-" + number;
      return seen("--series");
    });
    probe.remove();
    const safe = words => String(words).replace(/[&<>"]/g, sign => `&#${sign.charCodeAt(0)};`);
    const put = (x, y, words, more) => `<text x="${x}" y="${y}" ${more || ""}>${safe(words)}</text>`;
    const parts = [], notes = caveatsOf(panels.flatMap(panel => panel.bars));
    let y = 12;
    panels.forEach(panel => {
      y += 26;
      parts.push(put(16, y, `${panel.title} · ${panel.aside}`, 'font-weight="700" font-size="15"'));
      y += 10;
      panel.bars.forEach(bar => {
        const colour = colours[bar.series], width = Math.max(2, bar.share * BAR).toFixed(1);
        const fill = bar.published ? `url(#hatch-${bar.series})` : colour;
        parts.push(put(16, y + 13, bar.name), put(16, y + 25, bar.aside, `fill="${quiet}" font-size="11"`),
          `<rect x="${NAME}" y="${y + 7}" width="${width}" height="16" fill="${fill}" stroke="${colour}"/>`,
          put(NAME + BAR + 95, y + 20, bar.text + (bar.caveats ? " " + markOf(bar.caveats, notes) : ""), 'text-anchor="end" font-weight="600"'),
          put(WIDE - 16, y + 20, bar.times, `text-anchor="end" fill="${quiet}"`));
        y += ROW;
      });
    });
    footnotes.flatMap(words => words.match(/.{1,130}(?:\s|$)|.{1,65}/g)).forEach(words => { y += 16; parts.push(put(16, y + 8, words, `fill="${quiet}" font-size="11"`)); });
    const hatches = colours.map((colour, number) => `<pattern id="hatch-${number}" width="5" height="5" patternUnits="userSpaceOnUse"` +
      ` patternTransform="rotate(45)"><rect width="1.5" height="5" fill="${colour}"/></pattern>`);
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDE}" height="${y + 24}" viewBox="0 0 ${WIDE} ${y + 24}" fill="${ink}"` +
      ` font-family="Inter, system-ui, sans-serif" font-size="13"><defs>${hatches.join("")}</defs>` +
      `<rect width="100%" height="100%" fill="${paper}"/>${parts.join("")}</svg>`;
  }

  window.dlperf = { data, at, open, chosen, of, gpusOf, isLower, addressOf, measure, compared, unitOf, basisOf, text, grouped, distinct, batchText, gpusText, togetherText, scaleText, programText, element, ranked,
    bestOf, kindOf, programOf, named, barsOf, credit, caveatsOf, notesOf, doubt, list, picture, SHARES };
})();
