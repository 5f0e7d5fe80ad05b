/* theme.js: light and dark. */
/* Follows the system until the reader chooses. */
function buildTheme() {
  const system = matchMedia('(prefers-color-scheme: dark)');
  let chosen = settings.read('theme');
  const isDark = () => (chosen ? chosen === 'dark' : system.matches);
  const apply = () => {
    document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
    byId('theme').textContent = isDark() ? 'Light' : 'Dark';
    requestDraw();
  };
  system.addEventListener('change', apply);
  byId('theme').onclick = () => {
    chosen = isDark() ? 'light' : 'dark';
    settings.write('theme', chosen);
    apply();
  };
  apply();
}
