// Loaded before the first paint, so that the wrong theme does not flash. The default is the system's theme.
"use strict";
(() => {
  const ORDER = ["system", "light", "dark"];
  const read = () => {
    try {
      return localStorage.getItem("theme") || "system";
    } catch {
      return "system";
    }
  };
  const apply = (theme) => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  apply(read());
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme-toggle");
    if (!button) return;
    const name = () => {
      button.textContent = `Theme: ${read()}`;
    };
    button.hidden = false;
    name();
    button.addEventListener("click", () => {
      const next = ORDER[(ORDER.indexOf(read()) + 1) % ORDER.length];
      try {
        localStorage.setItem("theme", next);
      } catch {
        // Some private windows have no storage: the choice then lasts only for this page.
      }
      apply(next);
      name();
    });
  });
})();
