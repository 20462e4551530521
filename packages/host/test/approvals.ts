import { guide } from '@atrium/adapters/guide'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { expect } from 'vitest'
import { FakeFiles } from './fake-files.ts'
import { testHost } from './test-host.ts'
import type { Client, Machine, TestHostOptions } from './test-host.ts'
import { fakeTerminals } from './fake-terminals.ts'

export const session = 's:/1'
export const chat = defaultChatUri(session)
export const startedAt = '2026-01-01T00:00:00Z'
const later = (ms: number, task: () => void) => {
  const timer = setTimeout(task, ms)
  return () => clearTimeout(timer)
}

/** A host with fake files and fake terminals, and Ann in a session of the guide. */
export async function desk(machine: Machine = {}, limits: TestHostOptions['limits'] = {}) {
  const files = new FakeFiles()
  files.put('/w/a.txt', 'one\ntwo\nthree\n')
  const terminals = fakeTerminals((shell) => {
    shell.data(`ran ${shell.start.command}\r\n`)
    shell.exit(0)
  })
  const all = await testHost({ agents: [guide(later)], limits, machine: { files, terminals, ...machine } })
  const ann = await enter(all, 'ann')
  await ann.ask('createSession', { channel: session, workingDirectories: ['file:///w'] })
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  return { all, ann, files, terminals }
}

export async function enter(
  all: Awaited<ReturnType<typeof testHost>>,
  clientId: string,
  follow: readonly string[] = [],
) {
  return all.join(clientId, { subscribe: [rootUri, ...follow] })
}

let turns = 0
/** Starts a turn. Returns its id. */
export const say = async (client: Client, text: string) => {
  const turnId = `t${++turns}`
  const message = { text, origin: { kind: 'user' } }
  await client.echo(client.dispatch(chat, { type: 'chat/turnStarted', turnId, startedAt, message }))
  return turnId
}
export const state = (client: Client) => client.state(chat) as unknown as ChatState
export const callsIn = (
  turn: { readonly responseParts: ChatState['turns'][number]['responseParts'] } | undefined,
) => (turn?.responseParts ?? []).flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
/** Waits until the tool call of the active turn asks for confirmation, and returns the call. */
export const pending = async (client: Client): Promise<ToolCallState> => {
  await client.until(() => callsIn(state(client).activeTurn)[0]?.status === 'pending-confirmation')
  return callsIn(state(client).activeTurn)[0] as ToolCallState
}
/** Waits for the end of a turn, and returns the turn. */
export const ended = async (client: Client, turnId: string) => {
  await client.until(() => state(client).turns.some(({ id }) => id === turnId))
  return state(client).turns.find(({ id }) => id === turnId)
}
/** Confirms or denies the tool call of the active turn. Returns the reason if the host refuses this. */
export const answer = async (client: Client, given: object) => {
  const turn = state(client).activeTurn
  const { toolCallId } = callsIn(turn)[0] as ToolCallState
  const approved = { approved: true, confirmed: 'user-action' }
  const action = { type: 'chat/toolCallConfirmed', turnId: turn?.id, toolCallId, ...approved, ...given }
  return (await client.echo(client.dispatch(chat, action as never))).rejectionReason
}
export const denied = { approved: false, confirmed: undefined, reason: 'denied' }

export async function approve(client: Client, text: string, selectedOptionId: string): Promise<string> {
  const turnId = await say(client, text)
  await pending(client)
  expect(await answer(client, { selectedOptionId })).toBeUndefined()
  return turnId
}
