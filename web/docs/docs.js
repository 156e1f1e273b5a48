// Shows the contract that this server has beside the page, whatever path a proxy serves both under.
const beside = (name) => new URL(name, document.baseURI).href;

const page = SwaggerUIBundle({
  url: beside('openapi.json'),
  dom_id: '#documents',
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  onComplete: fillIn,
});

// fillIn has requests go out with the token that the server fills into the playground, where it does: a demo's. Without
// an answer the page still works.
async function fillIn() {
  const token = await given().catch(() => '');
  if (!token) return;
  page.preauthorizeApiKey('bearer', token);
  document.getElementById('caller').textContent = 'Requests go out with the token of the demo.';
}

async function given() {
  const response = await fetch(beside('playground/config.json'), { credentials: 'omit' });
  return response.ok ? (await response.json()).token : '';
}
