const KEY = "wiretape-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

function stored() { try { return localStorage.getItem(KEY); } catch { return null; } }

export function apply() {
  document.documentElement.dataset.theme = stored() ?? (dark.matches ? "dark" : "light");
  document.dispatchEvent(new Event("theme"));
}

export function toggle() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem(KEY, next); } catch { /* applies to this page only */ }
  document.documentElement.dataset.theme = next;
  document.dispatchEvent(new Event("theme"));
}

dark.addEventListener("change", apply);
