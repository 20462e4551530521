import { AhpError } from '@atrium/protocol/errors'
import type { Chat } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { Call } from './agent-acp-call.ts'
import type { Calls } from './agent-acp-calls.ts'
import type { Asked } from './agent-acp-link.ts'

/**
 * A file that an agent lets the host write, for a call that names this file and was approved.
 */
export async function writeFile(asked: Asked, chat: Chat, calls: Calls): Promise<object> {
  const { path, content: text } = asked
  if (typeof path !== 'string' || typeof text !== 'string')
    throw AhpError.invalidParams('fs/write_text_file needs a path and a content')
  const edit = { text }
  try {
    const about = { toolName: 'write', displayName: 'Write', title: `Write ${path}`, input: path }
    const edits = [await chat.files.propose(path, edit)]
    const { call, own } = await calls.permitted((each) => names(each, path), about, { edits })
    const done = chat.files.apply(call.id, path, edit)
    await (own ? written(calls, call, done) : done)
    return {}
  } catch (error) {
    throw refused(error)
  }
}

async function written(calls: Calls, call: Call, done: Promise<void>): Promise<void> {
  try {
    await done
    await calls.finish(call, true)
  } catch (error) {
    await calls.finish(call, false, error instanceof Error ? error.message : undefined)
    throw error
  }
}

function names({ input = '', places, content }: Call, path: string): boolean {
  return (
    places.includes(path) ||
    input === path ||
    input.includes(JSON.stringify(path)) ||
    content.some((item) => item.type === 'diff' && item.path === path)
  )
}

/** What it is told is meant for people, and it may tell them. */
export function refused(error: unknown): unknown {
  return error instanceof TurnFailed ? new AhpError(-32_603, error.message) : error
}
