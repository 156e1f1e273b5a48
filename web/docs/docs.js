// Shows the contract that this server has beside the page, whatever path a proxy serves both under.
SwaggerUIBundle({
  url: new URL('openapi.json', document.baseURI).href,
  dom_id: '#documents',
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
