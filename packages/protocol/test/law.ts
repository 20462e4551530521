import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { Action } from '../src/channel.ts'
import type { ChatState } from '../src/chat/state.ts'
import { statusOf } from '../src/chat/tool-call.ts'
import type { KindName } from '../src/reducers.ts'
import { Activity, activityOf, inputNeededBit, withActivity } from '../src/status.ts'
import { makesGap, withoutGaps } from '../src/versions/gaps.ts'
import { rebuild } from '../src/versions/lens.ts'
import type { Lens } from '../src/versions/lens.ts'
import {
  at,
  each,
  inOrder,
  listOf,
  objectChange,
  omit,
  put,
  shapeOf,
  shapeOfAction,
} from '../src/versions/shape.ts'
import type { Shape } from '../src/versions/shape.ts'
import { deepFreeze } from './cases.ts'

export type Reduce = (kind: KindName, state: object, action: Action) => object

/** A lens with the reducers on both of its sides. */
export interface Judged {
  readonly lens: Lens
  readonly newer: Reduce
  readonly older: Reduce
}

const viewer = 'a'

/**
 * Checks the law for a sequence of actions: what an older client reduces equals the lowered state. A client that gets a
 * gap, or that must begin again, goes on with the lowered state, which is its next snapshot.
 */
export function expectLaw(
  { lens, newer, older }: Judged,
  kind: KindName,
  initial: object,
  actions: readonly Action[],
): void {
  let before = deepFreeze(initial)
  let seen = deepFreeze(lens.stateDown(kind, before, { viewer }))
  for (const action of deepFreeze(actions)) {
    const after = deepFreeze(newer(kind, before, action))
    const expected = deepFreeze(lens.stateDown(kind, after, { viewer }))
    const lowered = lens.actionDown(kind, action, { viewer, before, after })
    if (lowered === rebuild || makesGap(lens.version, kind, shapeOfAction(action), before)) seen = expected
    else {
      for (const one of lowered) seen = deepFreeze(older(kind, seen, one))
      expectSame(lens, kind, { seen, expected, action, lowered })
    }
    before = after
  }
}

interface Compared {
  readonly seen: object
  readonly expected: object
  readonly action: Action
  readonly lowered: readonly Action[]
}

function expectSame({ version }: Lens, kind: KindName, { seen, expected, action, lowered }: Compared): void {
  const compared = (state: object) => untimed(withoutGaps(version, kind, state))
  // The fast comparison runs first; the slow one prints the difference.
  if (!isDeepStrictEqual(compared(seen), compared(expected)))
    expect(compared(seen), JSON.stringify({ version, action, lowered })).toStrictEqual(compared(expected))
}

/** The state without its time, because each reducer up to 0.8 writes the time of its own clock. */
function untimed(state: object): object {
  return omit(shapeOf(state), 'modifiedAt')
}

/**
 * The state as a host would have it: the status of a chat follows from its active turn, no list of folders names one
 * twice, and annotations, customizations and open requests have different ids.
 */
export function hosted(kind: KindName, state: object): object {
  const make = makers[kind]
  return make ? make(shapeOf(state)) : state
}

/** The action as a host would append it: no list of customizations has an id twice. */
export function hostedAction(action: Action): Action {
  // The change removes items of a list, so the type of the action is the same.
  return action.type === 'session/customizationsChanged'
    ? (at(shapeOfAction(action), 'customizations', byId) as Action)
    : action
}

const inDirectories = (holder: Shape) => at(holder, 'workingDirectories', unique)
const byId = distinctBy((item) => item['id'])

const makers: { readonly [K in KindName]?: (state: Shape) => Shape } = {
  annotations: (state) => at(state, 'annotations', byId),
  session: inOrder(
    inDirectories,
    (state) => at(state, 'chats', each(inDirectories)),
    (state) => at(state, 'inputNeeded', byId),
    withNeeded,
    (state) => at(state, 'customizations', byId),
  ),
  chat: (state) => {
    const distinct = objectChange((turn) => at(turn, 'responseParts', distinctBy(openRequest)))
    // The changes remove items of lists, so the state is still that of a chat.
    const chat = at(inDirectories(state), 'activeTurn', distinct) as Shape & ChatState
    const failed = !chat.activeTurn && activityOf(chat.status) === Activity.Error
    return failed ? chat : put(chat, { status: statusOf(chat) })
  },
}

/** The status of a session as its open requests make it. */
function withNeeded(state: Shape): Shape {
  const asks = listOf(state, 'inputNeeded').some((each) => shapeOf(each)['kind'] !== 'toolClientExecution')
  const status = Number(state['status'])
  return put(state, {
    status: asks ? withActivity(status, Activity.InputNeeded) : (status & ~inputNeededBit) >>> 0,
  })
}

function unique(list: unknown): unknown {
  return Array.isArray(list) ? [...new Set(list as unknown[])] : list
}

/** Removes the items whose key another item before them has. Items without a key stay. */
function distinctBy(keyOf: (item: Shape) => unknown): (list: unknown) => unknown {
  return (list) => {
    const seen = new Set<unknown>()
    return each((item) => {
      const key = keyOf(item)
      if (key !== undefined && seen.has(key)) return undefined
      seen.add(key)
      return item
    })(list)
  }
}

/** The id of an open input request. */
function openRequest(part: Shape): unknown {
  return part['kind'] === 'inputRequest' && part['response'] === undefined
    ? shapeOf(part['request'])['id']
    : undefined
}
