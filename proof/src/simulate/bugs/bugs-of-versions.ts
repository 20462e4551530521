import { bug, bugIn } from './bug.ts'
import type { Bug } from './bug.ts'

/** Bugs in what clients of older protocol versions are sent, and in what they may do. */
export const versionBugs: readonly Bug[] = [
  bugIn('protocol', 'a 0.9 client receives actions that 0.9 does not know', 'versions/steps/v0-9', [
    'actionDown: (_, action) => actionsOf.get(action.type)?.(action) ?? [action],',
    'actionDown: (_, action) => [action],',
  ]),
  bug(
    'a 0.9 client does not receive chat summaries',
    'dialect/lowered',
    'const actions = lens.actionDown(kind, action, context);',
    "const actions = action.type === 'session/chatUpdated' ? [] : lens.actionDown(kind, action, context);",
  ),
  bug('a 0.9 client receives a 1.0 state', 'channels/snapshot', 'if (!lens)\n', 'if (true)\n'),
  bug(
    'the echo for an older client has no origin',
    'dialect/lowered',
    'origin: at === main ? parts.origin : undefined',
    'origin: undefined',
  ),
  bug(
    'a snapshot shows the primary chat at an older number than its session',
    'channels/snapshot',
    'a.chat === b.chat && ',
    '',
  ),
  bug(
    'the older form of an action is made from the newest state',
    'kernel/log/delivery',
    'after: state };',
    'after: channel.head };',
  ),
  bug(
    'the older form of an action is made from the state after it',
    'kernel/log/delivery',
    '{ before: channel.committed, after: state }',
    '{ before: state, after: state }',
  ),
  bug(
    'an action for 0.1 names a session by its URI',
    'dialect/dialect',
    'const text = this.#shownText(parts.text);',
    'const text = parts.text;',
  ),
  bug(
    'the last actions of a disposed session have another name at 0.1',
    'dialect/dialect',
    ' && !merged)',
    ')',
  ),
  bug(
    'an action that changed nothing is translated like one that did',
    'dialect/dialect',
    'entry.reason !== undefined || (entry.only !== undefined && entry.origin !== undefined);',
    'entry.reason !== undefined;',
  ),
  bug(
    'a replay for an older client is not translated',
    'dialect/dialect',
    'lens && action ? lowered(lens, { kind, action, room: storedRoom(channel, action) }, parts) : [parts]',
    '[parts]',
  ),
  bug(
    'a client whose version has no action for a change stays connected',
    'connection/connection',
    'if (this.dialect.needsRebuild(entry))',
    'if (false)',
  ),
  bug(
    'a client of 0.1 unsubscribes from a session and not from its primary chat',
    'connection/connection',
    'for (const each of [uri, ...this.includedWith(uri)])',
    'for (const each of [uri])',
  ),
  bug(
    'the active client is the same for all clients of 0.4',
    'dialect/lowered',
    "return single && action.type.startsWith('session/activeClient');",
    'return false;',
  ),
  bug(
    'a choice that waits is lost at a crash',
    'parts/session/selection',
    'const waiting = [',
    '(core.choicesHeard ??= new Set()).add(JSON.stringify({ clientId, clientSeq }));\n    const waiting = [',
    'const [first, ...rest] = ownMeta(session.head).deferred ?? [];',
    `const [first, ...rest] = (ownMeta(session.head).deferred ?? [])
            .filter(({ by }) => core.choicesHeard?.has(JSON.stringify(by)));`,
  ),
  bug(
    'a choice that waits is not stored',
    'parts/session/selection',
    'return core.log.append(session, metaChanged(session.head, { deferred: waiting }));',
    'return undefined;',
  ),
  bug(
    'a choice that is sent again waits twice',
    'parts/session/selection',
    'if (clientSeq > 0 && deferred.some(isOwn))',
    'if (false)',
  ),
  bug(
    'a choice is applied during a turn',
    'parts/session/selection',
    'if (!isBusy(core, session))\n',
    'if (true)\n',
  ),
  bugIn('protocol', 'the model of a session at 0.4 is not updated', 'versions/steps/v0-4-session', [
    "model === undefined ? rebuild : action('session/modelChanged', { model })",
    "action('session/metaChanged', {})",
  ]),
  bugIn('protocol', 'a session at 0.1 lacks the steering message', 'versions/steps/v0-3-session', [
    "'steeringMessage', ",
    '',
  ]),
]
