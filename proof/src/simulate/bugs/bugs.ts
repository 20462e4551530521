import { bug } from './bug.ts'
import type { Bug } from './bug.ts'
import { changeBugs } from './bugs-of-changes.ts'
import { chatBugs } from './bugs-of-chats.ts'
import { decisionBugs } from './bugs-of-decisions.ts'
import { searchBugs } from './bugs-of-search.ts'
import { segmentBugs } from './bugs-of-segments.ts'
import { terminalBugs } from './bugs-of-terminals.ts'
import { viewBugs, turnBugs } from './bugs-of-turns.ts'
import { versionBugs } from './bugs-of-versions.ts'

/** Every planted bug. The first twelve are classic bugs of replicated logs; the others were in the code once, or could be. */
export const bugs: readonly Bug[] = [
  bug(
    'an action is echoed before it is flushed',
    'kernel/log/delivery-queue',
    'if (queued.strict && queued.entry.seq > durable)',
    'if (false)',
  ),
  bug(
    'an effect runs before its action is flushed',
    'kernel/log/log',
    'this.#events.appended(channel, action, sender?.by);',
    `this.#events.appended(channel, action, sender?.by);
    const { committed, committedOlder } = channel;
    if (committed !== undefined) {
      channel.commit(channel.head, channel.olderRows);
      this.#events.committed(channel, entry);
      channel.commit(committed, committedOlder);
    }`,
  ),
  bug(
    'a snapshot shows uncommitted state',
    'channels/derived',
    'return channel.committedState;',
    'return channel.head;',
  ),
  bug(
    'a snapshot shows the activity of a chat as the status of its session',
    'channels/derived',
    'return channel.committedState;',
    `const state = channel.committedState;
    const [chat] = channel.is('session') ? state.chats : [];
    return chat ? { ...state, status: (state.status & ~31) | (chat.status & 31) } : state;`,
  ),
  bug(
    'the session list shows the status of the state',
    'catalog/summary',
    'status: sessionStatus(state),',
    'status: state.status,',
  ),
  bug(
    'a channel is called missing before its removal is flushed',
    'kernel/log/log',
    'if (this.isDropped(uri))',
    'if (false)',
  ),
  bug(
    'a reconnect leaves out a channel before its removal is flushed',
    'connection/reconnect',
    'for (let removal = removalIn(core, held); removal;',
    'for (let removal = removalIn(core, held); false;',
  ),
  bug(
    'an error calls a channel missing before its removal is flushed',
    'connection/error-commit',
    'if (missing.has(code))',
    'if (false)',
  ),
  bug('a resent action is applied again', 'connection/resends', 'this.#accepted.get(clientSeq)', 'undefined'),
  bug(
    'an action with clientSeq 0 is taken for a resend',
    'connection/resends',
    'envelope.origin.clientSeq > 0',
    'true',
  ),
  bug(
    'a replay starts one number too late',
    'connection/reconnect',
    'after: lastSeen, upTo',
    'after: lastSeen + 1, upTo',
  ),
  bug(
    'a replay leaves out unflushed actions',
    'connection/replay',
    'if (!recent && !(await log.settled()))',
    'if (false)',
  ),
  bug(
    'a replay from memory leaves out actions that are not in memory any more',
    'kernel/log/kept-entries',
    'this.#from = oldest.seq',
    'void oldest.seq',
  ),
  bug(
    'sequence numbers are reused after a crash',
    'kernel/log/epochs',
    'Math.max(upTo + 1, aboveLost(lost), Math.floor(now) * 1000)',
    'Math.max(upTo - numbersAhead + 1, 1)',
  ),
  bug(
    'a client is not told that its actions wait for space',
    'open',
    'notifySpace(core, link, full)',
    'void 0',
  ),
  bug('numbers that the disk has lost are assigned again', 'kernel/log/epochs', 'aboveLost(lost), ', ''),
  bug(
    'a gap after a restored backup is ignored',
    'kernel/log/epochs',
    'return epochs.some(({ first, last })',
    'return true || epochs.some(({ first, last })',
  ),
  bug(
    'a subscriber is registered after its snapshot',
    'connection/subscriptions',
    'channel.listeners.add(this.#listener)',
    'this.#core.world.later(0, () => channel.listeners.add(this.#listener))',
  ),
  bug(
    'a step is split over two transactions',
    'kernel/log/log',
    'this.#events.appended(channel, action, sender?.by);',
    'this.#commit.endStep(this.#sequence.last); this.#events.appended(channel, action, sender?.by);',
  ),
  bug(
    'envelopes that are not adjacent are merged',
    'connection/merge-runs',
    'const merged = [];',
    `const merged = [];
    entries = [...entries];
    for (let i = entries.length - 2; i >= 0; i--) {
      const at = entries.findIndex((later, j) => j > i && continues(entries[i], later));
      if (at > i + 1) entries.splice(at - 1, 0, ...entries.splice(i, 1));
    }`,
  ),
  bug('new actions are not held back during a replay', 'connection/opening', 'link.hold(each);', ''),
  bug(
    'a replay ends one number too early',
    'connection/reconnect',
    'const upTo = core.log.committedSeq;',
    'const upTo = core.log.committedSeq - 1;',
  ),
  bug(
    'the number of a sent snapshot is ignored in a replay',
    'connection/replay',
    'return channels.every(',
    'return true || channels.every(',
  ),
  bug(
    'a record is written outside its step',
    'kernel/log/step-records',
    'this.#changes.set(key, text);',
    'this.#store.put(key, textOf(text));',
  ),
  bug('two handshakes of one client run at once', 'connection/opening', 'link.claim(clientId);', ''),
  bug(
    'a response overtakes waiting notifications',
    'connection/outbox',
    'this.flush();\n        this.#pauses++;',
    'this.#pauses++;',
  ),
  bug(
    'notifications are sent before the handshake is answered',
    'connection/outbox',
    'if (this.#pauses > 0) {',
    'if (false) {',
  ),
  bug('a channel sleeps with undelivered actions', 'kernel/log/log', 'channel.uncommitted > 0', 'false'),
  bug(
    'only actions the client has not seen count as resends',
    'connection/opening',
    'log.dispatchedBy(clientId, 0, newestOwn)',
    'log.dispatchedBy(clientId, lastSeen, newestOwn)',
  ),
  bug('an echo goes to the old link', 'kernel/log/delivery-queue', 'queued.sender = sender;', ';'),
  bug(
    'a waiting action is not recognized as a resend',
    'connection/opening',
    '...waiting.filter(',
    '...[].filter(',
  ),
  bug('a held action is delivered again after a replay', 'connection/opening', 'seq <= upTo || ', ''),
  bug(
    'actions of one client overtake one another',
    'kernel/log/delivery-queue',
    ' || this.of(clientId).length > 0',
    '',
  ),
  bug('a head counts no rows', 'kernel/log/channel', '[rows]: this.rowIds.length', '[rows]: 0'),
  bug('a dropped channel is woken', 'kernel/log/awake-channels', 'this.#dropped.add(uri);', ''),
  bug('unsubscribe is ignored', 'connection/subscriptions', 'channel.listeners.delete(this.#listener);', ''),
  bug('a session is listed before it is durable', 'catalog/catalog', 'this.#adding.add(uri);', ''),
  bug(
    'a rejection is sent to all clients',
    'kernel/log/delivery',
    'if (entry.only)',
    'if (entry.only && entry.reason === undefined)',
  ),
  bug(
    'a command is answered before it is durable',
    'kernel/deferred-response',
    'core.log.reached(seq).then(() => result)',
    'Promise.resolve(result)',
  ),
  bug(
    'a link whose round is over is not served again',
    'connection/queues/fair-queue',
    'if (lane.ready)',
    'if (false)',
  ),
  bug(
    'the waiting frames of a link are processed last first',
    'connection/queues/lane',
    'this.#frames.push(frame);',
    'this.#frames.splice(this.#first, 0, frame);',
  ),
  bug(
    'no round begins after a flush that was waited for',
    'connection/queues/fair-queue',
    '.then(() => this.#round())',
    '',
  ),
  bug(
    'a client that reconnects is served before the request that it has sent is finished',
    'connection/connection',
    'if (unfinished)',
    'if (false)',
  ),
  ...turnBugs,
  ...segmentBugs,
  ...terminalBugs,
  ...chatBugs,
  ...decisionBugs,
  ...viewBugs,
  ...versionBugs,
  ...searchBugs,
  ...changeBugs,
]
