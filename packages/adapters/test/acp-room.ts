import { fileUri } from '@atrium/protocol/file-uri'
import type { ChatState, ResponsePart, Turn } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { SessionState } from '@atrium/protocol/session/state'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { onTestFinished } from 'vitest'
import { testHost } from '../../host/test/test-host.ts'
import type { Client, TestHost } from '../../host/test/test-host.ts'
import { fieldsOf } from '../src/acp/process/schema.ts'
import { nodeFiles } from '../src/files/files.ts'
import { ptyTerminals } from '../src/terminals/terminals.ts'
import { scriptedAgent, temporaryFolder } from './acp.ts'
import type { ScriptedAgent, ScriptedOptions } from './acp.ts'

export const session = 'mock:/one'
export const chat = defaultChatUri(session)

/**
 * A host with real files and terminals. It has one session of the scripted agent, which has a folder of its own, and one
 * client, Ann.
 */
export class AcpRoom {
  readonly room: TestHost
  readonly ann: Client
  readonly agent: ScriptedAgent
  /** The working directory of the session. */
  readonly folder: string
  #lastTurn = ''

  constructor(room: TestHost, ann: Client, agent: ScriptedAgent, folder: string) {
    this.room = room
    this.ann = ann
    this.agent = agent
    this.folder = folder
  }

  get chat(): ChatState {
    return this.chatState(chat)
  }

  chatState(uri: string): ChatState {
    // The test client has one plain type for the states of all channels. This channel is a chat.
    return this.ann.state(uri) as unknown as ChatState
  }

  get session(): SessionState {
    // The test client has one plain type for the states of all channels. This channel is a session.
    return this.ann.state(session) as unknown as SessionState
  }

  /** Starts a turn. Returns its id. */
  begin(text: string, more: object = {}, uri = chat): string {
    const turnId = `t${++turns}`
    this.#lastTurn = turnId
    const message = { text, origin: { kind: 'user' }, ...more }
    const startedAt = '2026-01-01T00:00:00Z'
    this.ann.dispatch(uri, { type: 'chat/turnStarted', turnId, startedAt, message })
    return turnId
  }

  /** Waits for the end of a turn. */
  async ended(turnId: string, uri = chat): Promise<Turn> {
    const find = () => this.chatState(uri).turns.find(({ id }) => id === turnId)
    await this.ann.until(() => find() !== undefined)
    const turn = find()
    if (!turn) throw new Error(`no turn ${turnId}`)
    return turn
  }

  /** Starts a turn and waits for its end. */
  turn(text: string, more?: object): Promise<Turn> {
    return this.ended(this.begin(text, more))
  }

  /** Waits for a pending call, and returns the newest one. Throws if the turn ends without a pending call. */
  async pendingCall(matches: (call: ToolCallState) => boolean = () => true): Promise<ToolCallState> {
    const find = () =>
      callsOf(this.chat.activeTurn?.responseParts ?? []).findLast(
        (call) => call.status === 'pending-confirmation' && matches(call),
      )
    await this.ann.until(
      () => find() !== undefined || this.chat.turns.some(({ id }) => id === this.#lastTurn),
    )
    const found = find()
    if (!found) throw new Error(`no pending call: ${JSON.stringify(this.chat.turns.at(-1)?.responseParts)}`)
    return found
  }

  decide({ toolCallId }: ToolCallState, approved: boolean, selectedOptionId?: string): void {
    this.ann.dispatch(chat, {
      type: 'chat/toolCallConfirmed',
      turnId: this.chat.activeTurn?.id ?? '',
      toolCallId,
      approved,
      ...(approved ? { confirmed: 'user-action' } : { reason: 'denied' }),
      ...(selectedOptionId !== undefined && { selectedOptionId }),
    })
  }

  /** Starts a turn, allows every pending call, and waits for the end of the turn. */
  async turnAllowingAll(text: string): Promise<Turn> {
    const turnId = this.begin(text)
    const allowed = new Set<string>()
    for (;;) {
      const find = () =>
        callsOf(this.chat.activeTurn?.responseParts ?? []).find(
          (call) => call.status === 'pending-confirmation' && !allowed.has(JSON.stringify(call)),
        )
      await this.ann.until(() => find() !== undefined || this.chat.turns.some(({ id }) => id === turnId))
      const call = find()
      if (!call) return this.ended(turnId)
      allowed.add(JSON.stringify(call))
      this.decide(call, true)
    }
  }

  resume(turnId: string): void {
    this.ann.dispatch(chat, { type: 'chat/turnResume', turnId })
  }

  cancel(turnId: string, uri = chat): void {
    this.ann.dispatch(uri, { type: 'chat/turnCancelled', turnId, duration: 1 })
  }

  /** Ends the host and the agent, and starts a new host and a new agent with the same sessions. */
  async restart(how: 'crash' | 'close', options: ScriptedOptions = {}): Promise<AcpRoom> {
    const agent = scriptedAgent({ folder: this.agent.folder, ...options })
    await this.room.restart(how, undefined, [agent.agent])
    await this.agent.agent.close()
    return join(this.room, agent, this.folder)
  }
}

/** `waits`: whether to wait until the agent has opened the session or has failed to. */
export async function acpRoom(options: ScriptedOptions = {}, waits = true): Promise<AcpRoom> {
  const agent = scriptedAgent(options)
  const folder = temporaryFolder()
  const terminals = ptyTerminals({ shell: '/bin/sh' })
  const machine = { files: nodeFiles(), terminals, customizations: { hash: String } }
  const hostRoom = await testHost({ agents: [agent.agent], machine })
  onTestFinished(() => hostRoom.host().close())
  const creator = await hostRoom.join('maker')
  await creator.ask('createSession', { channel: session, workingDirectories: [fileUri(folder)] })
  return join(hostRoom, agent, folder, waits)
}

let joins = 0
let turns = 0

/** Joins Ann to the session, and returns the room. */
async function join(
  hostRoom: TestHost,
  agent: ScriptedAgent,
  folder: string,
  waits = true,
): Promise<AcpRoom> {
  const ann = await hostRoom.join(`ann ${++joins}`, { subscribe: [rootUri] })
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  const acp = new AcpRoom(hostRoom, ann, agent, folder)
  if (waits) await ann.until(() => acp.session.lifecycle !== 'creating')
  return acp
}

/** Returns the default chat that a session's snapshot names. */
export function defaultChatOf(snapshot: { readonly state?: unknown } | undefined, otherwise = ''): string {
  const { defaultChat } = fieldsOf(snapshot?.state)
  return typeof defaultChat === 'string' ? defaultChat : otherwise
}

export function callsOf(parts: readonly ResponsePart[]): readonly ToolCallState[] {
  return parts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
}

/** Returns the text parts of a turn, joined by `|`. Other parts are left out. */
export function textOf({ responseParts }: Pick<Turn, 'responseParts'>): string {
  return responseParts.flatMap((part) => (part.kind === 'markdown' ? part.content : [])).join('|')
}

export function noticesOf({ responseParts }: Pick<Turn, 'responseParts'>): readonly string[] {
  return responseParts.flatMap((part) =>
    part.kind === 'systemNotification'
      ? [typeof part.content === 'string' ? part.content : part.content.markdown]
      : [],
  )
}

export function errorOf({ responseParts }: Pick<Turn, 'responseParts'>) {
  const part = responseParts.findLast(({ kind }) => kind === 'error')
  return part?.kind === 'error' ? part : undefined
}
