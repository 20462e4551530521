import { changesOf } from '../../src/catalog/change-tracking.ts'
import type { Uri } from '@atrium/protocol/channel'
import { readTurnRecord, turnKey } from '../../src/parts/changes/turn-record.ts'
import type { TurnRecord } from '../../src/parts/changes/turn-record.ts'
import type { AgentAction } from '../../src/ports/agent.ts'
import { ScriptedAgent, until } from '../scripted-agent.ts'
import type { Run } from '../scripted-agent.ts'
import type { TestHost, TestHostOptions } from '../test-host.ts'
import { ready, result, toolCallStarted } from '../tool-call-actions.ts'
import { accepted, chat, says, started, twoClientSession } from '../two-client-session.ts'
import type { TwoClientSession } from '../two-client-session.ts'
import { MemoryCaptures } from '@atrium/adapters/captures/memory'

/** A session in the folder `/a` of a host with captures. The tests change files as people would. */
export interface CapturedSession extends TwoClientSession {
  readonly captures: MemoryCaptures
  /** The files that were written or removed since the last call began. */
  readonly touched: Set<string>
  write(path: string, text: string): void
  remove(path: string): void
  text(path: string): string | undefined
}

export async function capturedSession(
  options: TestHostOptions = {},
  captures = new MemoryCaptures(),
): Promise<CapturedSession> {
  const files = new Map()
  captures.folders.set('/a', files)
  const capabilities = { multipleChats: { fork: true }, multipleWorkingDirectories: {} }
  const all = await twoClientSession(new ScriptedAgent({ capabilities, resumes: true }), {
    ...options,
    machine: { ...options.machine, captures },
  })
  const touched = new Set<string>()
  return {
    ...all,
    captures,
    touched,
    write: (path, text) => {
      touched.add(path)
      files.set(path, { bytes: new TextEncoder().encode(text), mode: '100644' as const })
    },
    remove: (path) => {
      touched.add(path)
      files.delete(path)
    },
    text: (path) => (files.has(path) ? new TextDecoder().decode(files.get(path)?.bytes) : undefined),
  }
}

/** The text of a turn's stored record, which is not parsed. */
export async function recordText(
  { core }: TestHost,
  turnId: string,
  of: Uri = chat,
): Promise<string | undefined> {
  return core().records.get(`capture/${turnKey(of, turnId)}`)
}

export async function recordOf(
  all: TestHost,
  turnId: string,
  of: Uri = chat,
): Promise<TurnRecord | undefined> {
  const text = await recordText(all, turnId, of)
  return text === undefined ? undefined : readTurnRecord(text)
}

/** Waits until the end captures are taken, and returns the record of a turn. */
export async function endedRecord(
  all: TestHost,
  turnId: string,
  of: Uri = chat,
): Promise<TurnRecord | undefined> {
  await changesOf(all.core())?.settled()
  return recordOf(all, turnId, of)
}

/** Starts a turn as Ann, and waits until the agent has it. */
export async function beginTurn(all: CapturedSession, turnId: string): Promise<Run> {
  const before = all.agent.runs.length
  await accepted(all.ann, chat, started(turnId))
  return all.agent.given(before)
}

export async function endTurn(all: CapturedSession, run: Run): Promise<void> {
  run.end()
  await until(() => all.core().log.channel(chat, 'chat')?.committed?.activeTurn === undefined)
  await changesOf(all.core())?.settled()
}

/** Lets a call of the turn run while `change` is done. The agent says that the call changes these files and no others. */
export async function call(all: CapturedSession, run: Run, id: string, change: () => void): Promise<void> {
  await during(all, run, { id }, async () => {
    all.touched.clear()
    change()
    await run.chat.files.writesOnly(id, [...all.touched])
  })
}

/** Lets a command of the turn run while `change` is done. Nobody knows which files it changes. */
export function command(
  all: CapturedSession,
  run: Run,
  line: string,
  change: () => void | Promise<void>,
): Promise<void> {
  return during(all, run, { id: line, toolInput: line }, change)
}

/** Lets a call of the turn begin, and waits until it may change files. */
export async function beginCall(
  all: CapturedSession,
  run: Run,
  { id, ...more }: { readonly id: string; readonly toolInput?: string },
): Promise<void> {
  const of = { toolCallId: id }
  const begins = { ...toolCallStarted(), ...of } as AgentAction
  await says(all, run, begins, { ...ready({ confirmed: 'not-needed', ...more }), ...of } as AgentAction)
  await changesOf(all.core())?.ready(chat)
}

async function during(
  all: CapturedSession,
  run: Run,
  { id, ...more }: { readonly id: string; readonly toolInput?: string },
  change: () => void | Promise<void>,
): Promise<void> {
  const of = { toolCallId: id }
  await beginCall(all, run, { id, ...more })
  await change()
  await says(all, run, { type: 'chat/toolCallComplete', ...of, ...result(true) } as AgentAction)
}
