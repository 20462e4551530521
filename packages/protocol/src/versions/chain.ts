import type { Action } from '../channel.ts'
import type { KindName } from '../reducers.ts'
import { Refusal, rebuild, together } from './lens.ts'
import type { ActionContext, Lens, LiftContext, StateContext } from './lens.ts'

/**
 * Composes the lenses of neighbouring versions, newest first, into one lens from the native version to the oldest of
 * them. Each lens gets a context in the form of the newer of its two versions.
 */
export function chain(steps: readonly [Lens, ...Lens[]]): Lens {
  const [first, ...rest] = steps
  return rest.reduce(compose, first)
}

function compose(newer: Lens, older: Lens): Lens {
  const stateBetween = (kind: KindName, state: object, context?: StateContext) =>
    newer.stateDown(kind, state, context)
  const between = (kind: KindName, context: ActionContext): ActionContext => ({
    viewer: context.viewer,
    get before() {
      return stateBetween(kind, context.before, context)
    },
    get after() {
      return stateBetween(kind, context.after, context)
    },
  })
  return {
    version: older.version,
    stateDown: (kind, state, context) =>
      older.stateDown(kind, stateBetween(kind, state, context), context && stateContext(newer, context)),
    actionDown: (kind, action, context) => {
      const middle = newer.actionDown(kind, action, context)
      if (middle === rebuild) return rebuild
      const inner = context && between(kind, context)
      if (older.actionsDown) return older.actionsDown(kind, middle, inner)
      return together(middle.map((each) => older.actionDown(kind, each, inner)))
    },
    leaves: (type) => newer.leaves(type) && older.leaves(type),
    actionUp: (kind, action, context) => lifted(newer, kind, older.actionUp(kind, action, context), context),
    knows: (method) => older.knows(method),
    paramsUp: (method, params) => newer.paramsUp(method, older.paramsUp(method, params)),
    resultDown: (method, result) => older.resultDown(method, newer.resultDown(method, result)),
    notificationDown: (method, params) => {
      const middle = newer.notificationDown(method, params)
      return middle && older.notificationDown(method, middle)
    },
  }
}

/** Translates the context of a session's state to the version between two lenses. */
function stateContext(newer: Lens, { viewer, summary, chat, changeset }: StateContext): StateContext {
  return {
    viewer,
    summary: summary && summaryDown(newer, summary),
    changeset: changeset && newer.stateDown('changeset', changeset, { viewer }),
    // Up to 0.3 a session has no chats: its state contains the turns.
    chat: newer.knows('createChat') ? chat && newer.stateDown('chat', chat, { viewer }) : undefined,
  }
}

/** Translates the entry of a session in the session list, as a part of the notification about a new session. */
function summaryDown(lens: Lens, summary: object): object | undefined {
  const params = lens.notificationDown('root/sessionAdded', { summary })
  return params && 'summary' in params && typeof params.summary === 'object'
    ? (params.summary ?? undefined)
    : undefined
}

function lifted(
  newer: Lens,
  kind: KindName,
  action: Action | Refusal,
  context: LiftContext,
): Action | Refusal {
  return action instanceof Refusal ? action : newer.actionUp(kindOfAction(kind, action), action, context)
}

/**
 * The kind of channel that an action belongs to after a lens has translated it to the newer version. Up to 0.3 the
 * actions of a chat are actions of the session, so the kind may change from session to chat.
 */
function kindOfAction(kind: KindName, { type }: Action): KindName {
  return kind === 'session' && type.startsWith('chat/') ? 'chat' : kind
}
