import { bug } from './bug.ts'
import type { Bug } from './bug.ts'
import { chatBugs } from './bugs-of-chats.ts'
import { decisionBugs } from './bugs-of-decisions.ts'
import { terminalBugs } from './bugs-of-terminals.ts'
import { pictureBugs, turnBugs } from './bugs-of-turns.ts'

/** The first twelve are the classic ones; those behind them were in the code once, or could be. */
export const bugs: readonly Bug[] = [
  bug('echo before flush', 'queue', 'if (queued.strict && queued.entry.seq > durable)', 'if (false)'),
  bug(
    'effect before flush',
    'log',
    'this.#events.appended(channel, action, by);',
    `this.#events.appended(channel, action, by);
    const { told } = channel;
    if (told !== undefined) {
      channel.told = channel.head;
      this.#events.told(channel, entry);
      channel.told = told;
    }`,
  ),
  bug(
    'snapshot from head',
    'derived',
    'const { kind, told } = channel;',
    'const { kind, head: told } = channel;',
  ),
  bug('no de-dup', 'resends', 'this.#accepted.get(clientSeq)', 'undefined'),
  bug('de-dup of clientSeq 0', 'resends', 'envelope.origin.clientSeq > 0', 'true'),
  bug('off-by-one replay', 'handshake', 'held, lastSeen, upTo, tongue)', 'held, lastSeen + 1, upTo, tongue)'),
  bug('replay only what is flushed', 'replay', 'if (!(await log.settled()))', 'if (false)'),
  bug(
    'numbers not leaping',
    'lives',
    'Math.max(upTo + 1, Math.floor(now) * 1000)',
    'Math.max(upTo - numbersAhead + 1, 1)',
  ),
  bug('hole ignored', 'lives', 'return lives.some(', 'return true || lives.some('),
  bug(
    'subscriber registered after the snapshot',
    'following',
    'channel.listeners.add(this.#listener)',
    'this.#core.world.later(0, () => channel.listeners.add(this.#listener))',
  ),
  bug(
    'step split over two transactions',
    'log',
    'this.#events.appended(channel, action, by);',
    'this.#commit.seal(this.#numbers.last); this.#events.appended(channel, action, by);',
  ),
  bug(
    'merged non-adjacent envelopes',
    'outbox',
    'const merged = [];',
    `const merged = [];
    entries = [...entries];
    for (let i = entries.length - 2; i >= 0; i--) {
      const at = entries.findIndex((later, j) => j > i && continues(entries[i], later));
      if (at > i + 1) entries.splice(at - 1, 0, ...entries.splice(i, 1));
    }`,
  ),
  bug('not held during a replay', 'handshake', 'opening.hold(channel);', ''),
  bug('replay ends too early', 'handshake', 'const upTo = core.log.told;', 'const upTo = core.log.told - 1;'),
  bug('handed ignored', 'replay', 'return channels.every(', 'return true || channels.every('),
  bug('records outside their step', 'beside', 'this.#put.set(key, text);', 'this.#store.put(key, text);'),
  bug('no fence between two handshakes', 'handshake', 'opening.claim(clientId);', ''),
  bug(
    'an answer overtakes what waits',
    'outbox',
    'this.flush();\n        this.#pauses++;',
    'this.#pauses++;',
  ),
  bug('notes before the handshake', 'outbox', 'if (this.#pauses > 0) {', 'if (false) {'),
  bug('asleep with something untold', 'log', 'channel.untold > 0', 'false'),
  bug(
    'only what is unseen is a resend',
    'handshake',
    'log.own(clientId, 0, newestOwn)',
    'log.own(clientId, lastSeen, newestOwn)',
  ),
  bug('an echo goes to the old link', 'queue', 'queued.sender = sender;', ';'),
  bug('what waits is no resend', 'handshake', '...waiting.filter(', '...[].filter('),
  bug('held twice after a replay', 'greeting', 'seq <= upTo || ', ''),
  bug('a client overtakes itself', 'queue', ' || this.of(clientId).length > 0', ''),
  bug('heads without rows', 'channel', '[rows]: this.ids.length', '[rows]: 0'),
  bug('dropped is woken', 'log', 'this.#dropped.add(channel.uri);', ''),
  bug('unsubscribe is ignored', 'following', 'channel.listeners.delete(this.#listener);', ''),
  bug('listed before it is durable', 'catalog', 'this.#coming.add(uri);', ''),
  bug('refusal shown to all', 'log', 'if (entry.only)', 'if (entry.only && entry.reason === undefined)'),
  bug(
    'answer before durable',
    'commands',
    'core.log.reached(seq).then(() => result)',
    'Promise.resolve(result)',
  ),
  ...turnBugs,
  ...terminalBugs,
  ...chatBugs,
  ...decisionBugs,
  ...pictureBugs,
]
