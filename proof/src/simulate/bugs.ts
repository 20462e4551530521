import { bug } from './bug.ts'
import type { Bug } from './bug.ts'
import { chatBugs } from './bugs-of-chats.ts'
import { decisionBugs } from './bugs-of-decisions.ts'
import { terminalBugs } from './bugs-of-terminals.ts'
import { pictureBugs, turnBugs } from './bugs-of-turns.ts'

/** The first twelve are the classic ones; those behind them were in the code once, or could be. */
export const bugs: readonly Bug[] = [
  bug(
    'echo before flush',
    'log/delivery-queue',
    'if (queued.strict && queued.entry.seq > durable)',
    'if (false)',
  ),
  bug(
    'effect before flush',
    'log/log',
    'this.#events.appended(channel, action, by);',
    `this.#events.appended(channel, action, by);
    const { committed } = channel;
    if (committed !== undefined) {
      channel.committed = channel.head;
      this.#events.committed(channel, entry);
      channel.committed = committed;
    }`,
  ),
  bug(
    'snapshot from head',
    'channels/derived',
    'const { kind, committed } = channel;',
    'const { kind, head: committed } = channel;',
  ),
  bug('no de-dup', 'connection/resends', 'this.#accepted.get(clientSeq)', 'undefined'),
  bug('de-dup of clientSeq 0', 'connection/resends', 'envelope.origin.clientSeq > 0', 'true'),
  bug(
    'off-by-one replay',
    'connection/handshake',
    'held, lastSeen, upTo, tongue)',
    'held, lastSeen + 1, upTo, tongue)',
  ),
  bug('replay only what is flushed', 'connection/replay', 'if (!(await log.settled()))', 'if (false)'),
  bug(
    'numbers not leaping',
    'log/epochs',
    'Math.max(upTo + 1, Math.floor(now) * 1000)',
    'Math.max(upTo - numbersAhead + 1, 1)',
  ),
  bug('hole ignored', 'log/epochs', 'return lives.some(', 'return true || lives.some('),
  bug(
    'subscriber registered after the snapshot',
    'connection/subscriptions',
    'channel.listeners.add(this.#listener)',
    'this.#core.world.later(0, () => channel.listeners.add(this.#listener))',
  ),
  bug(
    'step split over two transactions',
    'log/log',
    'this.#events.appended(channel, action, by);',
    'this.#commit.seal(this.#numbers.last); this.#events.appended(channel, action, by);',
  ),
  bug(
    'merged non-adjacent envelopes',
    'connection/outbox',
    'const merged = [];',
    `const merged = [];
    entries = [...entries];
    for (let i = entries.length - 2; i >= 0; i--) {
      const at = entries.findIndex((later, j) => j > i && continues(entries[i], later));
      if (at > i + 1) entries.splice(at - 1, 0, ...entries.splice(i, 1));
    }`,
  ),
  bug('not held during a replay', 'connection/handshake', 'opening.hold(channel);', ''),
  bug(
    'replay ends too early',
    'connection/handshake',
    'const upTo = core.log.committedSeq;',
    'const upTo = core.log.committedSeq - 1;',
  ),
  bug('handed ignored', 'connection/replay', 'return channels.every(', 'return true || channels.every('),
  bug(
    'records outside their step',
    'log/step-records',
    'this.#put.set(key, text);',
    'this.#store.put(key, text);',
  ),
  bug('no fence between two handshakes', 'connection/handshake', 'opening.claim(clientId);', ''),
  bug(
    'an answer overtakes what waits',
    'connection/outbox',
    'this.flush();\n        this.#pauses++;',
    'this.#pauses++;',
  ),
  bug('notes before the handshake', 'connection/outbox', 'if (this.#pauses > 0) {', 'if (false) {'),
  bug('asleep with something untold', 'log/log', 'channel.uncommitted > 0', 'false'),
  bug(
    'only what is unseen is a resend',
    'connection/handshake',
    'log.dispatchedBy(clientId, 0, newestOwn)',
    'log.dispatchedBy(clientId, lastSeen, newestOwn)',
  ),
  bug('an echo goes to the old link', 'log/delivery-queue', 'queued.sender = sender;', ';'),
  bug('what waits is no resend', 'connection/handshake', '...waiting.filter(', '...[].filter('),
  bug('held twice after a replay', 'connection/greeting', 'seq <= upTo || ', ''),
  bug('a client overtakes itself', 'log/delivery-queue', ' || this.of(clientId).length > 0', ''),
  bug('heads without rows', 'log/channel', '[rows]: this.rowIds.length', '[rows]: 0'),
  bug('dropped is woken', 'log/log', 'this.#dropped.add(channel.uri);', ''),
  bug('unsubscribe is ignored', 'connection/subscriptions', 'channel.listeners.delete(this.#listener);', ''),
  bug('listed before it is durable', 'core/catalog', 'this.#adding.add(uri);', ''),
  bug('refusal shown to all', 'log/log', 'if (entry.only)', 'if (entry.only && entry.reason === undefined)'),
  bug(
    'answer before durable',
    'connection/commands',
    'core.log.reached(seq).then(() => result)',
    'Promise.resolve(result)',
  ),
  ...turnBugs,
  ...terminalBugs,
  ...chatBugs,
  ...decisionBugs,
  ...pictureBugs,
]
