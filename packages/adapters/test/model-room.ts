import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Agent } from '@atrium/host/ports/agent'
import type { Action } from '@atrium/protocol/channel'
import type { ChatState, Turn } from '@atrium/protocol/chat/state'
import type { Params } from '@atrium/protocol/commands'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { fileUri } from '@atrium/protocol/file-uri'
import { defaultChatUri } from '@atrium/protocol/uri'
import { onTestFinished } from 'vitest'
import { testHost as openRoom } from '../../host/test/test-host.ts'
import type { Client, TestHost, TestHostOptions } from '../../host/test/test-host.ts'
import { fakeTerminals } from '../../host/test/fake-terminals.ts'
import { agentOn } from '../src/model/model.ts'
import type { ModelConfig } from '../src/model/provider/config.ts'
import { nodeFiles } from '../src/files/files.ts'
import { messagesIn, scriptedProvider } from './scripted-model.ts'

export const session = 's:/1'
export const chat = defaultChatUri(session)

/** A timer that fires as soon as the event loop is idle, whatever the delay. */
export const later = (_: number, task: () => void) => {
  const immediate = setImmediate(task)
  return () => clearImmediate(immediate)
}
export const world = { later, now: () => 0 }

/** Creates a host with real files, in which Ann chats with an agent that uses a scripted model. */
export async function modelRoom(
  texts: { readonly [path: string]: string } = {},
  { settings = {}, ...options }: TestHostOptions & { readonly settings?: Partial<ModelConfig> } = {},
) {
  const provider = scriptedProvider(settings)
  const room = await agentRoom(agentOn([provider], { world, platform: 'test' }), texts, options)
  /** Returns the messages of the nth request to the model. The default is the last request. */
  const sent = (nth = -1) => messagesIn(provider.model.doStreamCalls.at(nth) ?? { prompt: [] })
  return { ...room, provider, sent }
}

/**
 * Creates a host with one agent and a folder that contains `texts` as files. Ann is subscribed to the session and its chat.
 */
export async function agentRoom(
  agent: Agent,
  texts: { readonly [path: string]: string } = {},
  {
    signIn,
    ...options
  }: TestHostOptions & { readonly signIn?: Omit<Params<'authenticate'>, 'channel'> } = {},
) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-model-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const terminals = fakeTerminals((shell) => {
    shell.data(`ran ${shell.start.command}\r\n`)
    shell.exit(0)
  })
  const host = await openRoom({
    agents: [agent],
    ...options,
    machine: { files: nodeFiles(), terminals, customizations: { hash: String }, ...options.machine },
  })
  const ann = await host.join('ann')
  if (signIn) await ann.ask('authenticate', signIn)
  await ann.ask('createSession', { channel: session, workingDirectories: [fileUri(folder)] })
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  const text = (path: string) => readFileSync(join(folder, path), 'utf8')
  return { host, terminals, folder, text, ...chatUser(host, ann) }
}

let turns = 0

/** Returns the actions that one user can do in the chat. */
export function chatUser(host: TestHost, client: Client) {
  // The client has one type for the states of all channels. This channel is a chat.
  const state = () => client.state(chat) as unknown as ChatState
  const calls = () => callsIn(state().activeTurn)
  // Tests also dispatch invalid actions, so the type of an action is not checked.
  const dispatch = async (action: object) =>
    (await client.echo(client.dispatch(chat, action as Action & Record<string, unknown>))).rejectionReason
  const begin = async (text: string, more: object = {}) => {
    const turnId = `t${++turns}`
    const message = { text, origin: { kind: 'user' }, ...more }
    await dispatch({ type: 'chat/turnStarted', turnId, startedAt: '2026-01-01T00:00:00Z', message })
    return turnId
  }
  const ended = async (turnId: string): Promise<Turn> => {
    await client.until(() => state().turns.some(({ id }) => id === turnId))
    return required(state().turns.find(({ id }) => id === turnId))
  }
  return {
    ann: client,
    state,
    dispatch,
    begin,
    ended,
    turn: async (text: string, more?: object) => ended(await begin(text, more)),
    resume: async (turnId: string) => {
      await dispatch({ type: 'chat/turnResume', turnId })
      await client.until(() => state().activeTurn?.id !== turnId && state().turns.at(-1)?.id === turnId)
      return required(state().turns.at(-1))
    },
    /** Waits until the nth call of the turn asks for approval, and returns the call. */
    pending: async (nth = 0) => {
      await client.until(() => calls()[nth]?.status === 'pending-confirmation')
      return required(calls()[nth])
    },
    answer: (nth: number, decision: object) => {
      const { id: turnId } = state().activeTurn ?? { id: '' }
      const { toolCallId } = calls()[nth] ?? { toolCallId: '' }
      return dispatch({ type: 'chat/toolCallConfirmed', turnId, toolCallId, ...decision })
    },
    until: (done: (state: ChatState) => boolean) => client.until(() => done(state())),
    /** Joins a second user, Ben. Tests use him after a restart of the host. */
    again: async () => {
      const ben = await host.join('ben', { subscribe: [session, chat] })
      return chatUser(host, ben)
    },
  }
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the awaited value is missing')
  return value
}

export const yes = { approved: true, confirmed: 'user-action' }
export const no = { approved: false, reason: 'denied' }

export function callsIn(turn: Pick<Turn, 'responseParts'> | undefined): readonly ToolCallState[] {
  return (turn?.responseParts ?? []).flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
}

export function textOf(turn: Pick<Turn, 'responseParts'> | undefined): string {
  return (turn?.responseParts ?? []).map((part) => (part.kind === 'markdown' ? part.content : '')).join('')
}

export function failureIn(turn: Turn) {
  const last = turn.responseParts.at(-1)
  return last?.kind === 'error' ? { ...last.error, resumable: last.resumable } : undefined
}
