import type { AgentAction } from '../src/ports/agent.ts'
import type { AnyAction } from './two-client-session.ts'

/** The actions of an agent that bring a tool call into each of its states. */
export const call = { toolCallId: 'c1' }
export const toolCallStarted = (contributor?: object) =>
  ({ type: 'chat/toolCallStart', ...call, toolName: 'x', displayName: 'X', ...contributor }) as AgentAction
export const ready = (more: object = {}) =>
  ({ type: 'chat/toolCallReady', ...call, invocationMessage: 'X', ...more }) as AgentAction
export const running = ready({ confirmed: 'not-needed' })
export const mcp = { contributor: { kind: 'mcp', customizationId: 'm' } }
export const providedBy = (clientId: string) => ({ contributor: { kind: 'client', clientId } })
/** The action by which a client registers its tool `x`. The agent can call the tool only after this action. */
export const registersTools = (clientId: string): AnyAction => ({
  type: 'session/activeClientSet',
  activeClient: { clientId, tools: [{ name: 'x' }] },
})
const auth = { resource: { resource: 'https://x.example' }, reason: 'required' }
export const signIn = { type: 'chat/toolCallAuthRequired', ...call, auth } as AgentAction
export const result = (success: boolean) => ({ result: { success, pastTenseMessage: 'X' } })
export const unseen = {
  type: 'chat/toolCallComplete',
  ...call,
  ...result(true),
  requiresResultConfirmation: true,
} as AgentAction

/** The actions of clients on a tool call. */
const inTurn = { turnId: 't1', ...call }
export const confirmed: AnyAction = {
  type: 'chat/toolCallConfirmed',
  ...inTurn,
  approved: true,
  confirmed: 'user-action',
}
export const resultConfirmed: AnyAction = { type: 'chat/toolCallResultConfirmed', ...inTurn, approved: true }
export const complete: AnyAction = { type: 'chat/toolCallComplete', ...inTurn, ...result(true) }
export const content: AnyAction = { type: 'chat/toolCallContentChanged', ...inTurn, content: [] }

/** A request for input with two questions. The first question is required. */
const questions = [
  { kind: 'text', id: 'name', message: 'Who?', required: true },
  { kind: 'boolean', id: 'sure', message: 'Sure?' },
]
export const asks = { type: 'chat/inputRequested', request: { id: 'r1', questions } } as AgentAction
export const text = { kind: 'text', value: 'Ann' }
export const answer = (requestId: string, questionId: string, value: object): AnyAction => ({
  type: 'chat/inputAnswerChanged',
  requestId,
  questionId,
  answer: { state: 'submitted', value },
})
export const completed = (requestId: string, more: object = {}): AnyAction => ({
  type: 'chat/inputCompleted',
  requestId,
  response: 'accept',
  ...more,
})
