import type { Patch } from '../plant/patch.ts'

/** A place in the built host where the process can be killed. */
export interface Failpoint {
  readonly name: string
  readonly file: string
  /** An expression that occurs exactly once in the file. */
  readonly find: string
  readonly side: 'before' | 'after'
  /** When the place is reached: under load, while the host stops, or while it migrates an older store. */
  readonly during: 'load' | 'stop' | 'migration'
  /**
   * The place is reached at least this often in one host run under load. The host is killed at one of these times.
   */
  readonly most: number
}

/** Returns the patch by which a host can be told (`killAt`) to kill itself at this place. */
export function killing({ name, file, find, side }: Failpoint): Patch {
  const count = '(globalThis.reached = (globalThis.reached ?? 0) + 1)'
  const kill = `process.env.ATRIUM_KILL_AT === ${JSON.stringify(name)} && ${count} === Number(process.env.ATRIUM_KILL_TIME) && process.kill(process.pid, 'SIGKILL')`
  // The replacement starts with a name, so that it is valid wherever the expression was, even after a line without a semicolon.
  const parts = side === 'before' ? `${kill}, ${find}` : `${find}, ${kill}`
  return { file, find, put: `globalThis.Array.of(${parts})[${side === 'before' ? 1 : 0}]` }
}

/** Tells a host in which all failpoints are planted to kill itself when it reaches this one for the nth time. */
export function killAt({ name }: Failpoint, nth: number): Readonly<Record<string, string>> {
  return { ATRIUM_KILL_AT: name, ATRIUM_KILL_TIME: String(nth) }
}

/**
 * With these patches the host stores the states of channels (heads), unloads idle channels and compresses old
 * envelopes (seals them) within a second, instead of within an hour. It also deletes in smaller slices, so that a
 * small channel takes several slices.
 */
export const shortIntervals: readonly Patch[] = [
  { file: 'host/dist/kernel/log/log.js', find: 'headEvery = 1000', put: 'headEvery = 20' },
  { file: 'host/dist/channels/sleep.js', find: 'idleMs = 60_000', put: 'idleMs = 20' },
  { file: 'host/dist/kernel/sealing/sealing.js', find: 'worthwhile = 16 * 1024', put: 'worthwhile = 1' },
  { file: 'host/dist/kernel/sealing/sealing.js', find: 'startMs = 30_000', put: 'startMs = 20' },
  { file: 'host/dist/kernel/sealing/sealing.js', find: 'retryMs = 60_000', put: 'retryMs = 20' },
  { file: 'adapters/dist/store/sql/drop.js', find: 'SLICE = 500', put: 'SLICE = 5' },
]

/** A made-up next version of the schema. */
export const migrations = ['ALTER TABLE records ADD COLUMN extra TEXT; CREATE TABLE extra (a)']

/** Makes every existing store outdated, so that it is backed up and migrated. */
export const newerSchema: Patch = {
  file: 'adapters/dist/store/sqlite/open.js',
  find: '...laterMigrations]',
  put: `...${JSON.stringify(migrations)}]`,
}

const commit = 'host/dist/kernel/log/group-commit.js'
const writer = 'host/dist/kernel/log/entry-writer.js'
const delivery = 'host/dist/kernel/log/delivery.js'
const awakened = 'host/dist/kernel/log/load.js'
const requests = 'host/dist/connection/requests.js'
const session = 'host/dist/parts/session/session.js'
const chat = 'host/dist/parts/chat/chat.js'
const seal = 'adapters/dist/store/sql/seal.js'
const transaction = 'adapters/dist/store/sqlite/store.js'
const startTurn = 'host/dist/parts/chat/start-turn.js'
const turn = 'host/dist/parts/turn/turn.js'
const write = 'adapters/dist/store/sqlite/write.js'
const drop = 'adapters/dist/store/sql/drop.js'
const open = 'adapters/dist/store/sqlite/open.js'
const often = 60
const sometimes = 6

export const failpoints: readonly Failpoint[] = [
  ...both(
    'a step is passed to the store',
    commit,
    'this.#store.append({ ...step, upTo: last + numbersAhead })',
    often,
  ),
  before('a step’s records are passed to the store', commit, 'this.#records.writeToStore()', often),
  before('a flush is requested', commit, 'this.#durableWrites === this.#writes', often),
  ...both('BEGIN', write, 'sql.begin.get()', often),
  before('a creation is written', write, 'sql.create.run(id, uri, kind, seq, state, sum)', sometimes),
  ...both('a row is written', write, 'sql.append.get(seq, channel, action, origin, sum, chain)', often),
  ...both('a channel’s end is written', write, 'sql.putTail.get(id, seq, chain, rows)', often),
  ...both('a head is written', write, 'sql.putHead.run(channel, seq, state, chain, sum)', sometimes),
  before('a head is serialized', writer, 'channel.headText()', sometimes),
  ...both('a record is written', write, 'sql.putRecord.get(key, text)', often),
  before('part of a channel is deleted', drop, 'yield* remove(ids)', 3),
  before('a slice of a dropped channel is deleted', drop, 'yield* slice.delete(id, last)', 2),
  ...both(
    'a segment is written',
    seal,
    'yield* sql.putSegment(id, first, last, count, before, after, hash, bytes)',
    sometimes,
  ),
  ...both('sealed rows are deleted', seal, 'yield* sql.deleteRows(id, last)', sometimes),
  ...both('COMMIT beside the flushes', transaction, `db.exec('COMMIT')`, sometimes),
  ...both('COMMIT', write, 'sql.commit.get()', often),
  ...both('the store answers', 'adapters/dist/store/sqlite/worker.js', 'port.postMessage(answer)', often),
  ...both(
    'the store’s answer is received',
    'adapters/dist/store/worker-client.js',
    'request?.resolve(value)',
    often,
  ),
  ...both('durable actions are delivered', commit, 'this.#events.flushed()', often),
  ...both('one listener is notified', delivery, 'this.#attempt(() => listener.deliver(entry))', often),
  ...both('an effect runs', delivery, 'this.#attempt(() => this.#events.committed(channel, entry))', often),
  ...both('bytes are sent', 'adapters/dist/server/websocket-transport.js', 'this.#wire?.uncork()', often),
  before('a channel is loaded', awakened, 'await store.load(uri, tail)', sometimes),
  before('a loaded channel is folded', awakened, 'rebuild(uri, found)', sometimes),
  before('a handshake is answered', requests, 'await run()', sometimes),
  ...both(
    'a client’s record is written',
    'host/dist/connection/subscriptions.js',
    'this.#core.clients.keep(record)',
    sometimes,
  ),
  before('a replay is answered', 'host/dist/connection/reconnect.js', 'actions.join()', 3),
  after(
    'a session is put on the list',
    session,
    "catalogOf(core).add(uri, createdAt, state, link.clientId ?? '')",
    2,
  ),
  ...both(
    'a session is created',
    'host/dist/parts/session/creation.js',
    'await callAgent(core, provider, channel, { progress, signal })',
    2,
  ),
  before(
    'a session is marked ready',
    'host/dist/parts/session/creation.js',
    'await core.log.reached(core.log.last)',
    2,
  ),
  before('an agent runs', startTurn, 'turn.run()', sometimes),
  ...both('agent text is appended', turn, 'core.log.appendText(chat, merged, deltas)', often),
  ...both(
    'a part of a turn or its end is appended',
    turn,
    'this.#core.log.appendChecked(channel, action)',
    sometimes,
  ),
  before(
    'an interrupted turn ends',
    'host/dist/parts/session/recovery.js',
    'interrupt(core, chat, resumable === true)',
    1,
  ),
  ...both('a chat is dropped', chat, 'core.log.drop(chat)', 2),
  ...both('a session is dropped', session, 'core.log.drop(session)', 2),
  after('a session is removed from the list', session, 'catalogOf(core).delete(uri)', 2),
  ...both('the removal of a session is announced', session, 'sessionFeedOf(core).removed(uri)', 2),
  after(
    'the first number of a host run is recorded',
    'host/dist/kernel/log/epochs.js',
    'records.put(key, JSON.stringify([...written, [first]]))',
    1,
  ),
  ...both('the first flush of a host run', commit, 'await this.#store.flush()', 1),
  before('the root is woken', 'host/dist/parts/root/root.js', 'await core.log.wake(rootUri)', 1),
  ...during('stop', [
    ...both('the journal is truncated', open, `db.exec('PRAGMA wal_checkpoint(TRUNCATE)')`, 1),
    before('the pid file is removed', open, 'rmSync(pidFile(folder), { force: true })', 1),
  ]),
  ...during('migration', [
    ...both('the backup is written', open, `db.exec(\`VACUUM INTO '\${path.replaceAll("'", "''")}'\`)`, 1),
    ...both('a step of a migration', open, 'db.exec(sql)', 1),
    ...both(
      'COMMIT of a migration',
      open,
      `db.exec(\`UPDATE meta SET value = \${known} WHERE key = 'schema'; COMMIT\`)`,
      1,
    ),
  ]),
]

function before(what: string, file: string, find: string, most: number): Failpoint {
  return { name: `before ${what}`, file, find, side: 'before', during: 'load', most }
}

function after(what: string, file: string, find: string, most: number): Failpoint {
  return { name: `after ${what}`, file, find, side: 'after', during: 'load', most }
}

function both(...point: Parameters<typeof before>): readonly Failpoint[] {
  return [before(...point), after(...point)]
}

function during(when: Failpoint['during'], points: readonly Failpoint[]): readonly Failpoint[] {
  return points.map((point) => ({ ...point, during: when }))
}
