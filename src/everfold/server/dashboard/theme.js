// Sets the colours before the first paint; a script of its own, because inline scripts are forbidden.
(() => {
  try {
    const theme = localStorage.getItem("everfold-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // a browser without storage follows the system
  }
})();
