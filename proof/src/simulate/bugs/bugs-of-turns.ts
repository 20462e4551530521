import { bug, patch } from './bug.ts'
import type { Bug } from './bug.ts'

const complete = `{ type: 'chat/turnComplete', ...this.#ending }`

/** Bugs in turns, agents, workers and queues. */
export const turnBugs: readonly Bug[] = [
  bug(
    'text of an agent grows in the state without bound',
    'parts/turn/turn-room',
    'return !this.#continued.has(text.id) && jsonLength(text.content, this.#room) <= this.#room;',
    'return true;',
  ),
  bug(
    'a turn ends twice',
    'parts/turn/turn',
    `return this.#end(${complete});`,
    `{ this.#end(${complete}); return void this.#core.log.append(this.#chat, ${complete}); }`,
  ),
  bug(
    'text of an agent is accepted after the end of its turn',
    'parts/turn/turn',
    'this.#stopWaiting = () => resolve(undefined);',
    'this.#stopWaiting = () => { };',
    '#publish(output) {\n        if (this.#over)\n            return;',
    '#publish(output) {',
  ),
  bug(
    'an agent runs before the start of its turn is durable',
    'kernel/log/log',
    'this.#events.appended(channel, action, sender?.by);',
    `this.#events.appended(channel, action, sender?.by);
    const { committed, committedOlder } = channel;
    if (committed && action.type === 'chat/turnStarted') {
      channel.commit(channel.head, channel.olderRows);
      this.#events.committed(channel, entry);
      channel.commit(committed, committedOlder);
    }`,
  ),
  bug(
    'an agent runs before its session is ready',
    'parts/chat/start-turn',
    "if (lifecycle !== 'ready')",
    'if (false)',
  ),
  bug(
    'an agent runs a turn that has ended',
    'parts/chat/start-turn',
    'activeTurn && activeTurn.message === chat.head.activeTurn?.message',
    'activeTurn',
  ),
  bug(
    'a turn stays active after a restart',
    'parts/session/recovery',
    "if (lifecycle === 'creating' || waitsForAnswerOnly(activeTurn.responseParts))",
    'if (true)',
  ),
  bug(
    'an agent runs again after a restart',
    'parts/session/recovery',
    "if (lifecycle === 'creating' || waitsForAnswerOnly(activeTurn.responseParts))",
    'if (startTurn(core, chat) === undefined)',
  ),
  bug(
    'open work is not recorded',
    'kernel/record-map',
    'this.#records.put(',
    "if (this.#prefix !== 'open/') this.#records.put(",
  ),
  bug(
    'the creation of a session is not resumed after a restart',
    'parts/session/recovery',
    'void runCreation(core, session);',
    ';',
  ),
  bug(
    'a turn waits for a session that failed',
    'parts/session/creation',
    'failTurnOf(core, resource, error);',
    ';',
  ),
  {
    name: 'a queued message starts two turns',
    patches: [
      patch(
        'host/dist/parts/chat/queued-messages.js',
        "{ type: 'chat/pendingMessageRemoved', kind, id },",
        '',
      ),
      patch(
        'protocol/dist/chat/turn.js',
        'queuedMessageId ? withoutPending(started, queuedMessageId) : started',
        'started',
      ),
    ],
  },
  bug(
    'two queued messages start at once',
    'parts/chat/queued-messages',
    "new Set(['chat/turnComplete', 'chat/pendingMessageSet',",
    "new Set(['chat/turnComplete', 'chat/pendingMessageRemoved', 'chat/pendingMessageSet',",
  ),
  bug(
    'a queue is not started',
    'parts/chat/queued-messages',
    '? [] : startQueued(state, world);\n}\nconst startsNext',
    '? [] : [];\n}\nconst startsNext',
  ),
  bug(
    'a further message starts a held queue',
    'parts/chat/queued-messages',
    'isQueueHeld(state) && !isOnlyMessage(state, action) ? []',
    'false ? []',
  ),
  bug(
    'a restart starts a held queue',
    'parts/chat/queued-messages',
    'state.activeTurn || isQueueHeld(state) ? []',
    'state.activeTurn ? []',
  ),
  bug(
    'a worker outlives its turn',
    'parts/session/follow-ups',
    'cancelWorkers(core, session, chat.uri);',
    ';',
  ),
  bug(
    'a worker outlives a turn of the previous host run',
    'parts/session/follow-ups',
    'core.jobs.stop(chat.uri);\n    if (endsTurn.has(action.type))',
    'const worked = core.jobs.has(chat.uri);\n    core.jobs.stop(chat.uri);\n    if (worked && endsTurn.has(action.type))',
  ),
  bug(
    'a chat keeps its activity after the end of its turn',
    'parts/session/follow-ups',
    "append(core, chat, { type: 'chat/activityChanged' });",
    ';',
  ),
]

/** Bugs in the views of a chat: in its session, in the session list, and in clients. */
export const viewBugs: readonly Bug[] = [
  bug(
    'a chat summary is updated in a later step',
    'parts/session/follow-ups',
    "append(core, session, { type: 'session/chatUpdated', chat: chat.uri, changes });",
    `core.world.later(0, () => core.log.channel(session.uri) === session &&
      append(core, session, { type: 'session/chatUpdated', chat: chat.uri, changes }));`,
  ),
  bug(
    'the session list is not updated',
    'parts/session/part',
    'committed: { session: sessionCommitted }',
    'committed: {}',
  ),
  bug(
    'a session is announced before its creator is answered',
    'catalog/session-feed',
    'this.#world.later(this.#paused ? pauseMs : 0, () => this.#deliver());',
    'this.#deliver();',
  ),
  bug(
    'a new session is not announced',
    'parts/session/session',
    'if (copied || !createsInAdvance(core, link))',
    'if (copied)',
  ),
  bug(
    'a session is announced before it is used',
    'parts/session/follow-ups',
    "if (state.title !== '')",
    'if (true)',
  ),
  bug(
    'an unused session is not removed',
    'parts/session/departed-clients',
    'if (catalogOf(core).creatorOf(uri) === clientId)',
    'if (false)',
  ),
  bug(
    'a client that left stays active',
    'parts/session/departed-clients',
    "core.log.append(session, { type: 'session/activeClientRemoved', clientId });",
    ';',
  ),
  bug(
    'a chat is dropped in a later step than its session',
    'parts/chat/chat',
    'core.log.drop(chat);',
    'core.world.later(0, () => core.log.drop(chat));',
  ),
  bug(
    'a session sleeps while its chat wakes',
    'channels/sleep',
    'core.log.isAwake(resource)',
    'core.log.channel(resource)',
  ),
  bug(
    'a truncation names a turn that the host has not loaded',
    'dispatch/dispatch',
    'if (needsRow(action))',
    'if (false)',
  ),
  bug(
    'a replay needs a turn that its client lacks',
    'connection/reconnect',
    '?.cut !== undefined && needsRow(',
    '?.cut === null && needsRow(',
  ),
  bug(
    'a replay forgets the turns that a client lacks',
    'connection/subscriptions',
    'leftOut: cut,',
    'leftOut: 0,',
  ),
  bug(
    'a partial snapshot is sent before a truncation is delivered',
    'channels/snapshot',
    '(chat ?? channel).lastRowNeeded > core.log.committedSeq ? {} : wanted',
    'wanted',
  ),
  bug(
    'a page contains turns that are being truncated',
    'channels/history',
    ', chat.lasting);',
    ', Infinity);',
  ),
]
