// explorer returns what a person does in GraphiQL, on the page of a Visit.
export function explorer(visit) {
  const button = (name) => visit.page.getByRole('button', { name });
  // A tab's name is followed by that of the button that closes it.
  const tab = (name) => visit.page.getByRole('tab', { name: new RegExp(`^${name}( |$)`) });
  const editor = (name) => visit.page.getByRole('region', { name });

  // text returns what is in an editor, whose lines outside of view are not in the page.
  const text = (file) => visit.page.evaluate(
    (end) => globalThis.__MONACO.editor.getModels().find(({ uri }) => uri.path.endsWith(end)).getValue(), file);

  async function answer() {
    await visit.page.waitForFunction(() => {
      const response = globalThis.__MONACO.editor.getModels().find(({ uri }) => uri.path.endsWith('response.json'));
      return /"(data|errors)"/.test(response.getValue());
    });
    return JSON.parse(await text('response.json'));
  }

  // select selects all that is in an editor.
  async function select(region) {
    await editor(region).locator('.monaco-editor').filter({ visible: true }).click();
    await visit.page.keyboard.press('Control+A');
  }

  // write replaces what is in an editor by typing, for which the editor adds closing brackets.
  async function write(region, content) {
    await select(region);
    await visit.page.keyboard.insertText(content);
  }

  // paste replaces what is in an editor by a text, unchanged.
  async function paste(region, content) {
    await visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await visit.page.evaluate((copied) => navigator.clipboard.writeText(copied), content);
    await select(region);
    await visit.page.keyboard.press('Control+V');
  }

  const run = () => button(/^Execute query/).click();

  // fresh opens a tab with a query.
  async function fresh(query) {
    await button('New tab').click();
    await write('Operation Editor', query);
  }

  return { answer, button, editor, fresh, paste, run, tab, text, write };
}
