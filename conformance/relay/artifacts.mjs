// What Relay's compiler makes of the documents here and of the screens, in strict settings. It wants each name to begin
// with the name of its file, so that the screens are renamed into built/screens.js.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { fragments, screens } from '../screens/screens.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));

// screenName returns the name of the artifact of a screen.
export const screenName = ({ operation }) => `screens${operation}Query`;

// Fragments are not masked, so that the data of a screen is the whole answer.
const renamed = (text) => text
  .replace(/^query (\w+)/m, (_, operation) => `query ${screenName({ operation })}`)
  .replace(/^fragment /m, 'fragment screens_')
  .replace(/\.\.\.(\w+)/g, '...screens_$1 @relay(mask: false)');

const documents = [...screens.map(({ document }) => document), ...fragments.values()];
const tagged = documents.map((text) => `graphql\`\n${renamed(text)}\n\`;\n`);

for (const folder of ['built', '__generated__']) mkdirSync(`${here}/${folder}`, { recursive: true });
writeFileSync(`${here}/built/screens.js`, tagged.join('\n'));
const stdio = ['ignore', 'ignore', 'inherit'];
execFileSync('../node_modules/.bin/relay-compiler', ['relay.config.json'], { cwd: here, stdio });

const require = createRequire(import.meta.url);

// artifact returns what the compiler made of an operation or a fragment.
export const artifact = (name) => require(`./__generated__/${name}.graphql.js`);
