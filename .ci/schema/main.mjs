// check ROOT fails where the schema of the project in a folder breaks clients of the released one and nobody has said
// that it is meant to; release ROOT VERSION cuts a release.
import { check, release } from './schema.mjs';

const commands = { check, release };
const [name, root, version = ''] = process.argv.slice(2);
const { wrong, said } = await commands[name](root, version);
if (wrong.length > 0) {
  console.error(wrong.join('\n'));
  process.exit(1);
}
console.log(said);
