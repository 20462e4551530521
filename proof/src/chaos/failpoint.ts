import type { Patch } from '../plant/patch.ts'

/** A place in the built host where it can be killed. */
export interface Failpoint {
  readonly name: string
  readonly file: string
  /** An expression that stands there exactly once. */
  readonly find: string
  readonly side: 'before' | 'after'
  /** When it is reached: under load, while the host stops, or while it brings an older store up to date. */
  readonly during: 'load' | 'stop' | 'migration'
  /** It is reached at least so often in a life under load: which of them kills is left to chance. */
  readonly most: number
}

/** The patch that kills the process when this place is reached for the nth time. */
export function killing({ file, find, side }: Failpoint, nth: number): Patch {
  const kill = `(globalThis.reached = (globalThis.reached ?? 0) + 1) === ${nth} && process.kill(process.pid, 'SIGKILL')`
  // It begins with a name, so that it can stand wherever the expression stood, also behind a line without a semicolon.
  const parts = side === 'before' ? `${kill}, ${find}` : `${find}, ${kill}`
  return { file, find, put: `globalThis.Array.of(${parts})[${side === 'before' ? 1 : 0}]` }
}

/** So that heads are written, and channels fall asleep, within a second instead of an hour. */
export const busier: readonly Patch[] = [
  { file: 'host/dist/log/log.js', find: 'headEvery = 1000', put: 'headEvery = 20' },
  { file: 'host/dist/channels/sleep.js', find: 'idleMs = 60_000', put: 'idleMs = 20' },
]

/** What would lead to a second version of the schema. */
export const migrations = ['ALTER TABLE records ADD COLUMN extra TEXT; CREATE TABLE extra (a)']

/** Whatever store there is must be backed up and brought up to date. */
export const newerSchema: Patch = {
  file: 'adapters/src/store/sqlite/schema.js',
  find: 'export const MIGRATIONS = []',
  put: `export const MIGRATIONS = ${JSON.stringify(migrations)}`,
}

const commit = 'host/dist/log/group-commit.js'
const log = 'host/dist/log/log.js'
const awakened = 'host/dist/log/load.js'
const connection = 'host/dist/connection/connection.js'
const session = 'host/dist/session/session.js'
const chat = 'host/dist/chat/chat.js'
const turn = 'host/dist/turn/turn.js'
const write = 'adapters/src/store/sqlite/write.js'
const open = 'adapters/src/store/sqlite/open.js'
const often = 60
const sometimes = 6

export const failpoints: readonly Failpoint[] = [
  ...both(
    'a step is given to the store',
    commit,
    'this.#store.append({ ...step, upTo: last + numbersAhead })',
    often,
  ),
  before('a step’s records are given to the store', commit, 'this.#records.addTo()', often),
  before('a flush is asked for', commit, 'this.#safe === this.#writes', often),
  ...both('BEGIN', write, `db.exec('BEGIN IMMEDIATE')`, often),
  before(
    'a birth is written',
    write,
    'sql.create.run(each.channel, each.kind, each.seq, each.state, sum)',
    sometimes,
  ),
  ...both('a row is written', write, 'sql.append.get(seq, tail.id, action, said, sum, tail.chain)', often),
  ...both('a channel’s end is written', write, 'sql.putTail.run(id, seq, chain, rows)', often),
  ...both(
    'a head is written',
    write,
    'sql.putHead.run(id, head.seq, head.state, chain, headSum({ ...head, kind, chain }))',
    sometimes,
  ),
  before('a head is made', log, 'channel.headText()', sometimes),
  ...both('a record is written', write, 'sql.putRecord.run(key, text)', often),
  before('a part of a channel is forgotten', write, 'forget.run(found.id)', 2 * sometimes),
  ...both('a tombstone is written', write, 'sql.bury.run(channel, seq)', 2),
  ...both('COMMIT', write, `db.exec('COMMIT')`, often),
  ...both('the store answers', 'adapters/src/store/sqlite/worker.js', 'port.postMessage(answer)', often),
  ...both(
    'the store’s answer is heard',
    'adapters/dist/store/sqlite/worker-client.js',
    'asked?.resolve(value)',
    often,
  ),
  ...both('what is durable is told', commit, 'this.#events.moved()', often),
  ...both('one listener is told', log, 'this.#attempt(() => listener.deliver(entry))', often),
  ...both('an effect', log, 'this.#attempt(() => this.#events.committed(channel, entry))', often),
  ...both('bytes leave', 'adapters/dist/server/websocket-transport.js', 'this.#wire?.uncork()', often),
  before('a channel is loaded', awakened, 'await store.load(uri, tail)', sometimes),
  before('a loaded channel is folded', awakened, 'rebuild(uri, found)', sometimes),
  before('a greeting is made', connection, 'await greeting()', sometimes),
  ...both(
    'a client’s record is kept',
    'host/dist/connection/subscriptions.js',
    'this.#core.clients.keep(record)',
    sometimes,
  ),
  before('a replay is answered', 'host/dist/connection/greeting.js', 'actions.join()', 3),
  after('a session is put on the list', session, 'core.catalog.add(uri, createdAt, state, link.clientId)', 2),
  ...both(
    'a session is made',
    'host/dist/session/creation.js',
    'await attempt(core, provider, sessionOf(channel, progress), abort.signal)',
    2,
  ),
  before(
    'a session is said to be ready',
    'host/dist/session/creation.js',
    'await core.log.reached(core.log.last)',
    2,
  ),
  before('an agent runs', chat, 'turn.run()', sometimes),
  ...both('words of an agent', turn, 'core.log.appendText(channel, whole, words)', often),
  ...both('a part of a turn, or its end', turn, 'this.#core.log.appendChecked(channel, action)', sometimes),
  before(
    'a turn that was broken off ends',
    'host/dist/recovery.js',
    'interrupt(core, chat, resumable === true)',
    1,
  ),
  ...both('a chat is dropped', chat, 'core.log.drop(chat)', 2),
  ...both('a session is dropped', session, 'core.log.drop(session)', 2),
  after('a session is taken off the list', session, 'core.catalog.delete(uri)', 2),
  ...both('the end of a session is told', session, 'core.sessionFeed.removed(uri)', 2),
  after(
    'a life’s first number is put down',
    'host/dist/log/epochs.js',
    'records.put(key, JSON.stringify([...kept, [first]]))',
    1,
  ),
  ...both('a life’s first flush', commit, 'await this.#store.flush()', 1),
  before('the root is woken', 'host/dist/root/root.js', 'await core.log.wake(rootUri)', 1),
  ...both('the journal is emptied', open, `db.exec('PRAGMA wal_checkpoint(TRUNCATE)')`, 1, 'stop'),
  before('the pid goes', open, 'rmSync(pidFile(folder), { force: true })', 1, 'stop'),
  ...both('the backup', open, `db.exec(\`VACUUM INTO '\${path.replaceAll("'", "''")}'\`)`, 1, 'migration'),
  ...both('a step of a migration', open, 'db.exec(sql)', 1, 'migration'),
  ...both(
    'COMMIT of a migration',
    open,
    `db.exec(\`UPDATE meta SET value = \${known} WHERE key = 'schema'; COMMIT\`)`,
    1,
    'migration',
  ),
]

type During = Failpoint['during']

function before(what: string, file: string, find: string, most: number, during: During = 'load'): Failpoint {
  return { name: `before ${what}`, file, find, side: 'before', during, most }
}

function after(what: string, file: string, find: string, most: number, during: During = 'load'): Failpoint {
  return { name: `after ${what}`, file, find, side: 'after', during, most }
}

function both(...point: Parameters<typeof before>): readonly Failpoint[] {
  return [before(...point), after(...point)]
}
