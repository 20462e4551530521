import { fileUri } from '@atrium/protocol/file-uri'
import type { ChatState, ResponsePart, Turn } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { SessionState } from '@atrium/protocol/session/state'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { onTestFinished } from 'vitest'
import { room } from '../../host/test/room.ts'
import type { Client, Room } from '../../host/test/room.ts'
import { nodeFiles } from '../src/files/files.ts'
import { ptyTerminals } from '../src/terminals/terminals.ts'
import { newPlace, scripted } from './acp.ts'
import type { Scripted, ScriptedOptions } from './acp.ts'

export const session = 'mock:/one'
export const chat = defaultChatUri(session)

/** Ann, in a session of the scripted agent that works in a folder of its own, on a host with real files and terminals. */
export class AcpRoom {
  readonly all: Room
  readonly ann: Client
  readonly agent: Scripted
  /** Where the session works. */
  readonly work: string
  #last = ''

  constructor(all: Room, ann: Client, agent: Scripted, work: string) {
    this.all = all
    this.ann = ann
    this.agent = agent
    this.work = work
  }

  get chat(): ChatState {
    return this.ann.state(chat) as unknown as ChatState
  }

  get session(): SessionState {
    return this.ann.state(session) as unknown as SessionState
  }

  /** Gives the turn's id. */
  begin(text: string, more: object = {}, uri = chat): string {
    const turnId = `t${++turns}`
    this.#last = turnId
    const message = { text, origin: { kind: 'user' }, ...more }
    const startedAt = '2026-01-01T00:00:00Z'
    this.ann.dispatch(uri, { type: 'chat/turnStarted', turnId, startedAt, message })
    return turnId
  }

  async ended(turnId: string, uri = chat): Promise<Turn> {
    const all = () => (this.ann.state(uri) as unknown as ChatState).turns
    await this.ann.until(() => all().some(({ id }) => id === turnId))
    return all().find(({ id }) => id === turnId) as Turn
  }

  /** All of a turn. */
  turn(text: string, more?: object): Promise<Turn> {
    return this.ended(this.begin(text, more))
  }

  /** The newest call that waits for somebody. */
  async asked(fits: (call: ToolCallState) => boolean = () => true): Promise<ToolCallState> {
    const find = () =>
      callsOf(this.chat.activeTurn?.responseParts ?? []).findLast(
        (call) => call.status === 'pending-confirmation' && fits(call),
      )
    await this.ann.until(() => find() !== undefined || this.chat.turns.some(({ id }) => id === this.#last))
    const found = find()
    if (!found) throw new Error(`nothing was asked: ${JSON.stringify(this.chat.turns.at(-1)?.responseParts)}`)
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

  /** A turn in which whatever is asked is allowed. */
  async allowing(text: string): Promise<Turn> {
    const turnId = this.begin(text)
    const answered = new Set<string>()
    for (;;) {
      const find = () =>
        callsOf(this.chat.activeTurn?.responseParts ?? []).find(
          (call) => call.status === 'pending-confirmation' && !answered.has(JSON.stringify(call)),
        )
      await this.ann.until(() => find() !== undefined || this.chat.turns.some(({ id }) => id === turnId))
      const call = find()
      if (!call) return this.ended(turnId)
      answered.add(JSON.stringify(call))
      this.decide(call, true)
    }
  }

  resume(turnId: string): void {
    this.ann.dispatch(chat, { type: 'chat/turnResume', turnId })
  }

  cancel(turnId: string, uri = chat): void {
    this.ann.dispatch(uri, { type: 'chat/turnCancelled', turnId, duration: 1 })
  }

  /** The host dies or goes, with all its agents; another one is there, with another agent on the same sessions. */
  async restarted(how: 'crash' | 'close', options: ScriptedOptions = {}): Promise<AcpRoom> {
    const agent = scripted({ folder: this.agent.folder, ...options })
    await this.all.restart(how, undefined, [agent.agent])
    await this.agent.agent.close()
    return joined(this.all, agent, this.work)
  }
}

export async function acpRoom(options: ScriptedOptions = {}): Promise<AcpRoom> {
  const agent = scripted(options)
  const work = newPlace()
  const machine = { files: nodeFiles(), terminals: ptyTerminals({ shell: '/bin/sh' }) }
  const all = await room({ agents: [agent.agent], machine })
  onTestFinished(() => all.host().close())
  const ann = await all.join('maker')
  await ann.ask('createSession', { channel: session, workingDirectories: [fileUri(work)] })
  return joined(all, agent, work)
}

let joins = 0
let turns = 0

async function joined(all: Room, agent: Scripted, work: string): Promise<AcpRoom> {
  const ann = await all.join(`ann ${++joins}`, { subscribe: [rootUri] })
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  const found = new AcpRoom(all, ann, agent, work)
  await ann.until(() => found.session.lifecycle !== 'creating')
  return found
}

export function callsOf(parts: readonly ResponsePart[]): readonly ToolCallState[] {
  return parts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
}

/** What is written in a turn; what stands between two parts is not shown. */
export function textOf({ responseParts }: Pick<Turn, 'responseParts'>): string {
  return responseParts.flatMap((part) => (part.kind === 'markdown' ? part.content : [])).join('|')
}

export function notesOf({ responseParts }: Pick<Turn, 'responseParts'>): readonly string[] {
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
