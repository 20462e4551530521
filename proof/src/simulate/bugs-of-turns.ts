import { bug, patch } from './bug.ts'
import type { Bug } from './bug.ts'

const complete = `{ type: 'chat/turnComplete', ...this.#ending }`

/** What could go wrong with turns, agents, workers and queues. */
export const turnBugs: readonly Bug[] = [
  bug(
    'a turn ends twice',
    'turn/turn',
    `return this.#end(${complete});`,
    `{ this.#end(${complete}); return void this.#core.log.append(this.#channel, ${complete}); }`,
  ),
  bug(
    'a word after the end of a turn',
    'turn/turn',
    'this.#leave = () => resolve(undefined);',
    'this.#leave = () => { };',
    '#say(said) {\n        if (this.#over)\n            return;',
    '#say(said) {',
  ),
  bug(
    'an agent runs before the start is durable',
    'log/log',
    'this.#events.appended(channel, action, by);',
    `this.#events.appended(channel, action, by);
    const { committed } = channel;
    if (committed && action.type === 'chat/turnStarted') {
      channel.committed = channel.head;
      this.#events.committed(channel, entry);
      channel.committed = committed;
    }`,
  ),
  bug('an agent runs before its session is ready', 'chat/chat', "if (lifecycle !== 'ready')", 'if (false)'),
  bug(
    'an agent runs a turn that is over',
    'chat/chat',
    'activeTurn && activeTurn.message === chat.head.activeTurn?.message',
    'activeTurn',
  ),
  bug(
    'a turn goes on after a restart',
    'recovery',
    "if (lifecycle === 'creating' || waitsForAnswerOnly(activeTurn.responseParts))",
    'if (true)',
  ),
  bug(
    'an agent runs again after a restart',
    'recovery',
    "if (lifecycle === 'creating' || waitsForAnswerOnly(activeTurn.responseParts))",
    'if (begin(core, chat) === undefined)',
  ),
  bug('open work is not kept', 'core/jobs', "this.#records.put(`${prefix}${uri}`, '');", ''),
  bug('a session is not made after a restart', 'recovery', 'void create(core, session);', ';'),
  bug(
    'a turn waits for a session that failed',
    'session/creation',
    'failTurnOf(core, resource, error);',
    ';',
  ),
  {
    name: 'a message of the queue begins twice',
    patches: [
      patch('host/dist/chat/queued-messages.js', "{ type: 'chat/pendingMessageRemoved', kind, id },", ''),
      patch(
        'protocol/dist/chat/turn.js',
        'queuedMessageId ? withoutPending(started, queuedMessageId) : started',
        'started',
      ),
    ],
  },
  bug(
    'two messages of the queue begin at once',
    'chat/queued-messages',
    "[...ends, 'chat/pendingMessageSet',",
    "[...ends, 'chat/pendingMessageRemoved', 'chat/pendingMessageSet',",
  ),
  bug(
    'a queue is not begun',
    'chat/queued-messages',
    ': queued(state, world);\n}\nconst ends',
    ': [];\n}\nconst ends',
  ),
  bug('a worker outlives its turn', 'dispatch/follow-ups', 'disposeWorkers(core, session, chat.uri);', ';'),
  bug(
    'a worker outlives a turn of the life before',
    'dispatch/follow-ups',
    'core.jobs.stop(chat.uri);\n    if (endsTurn.has(action.type))',
    'const worked = core.jobs.has(chat.uri);\n    core.jobs.stop(chat.uri);\n    if (worked && endsTurn.has(action.type))',
  ),
  bug(
    'what it does is said after the end',
    'dispatch/follow-ups',
    "append(core, chat, { type: 'chat/activityChanged' });",
    ';',
  ),
]

/** What could go wrong with what a session, the list and others show of a chat. */
export const pictureBugs: readonly Bug[] = [
  bug(
    'a rollup in a later step',
    'dispatch/follow-ups',
    "append(core, session, { type: 'session/chatUpdated', chat: chat.uri, changes });",
    `core.world.later(0, () => core.log.channel(session.uri) === session &&
      append(core, session, { type: 'session/chatUpdated', chat: chat.uri, changes }));`,
  ),
  bug('the list does not follow', 'dispatch/dispatch', 'sessionCommitted(core, channel);', ';'),
  bug(
    'announced before the answer',
    'core/session-feed',
    'this.#world.later(this.#paused ? pauseMs : 0, () => this.#deliver());',
    'this.#deliver();',
  ),
  bug('announced before it is used', 'dispatch/follow-ups', "if (state.title !== '')", 'if (true)'),
  bug(
    'what nobody used stays',
    'session/session',
    'if (core.catalog.creatorOf(uri) === clientId)',
    'if (false)',
  ),
  bug(
    'who has left takes part',
    'session/session',
    "core.log.append(session, { type: 'session/activeClientRemoved', clientId });",
    ';',
  ),
  bug(
    'a chat goes in a later step than its session',
    'chat/chat',
    'core.log.drop(chat);',
    'core.world.later(0, () => core.log.drop(chat));',
  ),
  bug(
    'a session sleeps while its chat wakes',
    'channels/sleep',
    'core.log.isAwake(resource)',
    'core.log.channel(resource)',
  ),
  bug('cut to a turn that a reader lacks', 'dispatch/dispatch', 'if (needsRow(action))', 'if (false)'),
  bug(
    'a replay that needs a turn its reader lacks',
    'connection/handshake',
    '?.cut !== undefined &&',
    '?.cut === null &&',
  ),
  bug(
    'what was left out is forgotten by a replay',
    'connection/subscriptions',
    'leftOut: cut,',
    'leftOut: 0,',
  ),
  bug(
    'a part is handed out before a cut is told',
    'channels/snapshot',
    'channel.lastRowNeeded > core.log.committedSeq ? {} : wanted',
    'wanted',
  ),
  bug('a page of what is being taken away', 'channels/history', ', channel.lasting);', ', Infinity);'),
  {
    name: '0.9 is told what it has no name for',
    patches: [
      patch(
        'protocol/dist/versions/v0-9.js',
        'actionDown: (_, action) => actionsOf.get(action.type)?.(action) ?? [action],',
        'actionDown: (_, action) => [action],',
      ),
    ],
  },
  bug(
    '0.9 is not told what changed of a chat',
    'connection/dialect',
    'const actions = lens.actionDown(kind, action);',
    "const actions = action.type === 'session/chatUpdated' ? [] : lens.actionDown(kind, action);",
  ),
  bug(
    '0.9 is handed a state of 1.0',
    'channels/snapshot',
    '(lens ? lens.stateDown(',
    '(false ? lens.stateDown(',
  ),
]
