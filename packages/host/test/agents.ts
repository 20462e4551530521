import type { Uri } from '@atrium/protocol/channel'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { TurnFailed } from '../src/ports/agent.ts'
import type { Agent, Chat, AgentAction } from '../src/ports/agent.ts'

/** What each of them says in a turn, a delta a word. */
export const words = ['Hello ', 'from ', 'the ', 'test.']

/** Makes its sessions in no time. */
export function readyAgent(provider = 'mock'): Agent {
  return { info: infoOf(provider), resumes: false, create: () => Promise.resolve(), run: speak }
}

/** Cannot make any session, and says why at once. */
export function failingAgent(problem: TurnFailed, provider = 'mock'): Agent {
  return { ...readyAgent(provider), create: () => Promise.reject(problem) }
}

/** Makes a session when the test says so. */
export interface LateAgent extends Agent {
  /** The chats whose turns it was given, in order. */
  readonly ran: Uri[]
  /** The sessions that went before they were made. */
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
        gates.of(uri).reject(new TurnFailed('gone', 'Nobody waits for it any more.'))
      })
      return gates.of(uri).promise
    },
    run(chat) {
      ran.push(chat.uri)
      return speak(chat)
    },
    finish: (session) => gates.of(session).resolve(),
    fail: (session, problem) => gates.of(session).reject(problem),
  }
}

/** Its turns go on until the test ends them; it takes up what it is steered with. */
export interface PatientAgent extends Agent {
  finish(turnId: string): void
}

export function patientAgent(provider = 'mock'): PatientAgent {
  const gates = new Gates()
  async function* run(chat: Chat): AsyncGenerator<AgentAction> {
    const partId = `${chat.turnId}#0`
    yield opened(partId)
    yield said(partId, words[0])
    const ended = gates.of(chat.turnId).promise.then(() => undefined)
    let taken = ''
    // What it has taken is still there until everyone has been told that it has.
    const steered = () =>
      chat.when(({ steeringMessage }) => steeringMessage !== undefined && steeringMessage.id !== taken)
    for (;;) {
      const steering = (await Promise.race([steered(), ended]))?.steeringMessage
      if (!steering) break
      taken = steering.id
      yield { type: 'chat/pendingMessageRemoved', kind: 'steering', id: taken }
      yield said(partId, `${steering.message.text}: yes. `)
    }
    for (const word of words.slice(1)) yield said(partId, word)
  }
  return { ...readyAgent(provider), run, finish: (turnId) => gates.of(turnId).resolve() }
}

/** Wants to call a tool in every turn, and does so when it may. */
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
    yield* speak(chat)
  }
  return { ...readyAgent(provider), run }
}

async function* speak({ turnId }: Chat): AsyncGenerator<AgentAction> {
  const partId = `${turnId}#0`
  yield opened(partId)
  for (const word of words) yield said(partId, word)
}

const opened = (id: string): AgentAction => ({
  type: 'chat/responsePart',
  part: { kind: 'markdown', id, content: '' },
})
const said = (partId: string, content = ''): AgentAction => ({ type: 'chat/delta', partId, content })

/** Model ids are the agent's own: nobody may read anything into one. */
function infoOf(provider: string): AgentInfo {
  const models = [{ id: `@provider=test:${provider}-1`, provider, name: 'One' }]
  return { provider, displayName: provider, description: `The test's ${provider}`, models }
}

interface Gate {
  readonly promise: Promise<void>
  resolve(): void
  reject(problem: Error): void
}

/** A gate for each name, whether the test or the agent comes to it first. */
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
  // It may be shut before anybody stands at it.
  promise.catch(() => {})
  return { promise, resolve, reject }
}
