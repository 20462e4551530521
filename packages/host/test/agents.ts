import type { Uri } from '@atrium/protocol/channel'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { TurnFailed } from '../src/ports/agent.ts'
import type { Agent, Chat, AgentAction } from '../src/ports/agent.ts'

/** The words that each test agent streams in a turn, with one delta for each word. */
export const words = ['Hello ', 'from ', 'the ', 'test.']

/** An agent whose sessions are ready at once. */
export function readyAgent(provider = 'mock'): Agent {
  return { info: infoOf(provider), resumes: false, create: () => Promise.resolve(), run: streamWords }
}

/** An agent that fails to create any session. */
export function failingAgent(problem: TurnFailed, provider = 'mock'): Agent {
  return { ...readyAgent(provider), create: () => Promise.reject(problem) }
}

/** An agent that creates a session when the test calls `finish`. */
export interface LateAgent extends Agent {
  /** The chats whose turns the agent was given, in order. */
  readonly ran: Uri[]
  /** The sessions that were disposed of before the agent had created them. */
  readonly abandoned: Uri[]
  finish(session: Uri): void
  fail(session: Uri, problem: TurnFailed): void
}

export function lateAgent(provider = 'mock'): LateAgent {
  const gates = new Gates()
  const ran: Uri[] = []
  const abandoned: Uri[] = []
  return {
    ...readyAgent(provider),
    ran,
    abandoned,
    create({ uri }, signal) {
      signal.addEventListener('abort', () => {
        abandoned.push(uri)
        gates.of(uri).reject(new TurnFailed('gone', 'The session was disposed.'))
      })
      return gates.of(uri).promise
    },
    run(chat) {
      ran.push(chat.uri)
      return streamWords(chat)
    },
    finish: (session) => gates.of(session).resolve(),
    fail: (session, problem) => gates.of(session).reject(problem),
  }
}

/** An agent whose turns run until the test ends them, and that accepts steering messages. */
export interface PatientAgent extends Agent {
  finish(turnId: string): void
}

export function patientAgent(provider = 'mock'): PatientAgent {
  const gates = new Gates()
  async function* run(chat: Chat): AsyncGenerator<AgentAction> {
    const partId = `${chat.turnId}#0`
    yield partStarted(partId)
    yield textDelta(partId, words[0])
    const ended = gates.of(chat.turnId).promise.then(() => undefined)
    let accepted = ''
    // Waits for a new steering message. An accepted message must be skipped: it stays in the state until its removal is
    // committed.
    const steered = () =>
      chat.when(({ steeringMessage }) => steeringMessage !== undefined && steeringMessage.id !== accepted)
    for (;;) {
      const steering = (await Promise.race([steered(), ended]))?.steeringMessage
      if (!steering) break
      accepted = steering.id
      yield { type: 'chat/pendingMessageRemoved', kind: 'steering', id: accepted }
      yield textDelta(partId, `${steering.message.text}: yes. `)
    }
    for (const word of words.slice(1)) yield textDelta(partId, word)
  }
  return { ...readyAgent(provider), run, finish: (turnId) => gates.of(turnId).resolve() }
}

/** An agent whose turns each have one tool call, which asks for approval and then runs. */
export function askingAgent(provider = 'mock'): Agent {
  async function* run(chat: Chat): AsyncGenerator<AgentAction> {
    const toolCallId = `${chat.turnId}#call`
    yield { type: 'chat/toolCallStart', toolCallId, toolName: 'shell', displayName: 'Run' }
    const asked = { invocationMessage: 'Running ls', toolInput: 'ls', confirmationTitle: 'Run it?' }
    yield { type: 'chat/toolCallReady', toolCallId, ...asked }
    await chat.when(({ activeTurn }) =>
      (activeTurn?.responseParts ?? []).some(
        (part) => part.kind === 'toolCall' && part.toolCall.status === 'running',
      ),
    )
    yield { type: 'chat/toolCallComplete', toolCallId, result: { success: true, pastTenseMessage: 'Ran ls' } }
    yield* streamWords(chat)
  }
  return { ...readyAgent(provider), run }
}

async function* streamWords({ turnId }: Chat): AsyncGenerator<AgentAction> {
  const partId = `${turnId}#0`
  yield partStarted(partId)
  for (const word of words) yield textDelta(partId, word)
}

const partStarted = (id: string): AgentAction => ({
  type: 'chat/responsePart',
  part: { kind: 'markdown', id, content: '' },
})
const textDelta = (partId: string, content = ''): AgentAction => ({ type: 'chat/delta', partId, content })

/** The description of a test agent. Its model ids look odd, because no part of the host may interpret them. */
function infoOf(provider: string): AgentInfo {
  const models = [{ id: `@provider=test:${provider}-1`, provider, name: 'One' }]
  return { provider, displayName: provider, description: `The test's ${provider}`, models }
}

interface Gate {
  readonly promise: Promise<void>
  resolve(): void
  reject(problem: Error): void
}

/** A gate for each name. A gate is created when the test or the agent first uses its name. */
class Gates {
  readonly #gates = new Map<string, Gate>()

  of(name: string): Gate {
    const gate = this.#gates.get(name) ?? gateOf()
    this.#gates.set(name, gate)
    return gate
  }
}

function gateOf(): Gate {
  let resolve = () => {}
  let reject: (problem: Error) => void = () => {}
  const promise = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  // Avoids an unhandled rejection: a gate may be rejected before anybody waits at it.
  promise.catch(() => {})
  return { promise, resolve, reject }
}
