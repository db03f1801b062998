// Copies the full address of a result. Without a script, or where the browser forbids it, the link leads there.
// A citation gets this address where the site was built without its own; that of a file is of no use to others.
(() => {
  const copied = document.getElementById("evidence").dataset.copied;
  document.querySelectorAll("a.copy-link").forEach((link) =>
    link.addEventListener("click", async () => {
      await navigator.clipboard.writeText(link.href);
      window.alert$?.next(copied);
    }),
  );
  if (!location.protocol.startsWith("http")) return;
  document.querySelectorAll(".own-address").forEach((part) => {
    const link = part.closest(".result").querySelector("a.copy-link");
    part.textContent = part.dataset.before + link.href + (part.dataset.after ?? "");
  });
})();
