import type { KindName } from '../reducers.ts'
import { inputNeededBit } from '../status.ts'
import { sessionGaps } from './gaps-of-sessions.ts'
import { versions } from './negotiate.ts'
import type { Version } from './negotiate.ts'
import { at, each, listOf, objectChange, omit, put, shapeOf, textOf } from './shape.ts'
import type { OldAction, Shape } from './shape.ts'

/** A part of a state that an older version cannot keep correct by actions alone. The next snapshot corrects it. */
export interface Gap {
  /** The newest version that has the gap, and the oldest one; without `downTo`, all older versions have it. */
  readonly upTo: Version
  readonly downTo?: Version
  readonly kind: KindName
  /** The part of the state. */
  readonly what: string
  readonly reason: string
  /**
   * Removes the part from a state of the older version, or brings it into a fixed form, so that two states can be
   * compared.
   */
  readonly hide?: (state: Shape) => Shape
  /**
   * Whether an action makes a difference that lasts until the next snapshot. The action and the state may be of any newer
   * version.
   */
  readonly madeBy?: (action: OldAction, before: Shape) => boolean
}

export const gaps: readonly Gap[] = [
  {
    upTo: '0.9.0',
    kind: 'session',
    what: 'the order of `chats`',
    reason: 'only 1.0 has session/chatsReordered; an older client keeps the order of arrival',
    hide: (state) => sorted(state, 'chats', 'resource'),
  },
  {
    upTo: '0.8.0',
    kind: 'annotations',
    what: 'the order of `annotations`',
    reason: 'an annotation without a turn is not shown; if it gets a turn later, an older client appends it',
    hide: (state) => sorted(state, 'annotations', 'id'),
  },
  {
    upTo: '0.7.0',
    downTo: '0.5.1',
    kind: 'session',
    what: 'whether `status` says idle, error or in progress while no input is needed',
    reason:
      'up to 0.7 a request that waits for the tool of a client changes the status, and leaves it in progress',
    hide: (state) => at(state, 'status', (status) => (Number(status) & ~15) >>> 0),
  },
  {
    upTo: '0.6.0',
    kind: 'session',
    what: '`workingDirectory` of the session and of its chats',
    reason: 'no action changes a working directory up to 0.6',
    hide: (state) => at(withoutDirectory(state), 'chats', each(withoutDirectory)),
  },
  {
    upTo: '0.6.0',
    kind: 'chat',
    what: '`workingDirectory`',
    reason: 'no action changes a working directory up to 0.6',
    hide: withoutDirectory,
  },
  {
    upTo: '0.6.0',
    kind: 'chat',
    what: 'a `partialInput` that is empty',
    reason: 'the text of chat/toolCallDelta is required up to 0.6, so an empty one is sent',
    hide: (state) =>
      at(
        state,
        'activeTurn',
        objectChange((turn) => at(turn, 'responseParts', each(unlessEmptyInput))),
      ),
  },
  {
    upTo: '0.6.0',
    kind: 'chat',
    what: '`intention` and `contributor` of a tool call that is ready',
    reason: 'they are fixed at the start of a call up to 0.6',
    madeBy: (action) => isReady(action) && ('intention' in action || 'contributor' in action),
  },
  {
    upTo: '0.6.0',
    kind: 'chat',
    what: '`toolInput` and `editable` of a tool call that is ready again',
    reason:
      'up to 0.6 the call loses an input that the action does not repeat; an input outside the state is a text',
    madeBy: (action, before) =>
      isReady(action) &&
      callsOf(action, before).some(
        ({ status, toolInput }) =>
          (status === 'running' || status === 'pending-confirmation') &&
          (typeof action['toolInput'] !== 'string' || typeof toolInput !== 'string'),
      ),
  },
  {
    upTo: '0.6.0',
    kind: 'chat',
    what: '`toolInput` of a tool call whose input is not a text, after an edit',
    reason: 'the host refuses such an edit; a client up to 0.6 would show it',
    madeBy: (action, before) =>
      'editedToolInput' in action &&
      callsOf(action, before).some(({ toolInput }) => typeof toolInput !== 'string'),
  },
  {
    upTo: '0.5.2',
    downTo: '0.5.1',
    kind: 'session',
    what: 'the order of `inputNeeded`',
    reason: 'a login is not shown; if its id is used for another request later, an older client appends it',
    hide: (state) => sorted(state, 'inputNeeded', 'id'),
  },
  {
    upTo: '0.5.2',
    downTo: '0.5.2',
    kind: 'chat',
    what: 'the place of an answered input request among the parts of its turn',
    reason: '0.5.2 appends the request when it is answered; later versions keep it where it was asked',
    hide: (state) => at(at(state, 'turns', each(answersLast)), 'activeTurn', objectChange(answersLast)),
  },
  {
    upTo: '0.5.2',
    kind: 'chat',
    what: 'a tool call that is ready again while it waits for confirmation',
    reason: 'up to 0.5.2 such an action changes nothing; the call is equal again when it leaves that status',
    madeBy: (action, before) => isReady(action) && hasCall(action, before, 'pending-confirmation'),
  },
  {
    upTo: '0.5.2',
    kind: 'chat',
    what: 'a tool call that changes while it waits for a login',
    reason:
      'up to 0.5.2 the call is running, so it takes what 0.6 refuses, and loses the content that 0.6 keeps',
    madeBy: (action, before) => changesRunning.has(action.type) && hasCall(action, before, 'auth-required'),
  },
  {
    upTo: '0.5.2',
    kind: 'chat',
    what: '`_meta` that a tool call gets when it waits for a login, or waits no longer',
    reason: 'up to 0.5.2 there is no action for it',
    madeBy: (action) => '_meta' in action && action.type.startsWith('chat/toolCallAuth'),
  },
  {
    upTo: '0.5.2',
    kind: 'chat',
    what: 'an input request without an active turn',
    reason: 'from 0.6 a request needs a turn, and the host never makes one without',
    madeBy: ({ type }, before) => type === 'chat/inputRequested' && !('activeTurn' in before),
  },
  {
    upTo: '0.5.2',
    kind: 'chat',
    what: 'the open input requests of a turn that another turn replaces',
    reason: 'the host refuses a turn while another one is active',
    madeBy: ({ type }, before) => type === 'chat/turnStarted' && 'activeTurn' in before,
  },
  {
    upTo: '0.5.2',
    kind: 'chat',
    what: 'the status after a part that waits for a user',
    reason:
      'a host adds such a part with chat/inputRequested or chat/toolCallReady, never with chat/responsePart',
    madeBy: ({ type, part }, before) =>
      type === 'chat/responsePart'
        ? waits(shapeOf(part))
        : type.startsWith('chat/toolCallAuth') && isStale(before),
  },
  {
    upTo: '0.5.0',
    kind: 'chat',
    what: 'older turns that were loaded',
    reason: 'a client of 0.5.0 gets them as the result of fetchTurns',
    madeBy: ({ type }) => type === 'chat/turnsLoaded',
  },
  ...sessionGaps,
]

const changesRunning: ReadonlySet<string> = new Set([
  'chat/toolCallReady',
  'chat/toolCallContentChanged',
  'chat/toolCallComplete',
])

/** The state without the parts that this version cannot keep equal by actions. Two such states can be compared. */
export function withoutGaps(version: Version, kind: KindName, state: object): object {
  return gapsOf(version, kind).reduce((left, gap) => gap.hide?.(left) ?? left, shapeOf(state))
}

/** Whether an action makes a gap in the state of this version. */
export function makesGap(version: Version, kind: KindName, action: OldAction, before: object): boolean {
  return gapsOf(version, kind).some((gap) => gap.madeBy?.(action, shapeOf(before)))
}

function gapsOf(version: Version, kind: KindName): readonly Gap[] {
  const rank = versions.indexOf(version)
  const includes = ({ upTo, downTo = '0.1.0' }: Gap) =>
    rank <= versions.indexOf(upTo) && rank >= versions.indexOf(downTo)
  return gaps.filter((gap) => gap.kind === kind && includes(gap))
}

function sorted(state: Shape, key: string, by: string): Shape {
  const name = (item: unknown) => textOf(shapeOf(item), by) ?? ''
  const list = listOf(state, key).toSorted((a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0))
  return key in state ? put(state, { [key]: list }) : state
}

function withoutDirectory(holder: Shape): Shape {
  return omit(holder, 'workingDirectory')
}

function unlessEmptyInput(part: Shape): Shape {
  const withoutEmpty = (call: Shape) => (call['partialInput'] === '' ? omit(call, 'partialInput') : call)
  return at(part, 'toolCall', objectChange(withoutEmpty))
}

function isReady({ type }: OldAction): boolean {
  return type === 'chat/toolCallReady'
}

/** The tool calls in the active turn that an action names. */
function callsOf({ toolCallId }: OldAction, state: Shape): readonly Shape[] {
  return listOf(shapeOf(state['activeTurn']), 'responseParts')
    .map((part) => shapeOf(shapeOf(part)['toolCall']))
    .filter((call) => toolCallId !== undefined && call['toolCallId'] === toolCallId)
}

function hasCall(action: OldAction, state: Shape, status: string): boolean {
  return callsOf(action, state).some((call) => call['status'] === status)
}

/** Whether a part is not finished: an open input request, or a tool call that has not ended. */
function waits({ kind, response, toolCall }: Shape): boolean {
  const { status } = shapeOf(toolCall)
  if (kind === 'toolCall') return status !== 'completed' && status !== 'cancelled'
  return kind === 'inputRequest' && response === undefined
}

/** Whether a part of the active turn waits, and the status of the chat does not say so. */
function isStale({ activeTurn, status }: Shape): boolean {
  const parts = listOf(shapeOf(activeTurn), 'responseParts')
  return parts.some((part) => waits(shapeOf(part))) && (Number(status) & inputNeededBit) === 0
}

/** A turn with its answered input requests after all other parts, sorted by their JSON texts. */
function answersLast(turn: Shape): Shape {
  const parts = listOf(turn, 'responseParts')
  const isRequest = (part: unknown) => shapeOf(part)['kind'] === 'inputRequest'
  const texts = parts.filter(isRequest).map((part) => JSON.stringify(part))
  return put(turn, { responseParts: [...parts.filter((part) => !isRequest(part)), ...texts.toSorted()] })
}
