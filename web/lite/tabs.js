// tabs makes a tab list work: a click or an arrow key chooses a tab and shows its panel.
export function tabs(list) {
  const all = [...list.querySelectorAll('[role=tab]')];
  const choose = (chosen) => {
    for (const tab of all) {
      tab.setAttribute('aria-selected', String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      document.getElementById(tab.getAttribute('aria-controls')).hidden = tab !== chosen;
    }
  };
  list.addEventListener('click', ({ target }) => {
    if (all.includes(target)) choose(target);
  });
  list.addEventListener('keydown', (event) => {
    const shown = all.filter((tab) => !tab.hidden);
    const at = shown.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    const chosen = shown.at(to % shown.length);
    choose(chosen);
    chosen.focus();
  });
}
