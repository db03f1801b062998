/* Your number: a reader's throughput beside all results of its model and accelerator; drawn again for all that is typed. */
(function () {
  "use strict";

  if (!window.dlperf || !dlperf.number) return;
  const { of, gpusOf, text, distinct, element } = dlperf;
  const { words, work, peaks, changes } = window.dlperfNumber;
  const { root, form, say, percent, precisionOf, nameOfPrecision, isAt, field, number, ofModel, ofOtherTask, axis, unitOf, readings, typed, best, link, nameOf, conditionsOf,
    doubt, table, offerAll, offerPrices, showCost, showPair, read, write } = dlperf.number;
  const NEAREST = 6;

  const kindOfChip = chip => chip.split(" ")[0]; /* H100 of "H100 96GB" */

  function mfu(perGpu, precision, length) {
    const flop = work[of(ofModel()[0].row, "case")], accelerator = peaks[field("gpu").value];
    const peak = accelerator && accelerator[1][nameOfPrecision(precision)];
    if (!flop || !peak || flop[1] && !length) return null;
    return { share: perGpu * (flop[0] + flop[1] * (length || 0)) / (peak * 1000), peak, title: accelerator[0], hasAttention: flop[1] > 0 };
  }

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
    const on = [gpu, field("precision").value].filter(Boolean).join(" · ");
    const others = distinct(listed.map(one => of(one.row, "chip"))).filter(chip => chip !== gpu);
    const said = say("rank", { place: above + 1, count: rows.length + 1, model: of(rows[0].row, "case"), gpu: on });
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
    const said = say("mfu", { peak: text(found.peak), precision, title: found.title });
    const more = [found.hasAttention && words.mfu_attention, found.share > 1 && words.above_peak].filter(Boolean).map(one => words.gap + one);
    return element("li", {}, element("strong", {}, percent(found.share)), " " + said, ...more);
  }

  const lengthOf = one => axis(one, "sequence_length");

  /* Those of the reader's sequence length, or that name none; all where there are none of these. */
  function atLength(rows) {
    const length = number("sequence"), same = rows.filter(one => !length || !lengthOf(one) || Number(lengthOf(one)) === length);
    return same.length ? same : rows;
  }

  /* In what the results are unlike the reader's program, and which were left out. */
  function unlike(rows, all) {
    const gpus = number("gpus") || 1, length = number("sequence");
    const lists = list => distinct(list).sort((a, b) => a - b).map(one => text(Number(one))).join(words.separator);
    const ran = rows.map(one => gpusOf(one.row)), lengths = rows.map(lengthOf).filter(Boolean), left = all.filter(one => !rows.includes(one));
    const mixed = distinct(rows.map(one => nameOfPrecision(precisionOf(one)))), others = ofOtherTask();
    return [rows.length && !ran.includes(gpus) && say("other_gpus", { gpus: lists(ran), yours: text(gpus) }),
      length && lengths.length && !lengths.some(one => Number(one) === length) && say("other_length", { lengths: lists(lengths), yours: text(length) }),
      left.length && say("left_lengths", { count: left.length, lengths: lists(left.map(lengthOf)) }),
      others.length && say("left_tasks", { count: others.length }),
      !field("precision").value && mixed.length > 1 && say("mixed", { precisions: mixed.join(words.separator) })].filter(Boolean)
      .map(said => element("p", { class: "small" }, said));
  }

  /* The results around the reader's, the best one first; also those of other forms of the accelerator. */
  function nearest(perGpu, rows, first) {
    const distance = one => Math.abs(Math.log(one.perGpu / perGpu));
    const near = rows.slice().sort((a, b) => distance(a) - distance(b)).slice(0, NEAREST);
    const own = best(rows.filter(isOwn));
    return distinct([first, own, ...near.sort((a, b) => b.perGpu - a.perGpu)]).filter(Boolean);
  }

  function showNumber() {
    const out = root.querySelector(".answer"), perGpu = typed(), precision = field("precision").value;
    const kin = ofModel().filter(one => kindOfChip(of(one.row, "chip")) === kindOfChip(field("gpu").value));
    const all = kin.filter(one => isAt(one, precision)), onGpu = all.filter(one => of(one.row, "chip") === field("gpu").value);
    const alike = atLength(all), rows = atLength(onGpu);
    if (!perGpu) return out.replaceChildren(element("p", {}, words.type));
    const again = best(rows.filter(one => one.command && !one.other));
    const listed = nearest(perGpu, alike.length ? alike : kin, best(rows));
    out.replaceChildren(
      element("p", { class: "large" }, element("strong", {}, text(perGpu)), " " + say("per_gpu", { unit: unitOf() })),
      doubtReading(perGpu, best(rows) || best(alike)),
      element("ul", {}, sentence("published", perGpu, atLength(onGpu.filter(isOther)), atLength(all.filter(isOther))),
        sentence("measured", perGpu, atLength(onGpu.filter(isOwn)), atLength(all.filter(isOwn))), utilisation(perGpu),
        rows.length ? standing(perGpu, rows, listed) : ""), ...unlike(rows, onGpu),
      table(words.nearest, [words.nearest, unitOf() + " · " + words.one_gpu, words.yours], listed.map(one =>
        [described(one, one === again), element("span", {}, text(one.perGpu), " ", doubt(one)), percent(perGpu / one.perGpu)])),
      listed.some(one => one.command) ? element("p", { class: "small" }, words.machine) : "");
  }

  const changesOf = one => changes[nameOf(one)] ? [" ", element("a", { href: changes[nameOf(one)] }, say("changes", { framework: nameOf(one) }))] : [];

  /* Framework, origin and conditions of a result, what its user can change, and the command that measures it again. */
  const described = (one, again) => [again && element("strong", {}, words[one.tested ? "best_again" : "best_again_ratio"] + " "), link(one), " ", element("small", {}, [of(one.row, "origin"), conditionsOf(one)].join(" · ")), ...changesOf(one), element("br"),
    one.other && element("small", {}, say("other_program", { program: one.other }) + " "),
    one.command ? element("code", { tabindex: 0 }, one.command) : element("small", {}, words.no_command)].filter(Boolean);

  const amounts = new Map(); /* unit → what was typed */
  let counted = "";

  /* An amount of tokens says nothing of images: what was typed waits until its unit is chosen again. */
  function changeAmount() {
    if (unitOf() === counted) return;
    amounts.set(counted, field("amount").value);
    field("amount").value = amounts.get(unitOf()) || "";
  }

  const parts = wanted => [() => { offerAll(wanted); offerPrices(wanted); counted = unitOf(); }, showNumber, showPair, showCost];

  function draw(wanted, another) {
    if (another) { field("sequence").value = ""; changeAmount(); }
    parts(wanted).forEach(part => part());
  }

  /* The first time in tasks of their own, between which a telephone paints and answers. */
  function begin([part, ...left]) {
    if (part) setTimeout(() => { part(); begin(left); });
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
  document.addEventListener("DOMContentLoaded", () => begin(parts(read())), { once: true });
})();
