// What the environment sets.

export const port = positive('PORT');
export const workers = positive('WORKERS', 1);

// connections is how many connections to the database one worker may have.
export const connections = Math.max(1, Math.floor(positive('CONNECTIONS', 16) / workers));

function positive(name, standard) {
  const value = Number(process.env[name] ?? standard);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be a number above 0, found ${process.env[name]}`);
  return value;
}
