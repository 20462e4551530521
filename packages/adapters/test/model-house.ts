import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Agent } from '@atrium/host/ports/agent'
import type { Action } from '@atrium/protocol/channel'
import type { ChatState, Turn } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { fileUri } from '@atrium/protocol/file-uri'
import { defaultChatUri } from '@atrium/protocol/uri'
import { onTestFinished } from 'vitest'
import { room } from '../../host/test/room.ts'
import type { Client, Room, RoomOptions } from '../../host/test/room.ts'
import { fakeTerminals } from '../../host/test/shells.ts'
import { agentWith } from '../src/model/model.ts'
import type { ModelConfig } from '../src/model/provider/config.ts'
import { nodeFiles } from '../src/files/files.ts'
import { heardIn, scriptedVendor } from './scripted-model.ts'

export const session = 's:/1'
export const chat = defaultChatUri(session)

/** Time that passes as soon as nothing else is to be done. */
export const later = (_: number, task: () => void) => {
  const immediate = setImmediate(task)
  return () => clearImmediate(immediate)
}
export const world = { later, now: () => 0 }

/** A real host with real files, in which Ann talks to an agent whose model does what she says. */
export async function modelHouse(
  texts: { readonly [path: string]: string } = {},
  { facts = {}, ...options }: RoomOptions & { readonly facts?: Partial<ModelConfig> } = {},
) {
  const vendor = scriptedVendor(facts)
  const house = await houseOf(agentWith([vendor], { world, platform: 'test' }), texts, options)
  /** What the model was sent when it was asked for the nth time; the last, where that is not said. */
  const heard = (nth = -1) => heardIn(vendor.model.doStreamCalls.at(nth) ?? { prompt: [] })
  return { ...house, vendor, heard }
}

export async function houseOf(
  agent: Agent,
  texts: { readonly [path: string]: string } = {},
  options: RoomOptions = {},
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
  const all = await room({ agents: [agent], machine: { files: nodeFiles(), terminals }, ...options })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session, workingDirectories: [fileUri(folder)] })
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  const text = (path: string) => readFileSync(join(folder, path), 'utf8')
  return { all, terminals, folder, text, ...peopleOf(all, ann) }
}

let turns = 0

/** What somebody does in the chat. */
export function peopleOf(all: Room, ann: Client) {
  const state = () => ann.state(chat) as unknown as ChatState
  const calls = () => callsIn(state().activeTurn)
  const dispatch = async (action: object) =>
    (await ann.echo(ann.dispatch(chat, action as Action & Record<string, unknown>))).rejectionReason
  const begin = async (words: string, more: object = {}) => {
    const turnId = `t${++turns}`
    const message = { text: words, origin: { kind: 'user' }, ...more }
    await dispatch({ type: 'chat/turnStarted', turnId, startedAt: '2026-01-01T00:00:00Z', message })
    return turnId
  }
  const ended = async (turnId: string): Promise<Turn> => {
    await ann.until(() => state().turns.some(({ id }) => id === turnId))
    return state().turns.find(({ id }) => id === turnId) as Turn
  }
  return {
    ann,
    state,
    dispatch,
    begin,
    ended,
    turn: async (words: string, more?: object) => ended(await begin(words, more)),
    resume: async (turnId: string) => {
      await dispatch({ type: 'chat/turnResume', turnId })
      await ann.until(() => state().activeTurn?.id !== turnId && state().turns.at(-1)?.id === turnId)
      return state().turns.at(-1) as Turn
    },
    /** The nth call of the turn, when it asks. */
    pending: async (nth = 0) => {
      await ann.until(() => calls()[nth]?.status === 'pending-confirmation')
      return calls()[nth] as ToolCallState
    },
    answer: (nth: number, given: object) => {
      const { id: turnId } = state().activeTurn ?? { id: '' }
      const { toolCallId } = calls()[nth] ?? { toolCallId: '' }
      return dispatch({ type: 'chat/toolCallConfirmed', turnId, toolCallId, ...given })
    },
    until: (done: (state: ChatState) => boolean) => ann.until(() => done(state())),
    /** Somebody who comes when the host is another. */
    again: async () => {
      const ben = await all.join('ben', { subscribe: [session, chat] })
      return peopleOf(all, ben)
    },
  }
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
