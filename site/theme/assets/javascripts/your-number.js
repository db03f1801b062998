/* Your number: a reader's throughput beside all results of its model and accelerator, and what training costs.
   Everything typed is kept in the part of the address after "#". */
(function () {
  "use strict";

  const root = document.querySelector(".your-number");
  if (!root || !window.dlperfFigures || !window.dlperfNumber) return;
  dlperf.open();
  const { data, of, gpusOf, gpusText, text, grouped, distinct, element } = dlperf;
  const { words, work, peaks, commands } = window.dlperfNumber;
  const form = root.querySelector("form");
  const NEAREST = 6;
  const HOUR = 3600;
  const MILLION = 1e6;

  const known = data.rows.map((row, index) => ({ row, command: commands[index][0], other: commands[index][1] }))
    .filter(one => of(one.row, "newest") && of(one.row, "rate") && of(one.row, "value") && of(one.row, "training"))
    .map(one => ({ ...one, perGpu: of(one.row, "value") / gpusOf(one.row) }));
  const modelOf = one => of(one.row, "case") + " · " + of(one.row, "unit");
  const say = (name, values) => Object.entries(values || {}).reduce(
    (said, [key, value]) => said.replaceAll(`{${key}}`, value), words[name]);
  const percent = share => text(share, "mfu");
  const axis = (one, name) => (of(one.row, "axes").find(pair => pair[0] === name) || [])[1];
  const precisionOf = one => of(one.row, "precision");
  const nameOfPrecision = precision => precision.split(" (")[0]; /* without the recipe of FP8 */
  const isAt = (one, precision) => !precision || [precisionOf(one), nameOfPrecision(precisionOf(one))].includes(precision);
  const kindOfChip = chip => chip.split(" ")[0]; /* H100 of "H100 96GB" */
  const noun = unit => unit.replace(/\/s$/, "");

  /* What is typed */

  const field = name => form.elements[name];
  const number = name => { const typed = parseFloat(field(name).value); return typed > 0 ? typed : null; };

  function offer(name, values, wanted) {
    const chosen = wanted || field(name).value;
    field(name).replaceChildren(...values.map(value => Array.isArray(value) ? new Option(value[1], value[0]) : new Option(value, value)));
    if (values.some(value => (Array.isArray(value) ? value[0] : value) === chosen)) field(name).value = chosen;
  }

  /* Models with their units where they have several. */
  function models() {
    const all = distinct(known.map(modelOf)), named = name => name.split(" · ")[0];
    return all.map(name => [name, all.filter(other => named(other) === named(name)).length > 1 ? name : named(name)]);
  }

  function ofModel() { return known.filter(one => modelOf(one) === field("model").value); }

  /* Offer the accelerators and precisions of the model, and ask for a sequence length where its work depends on it. */
  function offerAll(wanted) {
    offer("model", models(), wanted.model);
    const rows = ofModel();
    offer("gpu", distinct(rows.map(one => of(one.row, "chip"))), wanted.gpu);
    const onChip = rows.filter(one => of(one.row, "chip") === field("gpu").value);
    const measured = distinct(onChip.map(precisionOf)).sort(), peaked = Object.keys((peaks[field("gpu").value] || [])[1] || {}).sort();
    offer("precision", distinct(["", ...measured, ...peaked]).map(name => [name, name || data.words.all]), wanted.precision);
    const unit = unitOf();
    offer("as", readings(), wanted.as);
    const chips = distinct(rows.map(one => of(one.row, "chip"))), others = chips.filter(chip => chip !== field("gpu").value);
    offer("first", chips, wanted.first || (chips.includes(field("first").value) ? "" : field("gpu").value));
    offer("second", chips, wanted.second || (chips.includes(field("second").value) && field("second").value !== field("first").value ? "" : others[0]));
    field("batch").closest("label").hidden = field("as").value !== "step";
    field("amount").closest("label").firstChild.data = say("amount", { unit: noun(unit) }) + " ";
    const needs = unit === "tokens/s";
    field("sequence").closest("label").hidden = !needs;
    if (needs && !field("sequence").value) field("sequence").value = wanted.sequence || commonLength(rows) || "";
  }

  const unitOf = () => of(ofModel()[0].row, "unit");
  const readings = () => [...["per_gpu", "total"].map(name => [name, say(name, { unit: unitOf() })]), ["step", words.step]];

  /* The sequence length of most results. */
  function commonLength(rows) {
    const lengths = rows.map(one => axis(one, "sequence_length")).filter(Boolean);
    return distinct(lengths).sort((a, b) => lengths.filter(one => one === b).length - lengths.filter(one => one === a).length)[0];
  }

  /* The reader's throughput for one GPU; null where it cannot be computed yet. */
  function typed() {
    const value = number("value"), gpus = number("gpus") || 1;
    if (!value) return null;
    if (field("as").value === "per_gpu") return value;
    if (field("as").value === "total") return value / gpus;
    const batch = number("batch"), length = unitOf() === "tokens/s" ? number("sequence") : 1;
    return batch && length ? batch * length / value / gpus : null;
  }

  /* Answers */

  function mfu(perGpu, precision, length) {
    const flop = work[of(ofModel()[0].row, "case")], accelerator = peaks[field("gpu").value];
    const peak = accelerator && accelerator[1][nameOfPrecision(precision)];
    if (!flop || !peak || flop[1] && !length) return null;
    return { share: perGpu * (flop[0] + flop[1] * (length || 0)) / (peak * 1000), peak, title: accelerator[0] };
  }

  function best(rows) {
    const found = dlperf.bestOf(rows.map(one => one.row), "per_gpu", dlperf.kindOf)[0];
    return rows.find(one => one.row === found);
  }

  const address = one => new URL(dlperf.addressOf(one.row), location).href;
  const nameOf = one => of(one.row, "framework");
  const conditionsOf = one => [of(one.row, "hardware"), of(one.row, "precision"), dlperf.batchText(one.row), gpusText(gpusOf(one.row)),
    of(one.row, "settings")].filter(Boolean).join(" · ");
  const doubt = one => of(one.row, "caveats") ? dlperf.doubt(address(one), of(one.row, "caveats")) : "";
  const link = one => element("a", { href: address(one) }, nameOf(one));

  const isOwn = one => !of(one.row, "published");
  const isOther = one => !isOwn(one);

  /* How the reader's number compares with the best; where there is none, with the best of other forms of the accelerator. */
  function sentence(name, perGpu, rows, kin) {
    const found = best(rows), other = found || best(kin);
    const missing = found ? "" : words[name + "_none"] + (other ? words.gap + say("on_kin", { gpu: of(other.row, "chip") }) + " " : "");
    if (!other) return element("li", {}, missing);
    return element("li", {}, missing, element("strong", {}, percent(perGpu / other.perGpu)), " " + words[name] + " ",
      element("small", {}, text(other.perGpu) + " ", link(other), " " + conditionsOf(other)), " ", doubt(other));
  }

  /* The place among the results of the reader's GPU, and which others are listed with them. */
  function standing(perGpu, rows, listed) {
    const above = rows.filter(one => one.perGpu > perGpu).length, gpu = field("gpu").value;
    const others = distinct(listed.map(one => of(one.row, "chip"))).filter(chip => chip !== gpu);
    const said = say("rank", { place: above + 1, count: rows.length + 1, model: of(rows[0].row, "case"), gpu });
    return element("li", {}, others.length ? said + words.gap + say("rank_others", { gpus: others.join(words.separator) }) : said);
  }

  /* Whether the number, taken as of all GPUs instead of one or the other way round, would be nearer to the best result. */
  function doubtReading(perGpu, top) {
    const gpus = number("gpus") || 1, other = { per_gpu: "total", total: "per_gpu" }[field("as").value];
    if (!top || !other) return "";
    const share = perGpu / top.perGpu, otherShare = other === "total" ? share / gpus : share * gpus;
    if (Math.abs(Math.log(otherShare)) >= Math.abs(Math.log(share))) return "";
    return element("p", { class: "reading" }, say("other_reading", { reading: new Map(readings()).get(other), share: percent(otherShare) }));
  }

  function utilisation(perGpu) {
    const precision = field("precision").value, found = precision && mfu(perGpu, precision, number("sequence"));
    if (!found) return element("li", {}, precision ? words.no_mfu : words.mfu_needs_precision);
    const doubted = found.share > 1 ? " " + words.above_peak : "";
    return element("li", {}, element("strong", {}, percent(found.share)), " " + say("mfu", { peak: text(found.peak), precision, title: found.title }) + doubted);
  }

  /* The results around the reader's, the best one first; also those of other forms of the accelerator. */
  function nearest(perGpu, rows, first) {
    const distance = one => Math.abs(Math.log(one.perGpu / perGpu));
    const near = rows.slice().sort((a, b) => distance(a) - distance(b)).slice(0, NEAREST);
    const own = best(rows.filter(isOwn));
    return distinct([first, own, ...near.sort((a, b) => b.perGpu - a.perGpu)]).filter(Boolean);
  }

  /* A cell that is a list holds words and links, another one a number. A wide table is moved in a window of its own, like
     those that the theme finds in the page. */
  function table(name, titles, rows) {
    const cell = (tag, value, wordy) => element(tag, { class: wordy && "words" }, ...[].concat(value));
    const line = (tag, values) => element("tr", {}, ...values.map((value, place) => cell(tag, value, Array.isArray(rows[0][place]))));
    const made = element("table", { "aria-label": name }, element("thead", {}, line("th", titles)),
      element("tbody", {}, ...rows.map(row => line("td", row))));
    return element("div", { class: "evidence" },
      element("div", { class: "md-typeset__scrollwrap" }, element("div", { class: "md-typeset__table" }, made)));
  }

  function showNumber() {
    const out = root.querySelector(".answer"), perGpu = typed(), precision = field("precision").value;
    const kin = ofModel().filter(one => kindOfChip(of(one.row, "chip")) === kindOfChip(field("gpu").value));
    const alike = kin.filter(one => isAt(one, precision)), rows = alike.filter(one => of(one.row, "chip") === field("gpu").value);
    if (!perGpu) return out.replaceChildren(element("p", {}, words.type));
    const listed = nearest(perGpu, alike.length ? alike : kin, best(rows));
    out.replaceChildren(
      element("p", { class: "large" }, element("strong", {}, text(perGpu)), " " + say("per_gpu", { unit: unitOf() })),
      doubtReading(perGpu, best(rows) || best(alike)),
      element("ul", {}, sentence("published", perGpu, rows.filter(isOther), alike.filter(isOther)),
        sentence("measured", perGpu, rows.filter(isOwn), alike.filter(isOwn)), utilisation(perGpu), rows.length ? standing(perGpu, rows, listed) : ""),
      table(words.nearest, [words.nearest, unitOf() + " · " + words.one_gpu, words.yours], listed.map(one =>
        [described(one), element("span", {}, text(one.perGpu), " ", doubt(one)), percent(perGpu / one.perGpu)])));
  }

  /* Framework, origin and conditions of a result, and the command that measures it again. */
  const described = one => [link(one), " ", element("small", {}, [of(one.row, "origin"), conditionsOf(one)].join(" · ")), element("br"),
    one.other && element("small", {}, say("other_program", { program: one.other }) + " "),
    one.command ? element("code", { tabindex: 0 }, one.command) : element("small", {}, words.no_command)].filter(Boolean);

  /* Cost */

  const priceName = chip => "price " + chip;

  /* The best result of each accelerator, or the reader's own number. */
  function sides() {
    const precision = field("precision").value, origin = field("origin").value, perGpu = typed();
    const rows = ofModel().filter(one => isAt(one, precision) && (!origin || String(of(one.row, "published")) === origin));
    const found = distinct(rows.map(one => of(one.row, "chip"))).map(chip => best(rows.filter(one => of(one.row, "chip") === chip)));
    const all = found.map(one => ({ chip: of(one.row, "chip"), perGpu: one.perGpu, gpus: gpusOf(one.row), precision: of(one.row, "precision"), doubt: doubt(one),
      said: [link(one), " ", element("small", {}, conditionsOf(one))] }));
    return perGpu ? [{ chip: field("gpu").value, perGpu, gpus: number("gpus") || 1, doubt: "", said: [words.your_number] }, ...all] : all;
  }

  const money = value => value === null ? "" : grouped(value < 100 ? +value.toPrecision(3) : Math.round(value));
  const gpuHours = side => (number("amount") || 0) * MILLION / side.perGpu / HOUR;

  /* The time on the number of GPUs that a reader typed, and on how many the result ran where these are others. */
  function timeOf(side, inDays) {
    const gpus = number("fleet"), value = gpus && gpuHours(side) / gpus;
    if (!value) return "";
    const said = inDays ? say("days", { count: text(value / 24) }) : say("hours", { count: text(value) });
    return gpus === side.gpus ? said : element("span", {}, said, element("br"), element("small", {}, say("ran_on", { gpus: gpusText(side.gpus) })));
  }

  function costRow(side, reference, prices, inDays) {
    const price = prices.get(side.chip) || null;
    return [[side.chip], element("span", {}, text(side.perGpu), side.doubt && " ", side.doubt), text(side.perGpu * HOUR / MILLION),
      price ? money(price / (side.perGpu * HOUR / MILLION)) : "",
      timeOf(side, inDays),
      price && gpuHours(side) ? money(price * gpuHours(side)) : "",
      reference ? `${money(reference.price * side.perGpu / reference.perGpu)} (${(side.perGpu / reference.perGpu).toFixed(2)}×)` : "", side.said];
  }

  function showCost() {
    const rows = sides(), prices = pricesTyped(), out = root.querySelector(".costs");
    if (!rows.length) return out.replaceChildren(element("p", {}, data.words.no_rows));
    const first = rows.find(side => prices.get(side.chip));
    const reference = first && { price: prices.get(first.chip), perGpu: first.perGpu };
    const unit = noun(unitOf()), inDays = rows.every(side => gpuHours(side) / number("fleet") >= 2 * 24);
    out.replaceChildren(table(words.cost,
      [words.gpu, unitOf() + " · " + words.one_gpu, say("millions", { unit }), say("cost_per_million", { unit }),
        words.time, words.cost, first ? say("break_even", { gpu: first.chip, price: money(reference.price) }) : words.break_even_none, words.result],
      rows.map(side => costRow(side, reference, prices, inDays))));
    const precisions = distinct(rows.map(side => side.precision).filter(Boolean));
    const said = precisions.length > 1 ? say("unlike_precisions", { precisions: precisions.join(words.separator) }) : say("one_precision", { precision: precisions[0] });
    if (precisions.length) out.append(element("p", {}, said));
  }

  /* Two accelerators */

  /* A program with a fault that another run's lacks is not the same. */
  const ALIKE = ["framework", "precision", "batch_size", "settings", "published", "program_caveats"];
  const isAlike = (one, other) => ALIKE.every(name => of(one.row, name) === of(other.row, name));

  /* The fastest pair that one program made with equal settings; null where there is none. */
  function alikeOf(a, b) {
    const pairs = a.flatMap(one => b.filter(other => isAlike(one, other)).map(other => [one, other]));
    return pairs.sort((x, y) => y[0].perGpu + y[1].perGpu - x[0].perGpu - x[1].perGpu)[0] || null;
  }

  const times = (one, other) => (other.perGpu / one.perGpu).toFixed(2) + "×";
  const bestCell = one => [text(one.perGpu) + " ", link(one), " ", element("small", {}, [of(one.row, "origin"), conditionsOf(one)].join(" · ")), " ", doubt(one)];

  function pairRow(precision, a, b, prices) {
    const pair = alikeOf(a, b), [one, other] = [best(a), best(b)];
    const costs = [one, other].map(side => [of(side.row, "chip"), (prices.get(of(side.row, "chip")) || NaN) / (side.perGpu * HOUR / MILLION)])
      .sort((x, y) => x[1] - y[1]);
    return [[precision], times(one, other),
      costs.some(cost => isNaN(cost[1])) ? "" : costs.map(([chip, cost]) => `${chip} ${money(cost)}`).join(" < "),
      pair ? [times(...pair) + " ", element("small", {}, [nameOf(pair[0]), ...pair.map(side => gpusText(gpusOf(side.row)))].join(" · ")), " ",
        pair.map(doubt).find(Boolean) || ""] : ["–"],
      bestCell(one), bestCell(other)];
  }

  /* Which of two accelerators trains for less at the reader's prices, of which the second is ``price`` times the first. */
  function cheaper(first, second, ratios, price) {
    if (!(price > 0 && price < Infinity)) return [];
    const below = [...ratios.keys()].filter(precision => price < ratios.get(precision));
    const [name, gpu] = below.length === ratios.size ? ["cheaper_always", second] : below.length ? ["cheaper_at", second] : ["cheaper_always", first];
    return [element("p", { class: "large" }, say("prices_ratio", { first, second, price: price.toFixed(2) }) + words.gap,
      element("strong", {}, say(name, { gpu, precisions: below.join(words.separator) })))];
  }

  /* Two accelerators at each precision at which there are results of both, or at the chosen one: what one is worth in hours of the other. */
  function showPair() {
    const out = root.querySelector(".pair"), [a, b] = ["first", "second"].map(name => field(name).value), origin = field("origin").value;
    const chosen = field("precision").value, rows = ofModel().filter(one => isAt(one, chosen) && (!origin || String(of(one.row, "published")) === origin));
    const at = (chip, precision) => rows.filter(one => of(one.row, "chip") === chip && nameOfPrecision(precisionOf(one)) === precision);
    const both = distinct(rows.map(one => nameOfPrecision(precisionOf(one)))).filter(precision => at(a, precision).length && at(b, precision).length);
    if (a === b || !both.length) return out.replaceChildren(element("p", {}, chosen ? say("pair_none_at", { precision: chosen }) : words.pair_none));
    const unit = noun(unitOf()), prices = pricesTyped();
    const ratios = new Map(both.map(precision => [precision, best(at(b, precision)).perGpu / best(at(a, precision)).perGpu]));
    const range = distinct([Math.min, Math.max].map(end => end(...ratios.values()).toFixed(2))).join("–");
    out.replaceChildren(...cheaper(a, b, ratios, prices.get(b) / prices.get(a)), element("p", {}, say("pair", { first: a, second: b, ratio: range })),
      table(say("pair_title", { first: a, second: b }), [data.words.precision, `${b} ÷ ${a}`, say("cost_per_million", { unit }), words.alike, a, b],
        both.map(precision => pairRow(precision, at(a, precision), at(b, precision), prices))));
  }

  const pricesTyped = () => new Map([...form.querySelectorAll(".prices input")].map(input => [input.dataset.chip, parseFloat(input.value) || 0]));

  /* One field for each accelerator of the model; what was typed stays. */
  function offerPrices(wanted) {
    const before = pricesTyped(), chips = distinct(ofModel().map(one => of(one.row, "chip")));
    const prices = form.querySelector(".prices");
    prices.replaceChildren(prices.querySelector("legend"), ...chips.map(chip => {
      const input = element("input", { type: "number", min: 0, step: "any", inputmode: "decimal", "data-chip": chip });
      const price = before.get(chip) || wanted[priceName(chip)];
      if (price) input.value = price;
      return element("label", {}, chip + " ", input);
    }));
  }

  /* The address */

  const KEPT = ["model", "gpu", "precision", "gpus", "value", "as", "batch", "sequence", "origin", "amount", "fleet", "first", "second"];

  function read() {
    const wanted = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    if (!wanted.model && wanted.case) wanted.model = (known.map(modelOf).find(name => name.startsWith(wanted.case + " · ")));
    ["gpus", "value", "batch", "sequence", "amount", "fleet"].forEach(name => { if (wanted[name]) field(name).value = wanted[name]; });
    if (wanted.origin) field("origin").value = wanted.origin;
    return wanted;
  }

  function write() {
    const kept = new URLSearchParams();
    KEPT.forEach(name => { if (field(name).value && !field(name).closest("label").hidden) kept.set(name, field(name).value); });
    pricesTyped().forEach((price, chip) => { if (price) kept.set(priceName(chip), price); });
    history.replaceState(null, "", "#" + kept);
  }

  function draw(wanted, another) {
    if (another) field("sequence").value = "";
    offerAll(wanted);
    offerPrices(wanted);
    showNumber();
    showPair();
    showCost();
  }

  function changed(event) {
    if (event.target.closest(".prices")) { showPair(); showCost(); }
    else draw({}, event.target.name === "model");
    write();
  }

  form.querySelectorAll("fieldset").forEach(set => { set.disabled = false; });
  form.addEventListener("input", changed);
  form.addEventListener("submit", event => event.preventDefault());
  window.addEventListener("hashchange", () => draw(read()));
  root.hidden = false;
  /* When the theme has put the tables of the page into their windows, lest it do so with these again. */
  document.addEventListener("DOMContentLoaded", () => draw(read()), { once: true });
})();
