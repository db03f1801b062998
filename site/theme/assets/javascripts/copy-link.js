// Copies the full address of a result. Without a script, or where the browser forbids it, the link leads there.
(() => {
  const copied = document.getElementById("evidence").dataset.copied;
  document.querySelectorAll("a.copy-link").forEach((link) =>
    link.addEventListener("click", async () => {
      await navigator.clipboard.writeText(link.href);
      window.alert$?.next(copied);
    }),
  );
})();
