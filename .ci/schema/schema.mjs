// What clients of the released schema rely on, and how a schema becomes the released one.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';

const released = '.ci/schema/schema.released.graphql';
const acceptedFile = '.ci/schema/accepted.json';

// text is the content of a file in a folder, '' where there is none.
async function text(root, file) {
  try {
    return await readFile(join(root, file), 'utf8');
  } catch (failure) {
    if (failure.code === 'ENOENT') return '';
    throw failure;
  }
}

const numbers = (text) => text.split('.').map(Number);

// version is that of a released schema, as its first line says; '' where nothing is released.
function version(sdl) {
  if (sdl === '') return '';
  const found = /^# Slipway (\d+\.\d+\.\d+)\b/.exec(sdl);
  if (!found) throw new Error(`${released}: the first line must begin with "# Slipway <version>"`);
  return found[1];
}

// going is what the reason of a deprecation says: what to use instead, and the version in which the member goes.
const going = /^Use .+\. Goes in ([1-9]\d*)\.0\.$/;

// deprecated gives each field, argument, input and value of a schema that is deprecated, by its coordinate, with its reason.
function deprecated(schema) {
  const found = new Map();
  const add = (coordinate, { deprecationReason }) => deprecationReason != null && found.set(coordinate, deprecationReason);
  for (const type of Object.values(schema.getTypeMap())) {
    for (const value of type.getValues?.() ?? []) add(`${type.name}.${value.name}`, value);
    for (const field of Object.values(type.getFields?.() ?? {})) {
      add(`${type.name}.${field.name}`, field);
      for (const argument of field.args ?? []) add(`${type.name}.${field.name}.${argument.name}`, argument);
    }
  }
  return found;
}

// removals are the breaks that a deprecation comes before, from 1.0.0 on.
const removals = ['FIELD_REMOVED', 'FIELD_ARGUMENT_REMOVED', 'INPUT_FIELD_REMOVED', 'ENUM_VALUE_REMOVED'];

// removed gives what is gone of the released schema, by its coordinate, with the major version in which its deprecation
// says that it goes, NaN without one.
function removed(old, breaks) {
  const reasons = deprecated(old);
  return [...breaks.keys()].map((name) => name.split(' '))
    .filter(([, type]) => removals.includes(type))
    .map(([path]) => [path, Number(going.exec(reasons.get(path))?.[1])]);
}

// judge compares the schema in a folder with the released one. wrong lists what keeps it from being taken, as lines
// for people; accepted are the breaks that somebody has given a reason for.
async function judge(root) {
  const [old, sdl] = [await text(root, released), await text(root, 'schema.graphql')];
  const accepted = JSON.parse((await text(root, acceptedFile)) || '{}');
  const [was, is] = [old === '' ? null : buildSchema(old), buildSchema(sdl)];
  const changes = was ? await diff(was, is) : [];
  const breaks = new Map(changes.filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(({ path, type, message }) => [`${path} ${type}`, message]));
  const wrong = [...deprecated(is)].filter(([, reason]) => !going.test(reason))
    .map(([coordinate, reason]) => `schema.graphql: the reason of ${coordinate} must be as "Use x. Goes in 2.0.", found ${JSON.stringify(reason)}`);
  const gone = was && numbers(version(old))[0] > 0 ? removed(was, breaks) : [];
  for (const [path, major] of gone) {
    if (!major) wrong.push(`schema.graphql lacks ${path}: deprecate it, with a reason as "Use x. Goes in 2.0.", for at least 12 months first`);
  }
  const missing = [...breaks].filter(([name]) => !(name in accepted));
  if (missing.length > 0) {
    wrong.push(`schema.graphql breaks clients of ${version(old)}:`,
      ...missing.map(([name, message]) => `  ${name}: ${message}`),
      'Keep what clients use and deprecate it. Where the break is meant, say why in the changelog and in',
      `${acceptedFile}, where these lines belong; the next release then has a new major version, before 1.0.0 a new minor one:`,
      ...missing.map(([name]) => `  ${JSON.stringify(name)}: "why"`));
  }
  for (const [name, why] of Object.entries(accepted)) {
    if (!breaks.has(name)) wrong.push(`${acceptedFile}: ${JSON.stringify(name)} is accepted, and is no break: take it out`);
    else if (typeof why !== 'string' || why.length < 10) wrong.push(`${acceptedFile}: ${JSON.stringify(name)} must say why, in at least 10 characters`);
  }
  return { wrong, accepted: Object.keys(accepted), goes: Math.max(0, ...gone.map(([, major]) => major)), last: version(old), sdl };
}

// check says what is wrong with the schema in a folder, or that nothing is.
export async function check(root) {
  const { wrong, accepted, last } = await judge(root);
  const but = accepted.length > 0 ? `, but for ${accepted.length} accepted breaks` : '';
  return { wrong, said: last === '' ? 'schema: nothing is released yet' : `schema: clients of ${last} go on${but}` };
}

const later = (a, b) => (a.map((n, i) => n - b[i]).find((difference) => difference !== 0) ?? 0) > 0;

// misnumbered says why a version must not follow the last one, '' if it may. goes is the latest major version that the
// deprecations of what is gone named.
function misnumbered(next, last, accepted, goes) {
  if (!/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.test(next)) {
    return `release: the version must be three numbers, as in make release VERSION=0.1.0, found ${JSON.stringify(next)}`;
  }
  if (last === '') return '';
  const [before, now] = [numbers(last), numbers(next)];
  const least = before[0] === 0 ? [0, before[1] + 1, 0] : [Math.max(before[0] + 1, goes), 0, 0];
  if (!later(now, before)) return `release: the version must be after ${last}, found ${next}`;
  if (accepted.length > 0 && later(least, now)) {
    return `release: ${acceptedFile} accepts ${accepted.length} breaks, so the version must be at least ${least.join('.')}, found ${next}`;
  }
  return '';
}

// release writes a version's heading into the changelog in a folder, and its schema as the one that later ones are
// compared with. Nothing is written where anything is wrong.
export async function release(root, next) {
  const { wrong, accepted, goes, last, sdl } = await judge(root);
  const number = misnumbered(next, last, accepted, goes);
  if (number) wrong.push(number);
  const changelog = await text(root, 'CHANGELOG.md');
  const unreleased = /^## \[Unreleased\]\n+(?=### )/m;
  if (!unreleased.test(changelog)) wrong.push('release: CHANGELOG.md has nothing under "## [Unreleased]"');
  if (changelog.includes(`\n## [${next}]`)) wrong.push(`release: CHANGELOG.md has ${next} already`);
  if (wrong.length > 0) return { wrong };
  const today = new Date().toISOString().slice(0, 10);
  const write = (file, content) => writeFile(join(root, file), content);
  await write('CHANGELOG.md', changelog.replace(unreleased, `## [Unreleased]\n\n## [${next}] - ${today}\n\n`));
  await write(released, `# Slipway ${next}. Written by make release; what clients rely on from now on.\n\n${sdl}`);
  await write(acceptedFile, '{}\n');
  return { wrong, said: `release: ${next} is in CHANGELOG.md and ${released}; commit both and tag the commit v${next}` };
}
