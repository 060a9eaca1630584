// Light, dark or as the system has it: set before anything is drawn, hence no module.
(() => {
  const KEY = "toolspan.theme";
  const kept = () => {
    try { return localStorage.getItem(KEY); } catch { return null; }
  };
  const apply = (theme) => {
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  window.toolspanTheme = {
    get: () => kept() || "system",
    set(theme) {
      try { localStorage.setItem(KEY, theme); } catch { /* A browser without storage: it holds for this page. */ }
      apply(theme);
    },
  };
  apply(kept());
})();
