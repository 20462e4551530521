import type { AnnotationsAction } from '../annotations/actions.ts'
import { reduceAnnotations } from '../annotations/reducer.ts'
import type { AnnotationsState } from '../annotations/state.ts'
import type { ChangesetState } from '../changeset/state.ts'
import { inputCases } from '../chat/input.ts'
import type { ActiveTurn, ChatState, ResponsePart } from '../chat/state.ts'
import { turnCases } from '../chat/turn.ts'
import type { SessionState } from '../session/state.ts'
import { Activity, withActivity } from '../status.ts'
import type { TerminalState } from '../terminal/state.ts'
import { compact, patch } from '../update.ts'
import { absent, iso } from './table.ts'
import type { Rule, Rules, VersionRules } from './table.ts'
import { v09 } from './v0-9.ts'

/**
 * Returns a rule that does the same, and also sets the time of the last change to `now`. If the rule changes nothing,
 * the time stays.
 */
function stamped<A>(rule: Rule<ChatState, A>): Rule<ChatState, A> {
  return (state, action, now) => {
    const next = rule(state, action, now)
    return next === state ? state : { ...next, modifiedAt: iso(now) }
  }
}

interface TurnError {
  readonly turnId: string
  readonly duration: number
  readonly error: unknown
}

/**
 * Ends the active turn with an error. At 0.8 the error is in the key `error` of the turn; since 0.9 it is the last
 * part.
 */
function failed(state: ChatState, { turnId, duration, error }: TurnError): ChatState {
  const ended = turnCases['chat/turnComplete'](state, { type: 'chat/turnComplete', turnId, duration })
  const turn = ended.turns.at(-1)
  if (ended === state || !turn) return state
  return {
    ...ended,
    turns: ended.turns.with(-1, compact({ ...turn, state: 'error', error })),
    status: withActivity(ended.status, Activity.Error),
  }
}

interface NewPart {
  readonly turnId: string
  readonly part: ResponsePart
}

const chat: Rules = {
  ...absent('chat/turnResume'),
  'chat/turnStarted': stamped(turnCases['chat/turnStarted']),
  'chat/turnComplete': stamped(turnCases['chat/turnComplete']),
  'chat/turnCancelled': stamped(turnCases['chat/turnCancelled']),
  'chat/error': stamped(failed),
  'chat/truncated': stamped(turnCases['chat/truncated']),
  'chat/inputRequested': stamped(inputCases['chat/inputRequested']),
  'chat/inputAnswerChanged': stamped(inputCases['chat/inputAnswerChanged']),
  'chat/inputCompleted': stamped(inputCases['chat/inputCompleted']),

  // At 0.8 every part is appended. Since 0.9 only `chat/error` may add an error part.
  'chat/responsePart': (state: ChatState, { turnId, part }: NewPart): ChatState => {
    const turn: ActiveTurn | undefined = state.activeTurn
    if (turn?.id !== turnId) return state
    return { ...state, activeTurn: { ...turn, responseParts: [...turn.responseParts, part] } }
  },
}

type Updated = Extract<AnnotationsAction, { readonly type: 'annotations/updated' }> & {
  readonly turnId?: string
}

/** Updates an annotation. At 0.8 an annotation has a `turnId` instead of an `origin`. */
function annotationUpdated(state: AnnotationsState, action: Updated): AnnotationsState {
  const { turnId, origin: _, ...rest } = action
  const next = reduceAnnotations(state, rest)
  const at = next.annotations.findIndex(({ id }) => id === rest.annotationId)
  const annotation = next.annotations[at]
  if (turnId === undefined || !annotation) return next
  return { ...next, annotations: next.annotations.with(at, Object.assign({}, annotation, { turnId })) }
}

interface NewContent extends Pick<ChangesetState, 'files' | 'operations' | 'error'> {}

export const v08: VersionRules = {
  ...v09,
  session: {
    ...v09.session,
    'session/creationFailed': (state: SessionState, { error }: Required<Pick<ChangesetState, 'error'>>) => ({
      ...state,
      lifecycle: 'creationFailed',
      creationError: error,
    }),
  },
  chat: { ...v09.chat, ...chat },
  terminal: {
    ...v09.terminal,
    'terminal/exited': (state: TerminalState & { exitCode?: number }, action: { exitCode?: number }) =>
      patch(state, { exitCode: action.exitCode }),
  },
  changeset: {
    ...v09.changeset,
    'changeset/contentChanged': (state: ChangesetState, { files, operations, error }: NewContent) =>
      patch(state, { files, error, ...(operations && { operations }) }),
  },
  annotations: { ...v09.annotations, 'annotations/updated': annotationUpdated },
  automation: undefined,
  automationRun: undefined,
}
