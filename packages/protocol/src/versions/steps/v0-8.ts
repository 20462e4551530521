import { primaryChat } from '../../session/primary-chat.ts'
import type { Action } from '../../channel.ts'
import { conversation } from '../conversation.ts'
import { Refusal, contextOf, rebuild } from '../lens.ts'
import type { ActionContext, LiftContext, Lowered } from '../lens.ts'
import { at, each, listOf, objectChange, omit, put, shapeOf, textOf } from '../shape.ts'
import type { OldAction, Shape } from '../shape.ts'
import { one, step, unlessEmptied } from '../step.ts'

/** Translates turns. Since 0.9 an error is a part of a turn. Up to 0.8 it is a key of the turn that failed. */
const talk = conversation({ message: messageDown, turn: turnDown, activeTurn: withoutErrorParts })

const responsePart = talk.rows['chat/responsePart']

export const v08 = step({
  version: '0.8.0',
  newer: '0.9.0',
  states: {
    root: rootDown,
    session: sessionDown,
    chat: talk.chat,
    terminal: terminalDown,
    changeset: statusDown,
    annotations: (state) => at(state, 'annotations', each(annotationDown)),
  },
  actions: {
    ...talk.rows,
    'root/terminalsChanged': one(rootDown),
    'chat/error': one((action) => put(action, { error: errorOf(action['part']), part: undefined })),
    // No older action opens a turn again.
    'chat/turnResume': () => rebuild,
    // Only `chat/error` adds an error part.
    'chat/responsePart': (action) => (isError(action['part']) ? [] : (responsePart?.(action) ?? [action])),
    'terminal/exited': one((action) => put(action, { exitCode: exitCodeOf(action) })),
    'terminal/claimed': one(claimDown),
    'changeset/statusChanged': one(statusDown),
    'changeset/contentChanged': contentChangedDown,
    'annotations/set': annotationSetDown,
    'annotations/updated': annotationUpdatedDown,
  },
  actionsUp: {
    'terminal/claimed': claimedUp,
    'annotations/set': (action, context) => {
      const annotation = shapeOf(action['annotation'])
      return withOrigin(annotation, context, (lifted) => put(action, { annotation: lifted }))
    },
    'annotations/updated': (action, context) => withOrigin(action, context, (lifted) => lifted as OldAction),
  },
  results: {
    initialize: (result) => omit(result, '_meta', 'automations'),
    listSessions: (result) => at(result, 'items', each(summaryDown)),
    fetchTurns: (result) => at(result, 'turns', talk.turns),
  },
  notifications: {
    'root/sessionAdded': (params) => at(params, 'summary', objectChange(summaryDown)),
    'root/sessionSummaryChanged': (params) =>
      unlessEmptied(params, at(params, 'changes', objectChange(summaryDown))),
  },
})

function rootDown(state: Shape): Shape {
  return at(state, 'terminals', each(terminalDown))
}

/** Translates the state of a terminal, or its entry in the list of the root channel. */
function terminalDown(terminal: Shape): Shape {
  const lifecycle = shapeOf(terminal['lifecycle'])
  const exitCode = lifecycle['status'] === 'exited' ? exitCodeOf(lifecycle) : terminal['exitCode']
  return claimDown(put(terminal, { lifecycle: undefined, exitCode }))
}

/**
 * Returns the exit code of an exited terminal, or -1 if it has none. Up to 0.8 only an exit code shows that a
 * terminal has exited.
 */
function exitCodeOf(exited: Shape): unknown {
  return exited['exitCode'] ?? -1
}

/** Removes the chat from the claim of a terminal. A claim names the chat of its session since 0.9. */
function claimDown(holder: Shape): Shape {
  return at(
    holder,
    'claim',
    objectChange((claim) => omit(claim, 'chat')),
  )
}

function claimedUp(action: OldAction, { session }: LiftContext): Action | Refusal {
  const claim = shapeOf(action['claim'])
  if (claim['kind'] !== 'session' || 'chat' in claim) return action
  const chat = session && primaryChat(session)
  return chat === undefined
    ? new Refusal('the session of the claim has no chat')
    : put(action, { claim: { ...claim, chat } })
}

function sessionDown(state: Shape): Shape {
  const { lifecycle } = state
  return summaryDown(lifecycle === 'failed' ? { ...state, lifecycle: 'creationFailed' } : state)
}

/** Removes the origin of a session or of its entry in the list. Sessions have an origin, an automation, since 0.9. */
function summaryDown(summary: Shape): Shape {
  return omit(summary, 'origin')
}

function messageDown(message: Shape): Shape {
  const origin = shapeOf(message['origin'])
  if (origin['kind'] !== 'automation') return message
  return put(message, { origin: { ...origin, kind: 'systemNotification' } })
}

function turnDown(turn: Shape): Shape {
  const parts = listOf(turn, 'responseParts')
  const last = parts.at(-1)
  if (turn['state'] !== 'error' || !isError(last)) return withoutErrorParts(turn)
  return withoutErrorParts(put(turn, { responseParts: parts.slice(0, -1), error: errorOf(last) }))
}

/**
 * Replaces error parts by notices. A resumed turn keeps the errors from before, but up to 0.8 a turn has no error
 * parts.
 */
function withoutErrorParts(turn: Shape): Shape {
  return at(
    turn,
    'responseParts',
    each((part) => (isError(part) ? noticeOf(part) : part)),
  )
}

function noticeOf(part: Shape): Shape {
  return { kind: 'systemNotification', content: textOf(shapeOf(errorOf(part)), 'message') ?? '' }
}

function isError(part: unknown): boolean {
  return shapeOf(part)['kind'] === 'error'
}

function errorOf(part: unknown): unknown {
  return shapeOf(part)['error']
}

/**
 * Replaces the status `recomputing`, which 1.0 added, by `computing`. The step to 0.9 leaves it unchanged, because
 * the statuses are an open enum since 0.9.
 */
function statusDown(holder: Shape): Shape {
  return holder['status'] === 'recomputing' ? { ...holder, status: 'computing' } : holder
}

/**
 * Adds the present error to an action with new content. Up to 0.8 such an action replaces the error; since 0.9 it
 * leaves the error as it is.
 */
function contentChangedDown(action: OldAction, context?: ActionContext): Lowered {
  return [put(action, { error: shapeOf(contextOf(context).after)['error'] })]
}

/**
 * Replaces the origin of an annotation by the id of its turn. Returns `undefined` if the annotation belongs to no
 * turn: 0.8 cannot show it.
 */
function annotationDown(annotation: Shape): Shape | undefined {
  if (!('origin' in annotation)) return annotation
  const turnId = textOf(shapeOf(annotation['origin']), 'turnId')
  return turnId === undefined ? undefined : put(annotation, { origin: undefined, turnId })
}

/**
 * Translates a new or replaced annotation. If 0.8 cannot show it, the client gets a removal instead, because the
 * annotation may replace one that is shown.
 */
function annotationSetDown(action: OldAction): Lowered {
  const given = shapeOf(action['annotation'])
  const annotation = annotationDown(given)
  return [annotation ? put(action, { annotation }) : removed(given['id'])]
}

/**
 * Translates a new origin. It may make the annotation visible or invisible at 0.8, where only annotations of a turn
 * are shown.
 */
function annotationUpdatedDown(action: OldAction, context?: ActionContext): Lowered {
  if (!('origin' in action)) return [action]
  const lowered = annotationDown(action)
  if (!lowered) return [removed(action['annotationId'])]
  const { before, after } = contextOf(context)
  const id = action['annotationId']
  const shown = (state: object) => {
    const found = listOf(shapeOf(state), 'annotations')
      .map(shapeOf)
      .find((each) => each['id'] === id)
    return found && annotationDown(found)
  }
  const annotation = shown(after)
  // The lowered action keeps the type of the given one: hence the cast.
  if (shown(before) || !annotation) return [lowered as OldAction]
  return [{ type: 'annotations/set', annotation } as OldAction]
}

function removed(annotationId: unknown): OldAction {
  return { type: 'annotations/removed', annotationId }
}

/** Replaces the turn of an annotation by its origin, which also names the session. */
function withOrigin(
  holder: Shape,
  { sessionUri }: LiftContext,
  result: (lifted: Shape) => Action,
): Action | Refusal {
  const { turnId } = holder
  if (turnId === undefined || 'origin' in holder) return result(holder)
  if (sessionUri === undefined) return new Refusal('the session of these annotations is unknown')
  return result(put(holder, { turnId: undefined, origin: { session: sessionUri, turnId } }))
}
