/* Code: an option such as --batch-size is not broken inside its name where a command goes on in the next line, and the copy
   button, which the theme adds later, is no landmark of the page. */
(function () {
  "use strict";

  var OPTION = /(^|[\s"'(\[])(--?[A-Za-z][\w-]*)/g;

  function mark(text) {
    var parts = text.data.split(OPTION);
    if (parts.length === 1) return;
    text.replaceWith.apply(text, parts.map(function (part, index) {
      if (index % 3 !== 2) return part;
      var option = document.createElement("span");
      option.className = "option";
      option.textContent = part;
      return option;
    }));
  }

  document.querySelectorAll("article code").forEach(function (code) {
    var texts = [];
    var walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) if (!walker.currentNode.parentNode.closest(".option")) texts.push(walker.currentNode);
    texts.forEach(mark);
  });

  new MutationObserver(function () {
    document.querySelectorAll("nav.md-code__nav:not([role])").forEach(function (nav) { nav.setAttribute("role", "none"); });
  }).observe(document.querySelector("article") || document.body, { childList: true, subtree: true });
})();
