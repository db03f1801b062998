/* The log lines that gave a figure, marked among those around them, loaded when a reader opens them. Without JavaScript
   the table above leads to the log, and says which lines. */
(function () {
  "use strict";

  var page = (document.getElementById("evidence") || {}).dataset;
  var loaded = null;

  function load() {
    if (!loaded) loaded = new Promise(function (done) {
      var script = document.createElement("script");
      script.src = page.lines;
      script.onload = done;
      document.head.append(script);
    });
    return loaded;
  }

  function shown(trial) {
    var code = document.createElement("code");
    code.tabIndex = 0; /* it scrolls */
    code.append(page.trial + " " + trial[0] + "\n");
    trial[1].forEach(function (piece) {
      var part = document.createElement(piece[0] ? "mark" : "span");
      part.textContent = piece[1];
      code.append(part, "\n");
    });
    return code;
  }

  document.querySelectorAll("details[data-lines]").forEach(function (details) {
    details.addEventListener("toggle", function () {
      load().then(function () {
        var block = document.createElement("pre");
        block.lang = "en";
        block.append.apply(block, window.dlperfLines[details.dataset.lines].map(shown));
        details.querySelector("p, pre").replaceWith(block);
      });
    }, { once: true });
  });
})();
