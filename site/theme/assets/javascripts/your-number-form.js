/* Your number: what a reader types, which is kept in the part of the address after "#", and the results beside which it stands. */
(function () {
  "use strict";

  const root = document.querySelector(".your-number");
  if (!root || !window.dlperfFigures || !window.dlperfNumber) return;
  dlperf.open();
  const { data, of, gpusOf, scaleText, text, distinct, element } = dlperf;
  const { words, commands, peaks, unpadded, kwh, tested } = window.dlperfNumber;
  const form = root.querySelector("form");

  const known = data.rows.map((row, index) => ({ row, command: commands[index][0], other: commands[index][1], tested: tested[index], unpadded: unpadded[index], kwh: kwh[index] || "" }))
    .filter(one => of(one.row, "newest") && of(one.row, "rate") && of(one.row, "value") && of(one.row, "training"))
    .map(one => ({ ...one, perGpu: one.unpadded || of(one.row, "value") / gpusOf(one.row) }));
  const modelOf = one => of(one.row, "case") + " · " + of(one.row, "unit");
  const say = (name, values) => Object.entries(values || {}).reduce(
    (said, [key, value]) => said.replaceAll(`{${key}}`, value), words[name]);
  const percent = share => text(share, "mfu");
  const axis = (one, name) => (of(one.row, "axes").find(pair => pair[0] === name) || [])[1];
  const precisionOf = one => of(one.row, "precision");
  const nameOfPrecision = precision => precision.split(" (")[0]; /* without the recipe of FP8 */
  const isAt = (one, precision) => !precision || [precisionOf(one), nameOfPrecision(precisionOf(one))].includes(precision);
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

  /* Results of the model on the accelerator that train another task, such as LoRA. */
  const ofOtherTask = () => data.rows.filter(row => of(row, "newest") && of(row, "value") && !of(row, "training")
    && modelOf({ row }) === field("model").value && of(row, "chip") === field("gpu").value);

  /* Offer the accelerators and precisions of the model, and ask for a sequence length where its work depends on it. */
  function offerAll(wanted) {
    offer("model", models(), wanted.model);
    const rows = ofModel();
    offer("gpu", distinct(rows.map(one => of(one.row, "chip"))), wanted.gpu);
    const onChip = rows.filter(one => of(one.row, "chip") === field("gpu").value);
    const measured = distinct(onChip.map(precisionOf)).sort(), peaked = Object.keys((peaks[field("gpu").value] || [])[1] || {}).sort();
    offer("precision", distinct(["", ...measured, ...peaked]).map(name => [name, name || data.words.all]), wanted.precision);
    offer("framework", distinct(["", ...rows.map(one => of(one.row, "framework")).sort()]).map(name => [name, name || data.words.all]), wanted.framework);
    const unit = unitOf();
    offer("as", readings(), wanted.as);
    const chips = distinct(rows.map(one => of(one.row, "chip"))), gpu = field("gpu").value;
    const kept = name => chips.includes(field(name).value) && field(name).value;
    offer("first", chips, wanted.first || kept("first") || [gpu, chips.find(chip => chip !== gpu)].sort()[0]);
    const others = [kept("second"), gpu, ...chips].filter(chip => chip && chip !== field("first").value);
    offer("second", chips, wanted.second || others[0]);
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

  /* Prices */

  const priceName = chip => "price " + chip;
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

  /* What is shown of a result */

  function best(rows) {
    const found = dlperf.bestOf(rows.map(one => one.row), "per_gpu", dlperf.kindOf);
    const ranked = rows.filter(one => found.includes(one.row)).sort((a, b) => b.perGpu - a.perGpu);
    return ranked.find(one => !of(one.row, "program_caveats")) || ranked[0];
  }

  const address = one => new URL(dlperf.addressOf(one.row), location).href;
  const nameOf = one => of(one.row, "framework");
  const trialsOf = one => [of(one.row, "n") && "n=" + of(one.row, "n"), text(of(one.row, "spread"), "spread")].filter(Boolean).join(", ");
  const conditionsOf = one => [dlperf.programText(one.row), of(one.row, "hardware"), of(one.row, "precision"), dlperf.batchText(one.row), scaleText(one.row),
    of(one.row, "settings"), trialsOf(one), of(one.row, "unchecked") && words.unchecked, one.unpadded && words.unpadded].filter(Boolean).join(" · ");
  const placeOf = one => [of(one.row, "hardware"), scaleText(one.row), trialsOf(one), of(one.row, "unchecked") && words.unchecked, one.unpadded && words.unpadded].filter(Boolean).join(" · ");
  const doubt = (one, caveats = of(one.row, "caveats")) => caveats ? dlperf.doubt(address(one), caveats) : "";
  const link = (one, said) => element("a", { href: address(one) }, said || nameOf(one));

  /* In what two results are not of one program with equal settings. A program with a fault that another run's lacks is not the same. */
  const CONDITIONS = { program: one => [nameOf(one), of(one.row, "tuning")].join(" "), gpu_count: one => gpusOf(one.row), numerics: precisionOf, ...Object.fromEntries(
    ["batch_size", "settings", "published", "program_caveats"].map(name => [name, one => of(one.row, name)])) };
  const unlike = (one, other) => Object.keys(CONDITIONS).filter(name => CONDITIONS[name](one) !== CONDITIONS[name](other)).map(name => words["differs_" + name]);

  /* A cell that is a list holds words and links, another one a number. A wide table is moved in a window of its own, like
     those that the theme finds in the page; where a column is the value of its row, rows are blocks on a telephone. */
  function table(name, titles, rows, valueAt) {
    const inBlocks = valueAt !== undefined;
    const setAs = place => inBlocks && place ? { "data-label": titles[place].textContent || titles[place], "data-place": place === valueAt && "value" } : {};
    const cell = (tag, value, place) => element(tag, { class: Array.isArray(rows[0][place]) && "words", ...(tag === "td" ? setAs(place) : {}) }, ...[].concat(value));
    const line = (tag, values) => element("tr", {}, ...values.map((value, place) => cell(tag, value, place)));
    const made = element("table", { "aria-label": name }, element("thead", {}, line("th", titles)),
      element("tbody", {}, ...rows.map(row => line("td", row))));
    return element("div", { class: inBlocks ? "evidence rows" : "evidence" },
      element("div", { class: "md-typeset__scrollwrap" }, element("div", { class: "md-typeset__table" }, made)));
  }

  /* The address */

  const KEPT = ["model", "gpu", "precision", "gpus", "value", "as", "batch", "sequence", "origin", "amount", "fleet", "framework", "first", "second"];

  function read() {
    const wanted = Object.fromEntries(dlperf.chosen());
    if (!wanted.model && wanted.case) wanted.model = (known.map(modelOf).find(name => name.startsWith(wanted.case + " · ")));
    ["gpus", "value", "batch", "sequence", "amount", "fleet"].forEach(name => { if (wanted[name]) field(name).value = wanted[name]; });
    if (wanted.origin) field("origin").value = wanted.origin;
    return wanted;
  }

  function write() {
    const kept = new URLSearchParams();
    KEPT.forEach(name => { if (field(name).value && !field(name).closest("[hidden]")) kept.set(name, field(name).value); });
    pricesTyped().forEach((price, chip) => { if (price) kept.set(priceName(chip), price); });
    history.replaceState(null, "", "#" + kept);
  }

  dlperf.number = { root, form, say, percent, precisionOf, nameOfPrecision, isAt, noun, field, number, ofModel, ofOtherTask, axis, unitOf, readings,
    typed, best, link, nameOf, conditionsOf, placeOf, doubt, unlike, table, pricesTyped, offerAll, offerPrices, read, write };
})();
