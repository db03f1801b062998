/* Curves that can be read and zoomed into, drawn by uPlot (vendor/uplot.js) over the picture that the page has already.
   Library and data are loaded when a reader asks for them; without JavaScript, and on paper, the picture stays. */
(function () {
  "use strict";

  var here = document.currentScript.src.replace(/[^/]*$/, "");
  var page = (document.getElementById("evidence") || {}).dataset;
  var HEIGHT = 260;

  function load(address) {
    return new Promise(function (done, failed) {
      var script = document.createElement("script");
      script.src = address;
      script.onload = done;
      script.onerror = failed;
      document.head.append(script);
    });
  }

  function style(address) {
    var link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = address;
    document.head.append(link);
  }

  var library = null;
  function prepare() {
    if (!library) {
      style(here + "vendor/uplot.css");
      library = load(here + "vendor/uplot.js").then(function () { return load(page.curves); });
    }
    return library;
  }

  /* Warm-up and window, as the picture has them. */
  function shade(figure, warmUp, measured) {
    var window_ = (figure.dataset.window || "").split(",").map(Number);
    if (window_.length !== 2) return {};
    return { drawClear: [function (plot) {
      band(plot, plot.scales.x.min, window_[0], warmUp);
      band(plot, window_[0], window_[1], measured);
    }] };
  }

  function band(plot, first, last, colour) {
    var left = plot.valToPos(Math.max(first, plot.scales.x.min), "x", true);
    var right = plot.valToPos(Math.min(last, plot.scales.x.max), "x", true);
    if (right <= left) return;
    plot.ctx.save();
    plot.ctx.globalAlpha = 0.12;
    plot.ctx.fillStyle = colour;
    plot.ctx.fillRect(left, plot.bbox.top, right - left, plot.bbox.height);
    plot.ctx.restore();
  }

  /* Colour and dash of a trial, as its picture has them. */
  function lookOf(holder, trial, text) {
    var kind = (trial - 1) % 8;
    holder.className = "curve series-" + kind + " dash-" + kind;
    var styles = getComputedStyle(holder);
    var dash = (styles.getPropertyValue("--dash").match(/\d+/g) || []).map(Number);
    var colour = styles.getPropertyValue("--series") || text;
    holder.className = "curve";
    return { colour: colour, dash: dash };
  }

  /* The legend shows a piece of each line. */
  function nameLines(plot) {
    plot.root.querySelectorAll(".u-marker").forEach(function (marker, index) {
      var series = plot.series[index];
      if (!series.stroke) return;
      marker.innerHTML = '<svg width="100%" height="100%" aria-hidden="true"><line x2="100%" y1="50%" y2="50%"/></svg>';
      marker.querySelector("line").style.stroke = series.stroke();
      marker.querySelector("line").style.strokeDasharray = (series.dash || []).join(" ");
    });
  }

  function draw(figure, holder) {
    var lines = window.dlperfCurves[figure.dataset.curve] || [];
    var styles = getComputedStyle(figure);
    var text = styles.getPropertyValue("--md-typeset-color") || styles.color;
    var grid = { stroke: styles.getPropertyValue("--md-default-fg-color--lightest"), width: 1 };
    var axis = { stroke: text, grid: grid, ticks: grid };
    var series = lines.map(function (line) {
      var look = lookOf(holder, line[0], text);
      return { label: page.trial + " " + line[0], stroke: look.colour, dash: look.dash, width: 1.5, spanGaps: true, points: { show: lines[0][1].length < 60 } };
    });
    holder.replaceChildren();
    return new window.uPlot({
      width: Math.max(280, figure.clientWidth),
      height: HEIGHT,
      scales: { x: { time: false } },
      axes: [Object.assign({ label: figure.dataset.x }, axis), Object.assign({ label: figure.dataset.y, size: 70 }, axis)],
      series: [{ label: figure.dataset.x }].concat(series),
      legend: { markers: { width: 0 } },
      hooks: Object.assign({ init: [nameLines] }, shade(figure, text, "#00795a"))
    }, window.uPlot.join(lines.map(function (line) { return [line[1], line[2]]; })), holder);
  }

  function offer(figure) {
    var picture = figure.querySelector("img");
    var holder = document.createElement("div");
    var button = document.createElement("button");
    var plot = null;
    button.type = "button";
    button.className = "curve-button";
    holder.className = "curve";
    mark(false);

    function show() {
      if (plot) plot.destroy();
      plot = draw(figure, holder);
    }

    button.addEventListener("click", function () {
      if (!plot) {
        prepare().then(function () { mark(true); show(); });
        return;
      }
      plot.destroy();
      plot = null;
      holder.replaceChildren();
      mark(false);
    });

    function mark(open) {
      figure.classList.toggle("open", open);
      button.setAttribute("aria-expanded", String(open));
      button.textContent = open ? page.close : page.open;
      button.setAttribute("aria-label", button.textContent + ": " + picture.alt);
    }

    new MutationObserver(function () { if (plot) show(); })
      .observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
    window.addEventListener("resize", function () {
      if (plot) plot.setSize({ width: Math.max(280, figure.clientWidth), height: HEIGHT });
    });
    figure.append(holder, button);
  }

  document.querySelectorAll("figure[data-curve]").forEach(offer);
})();
