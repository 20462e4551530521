import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { reduceChat } from '@atrium/protocol/chat/reducer'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { describe, expect, test } from 'vitest'
import { silentAgent, testHost } from '../../test/test-host.ts'
import { callIn } from '@atrium/protocol/chat/calls'
import { hostOnlyActions } from '../ports/agent.ts'
import type { Agent, AgentAction } from '../ports/agent.ts'

/** Recordings are read from their folder and are not part of this repository. */
const folder =
  process.env['ATRIUM_RECORDINGS'] ??
  fileURLToPath(new URL('../../../../../shared/transcripts', import.meta.url))
const names = ['turn-claude-tool', 'turn-copilot-confirm'].filter((name) =>
  existsSync(join(folder, `${name}.jsonl`)),
)

describe('recorded turns with a tool that asks', () => {
  if (names.length === 0) test('[W12] skipped: no recorded frames', ({ skip }) => skip('no recorded frames'))

  test.each(names)('[W12] [X1] %s, replayed at 0.9', async (name) => {
    const { sent, received, chat, before } = read(name)
    const provider = String(sent.find(({ method }) => method === 'createSession')?.params?.['provider'])
    const all = await testHost({ agents: [replaying(received, provider)] })
    const ann = all.link()
    const state = () => ann.state(chat) as unknown as ChatState
    for (const { method = '', id, params = {} } of sent) {
      const confirms = (params['action'] as { type?: string } | undefined)?.type === 'chat/toolCallConfirmed'
      if (confirms) await ann.until(() => asked(state()) !== undefined)
      if (method === 'disposeSession') await ann.until(() => state().turns.length === 1)
      const answered = confirms ? ann.until(() => asked(state()) === undefined) : undefined
      if (id === undefined) ann.peer.notify(method, params)
      else await ann.ask(method as 'ping', params as never).catch(permitted(method))
      if (method === 'initialize') ann.clientId = String(params['clientId'])
      await answered
    }
    expect(ann.envelopes.filter(({ rejectionReason }) => rejectionReason !== undefined)).toEqual([])
    const recorded = received.reduce((folded, { action }) => reduceChat(folded, action as never), before)
    expect(recorded.turns[0]?.responseParts.length).toBeGreaterThan(1)
    // This host adds who approved the call (X8).
    const { clientId } = ann
    const decidedBy = expect.objectContaining({ approved: true, principal: 'owner', clientId }) as unknown
    const expected = recorded.turns[0]?.responseParts.map((part) => {
      if (part.kind !== 'toolCall') return part
      const _meta = { ...part.toolCall._meta, 'x-atrium': { decidedBy } }
      return { ...part, toolCall: { ...part.toolCall, _meta } }
    })
    expect(state().turns[0]?.responseParts).toEqual(expected)
  })
})

test("[W12] [X1] an approval in the workbench's format, at 0.9, is accepted", async () => {
  const toolCallId = 'c1'
  const ask: readonly AgentAction[] = [
    { type: 'chat/toolCallStart', toolCallId, toolName: 'Bash', displayName: 'Bash' },
    { type: 'chat/toolCallReady', toolCallId, invocationMessage: 'ls', toolInput: 'ls' },
  ]
  const agent: Agent = {
    ...silentAgent,
    async *run(chat) {
      yield* ask
      await chat.when((state) => callIn(state, toolCallId)?.status === 'running')
      yield { type: 'chat/toolCallComplete', toolCallId, result: { success: true, pastTenseMessage: 'ran' } }
    },
  }
  const all = await testHost({ agents: [agent] })
  const ann = all.link()
  ann.clientId = 'ann'
  await ann.ask('initialize', { protocolVersions: ['0.9.0'], clientId: 'ann' })
  const session = 'claude:/1'
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  const { defaultChat: chat } = ann.state(session) as { defaultChat: Uri }
  await ann.ask('subscribe', { channel: chat })
  const message = { text: 'go', origin: { kind: 'user' } }
  ann.dispatch(chat, {
    type: 'chat/turnStarted',
    turnId: 'request_1',
    startedAt: '2026-01-01T00:00:00Z',
    message,
  })
  const state = () => ann.state(chat) as unknown as ChatState
  await ann.until(() => asked(state()) !== undefined)
  const yes = {
    type: 'chat/toolCallConfirmed',
    turnId: 'request_1',
    toolCallId,
    approved: true,
    confirmed: 'user-action',
  }
  expect((await ann.echo(ann.dispatch(chat, yes))).rejectionReason).toBeUndefined()
  await ann.until(() => state().turns.length === 1)
  expect(state().turns[0]).toMatchObject({
    state: 'complete',
    responseParts: [{ toolCall: { success: true } }],
  })
})

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: { readonly snapshot?: Snapshot }
}

/** Returns the client's dispatches, the actions of its chat, and the chat's state before them. */
function read(name: string) {
  const lines = readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
  const frames = lines.map((line) => JSON.parse(line) as { d: '->' | '<-'; m: Message })
  const sent = frames.flatMap(({ d, m }) => (d === '->' ? [m] : []))
  const snapshots = frames.flatMap(({ d, m }) =>
    d === '<-' && m.result?.snapshot ? [m.result.snapshot] : [],
  )
  const { resource: chat, state } = snapshots.find(
    ({ state: each }) => 'turns' in (each as object),
  ) as Snapshot
  const received = frames.flatMap(({ d, m }) => {
    const envelope = m.params as unknown as Envelope
    return d === '<-' && m.method === 'action' && envelope.channel === chat ? [envelope] : []
  })
  return { sent, received, chat, before: state as ChatState }
}

/** An agent that sends what the agent of the recorded host sent, and waits where that agent waited for a user. */
function replaying(received: readonly Envelope[], provider: string): Agent {
  return {
    ...silentAgent,
    info: { ...silentAgent.info, provider },
    async *run(chat) {
      for (const { action } of received) {
        const { type, toolCallId } = action as { type: string; toolCallId?: string }
        if (type === 'chat/toolCallConfirmed')
          for (const status of ['pending-confirmation', 'running'])
            await chat.when((state) => callIn(state, toolCallId ?? '')?.status === status)
        else if (!(hostOnlyActions as readonly string[]).includes(type)) yield action as AgentAction
      }
    },
  }
}

function asked(state: ChatState | undefined): ToolCallState | undefined {
  for (const part of state?.activeTurn?.responseParts ?? [])
    if (part.kind === 'toolCall' && part.toolCall.status === 'pending-confirmation') return part.toolCall
  return undefined
}

/** Allows `authenticate` to fail, because none of our agents has the recorded resource. */
function permitted(method: string): (error: unknown) => void {
  return (error) => {
    if (method !== 'authenticate') throw error
  }
}
