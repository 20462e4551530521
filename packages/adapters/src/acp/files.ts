import { AhpError } from '@atrium/protocol/errors'
import type { Chat } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import { isApproved } from './tool-call.ts'
import type { Call } from './tool-call.ts'
import type { Calls } from './tool-calls.ts'
import type { Asked } from './process/connection.ts'
import { showsFile, showsText } from './previewed.ts'
import type { Question } from './previewed.ts'

/** A file that an agent lets the host write, for a call that shows this file and was agreed to. */
export async function writeFile(asked: Asked, chat: Chat, calls: Calls): Promise<object> {
  const { path, content: text } = asked
  if (typeof path !== 'string' || typeof text !== 'string')
    throw AhpError.invalidParams('fs/write_text_file needs a path and a content')
  const edit = { text }
  try {
    const about = { toolName: 'write', displayName: 'Write', title: `Write ${path}`, input: path }
    const edits = [await chat.files.propose(path, edit)]
    const { call, own, shown } = await calls.permitted((each) => showsFile(each, path), about, { edits })
    if (shown && !(await showsText(shown, path, text, chat))) await askAgain(calls, call, edits)
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

async function askAgain(calls: Calls, call: Call, edits: Question['edits'] & {}): Promise<void> {
  const decided = await calls.ask(call, { edits, reason: 'It would write something else than was shown' })
  if (!decided || !isApproved(decided)) throw new TurnFailed('permission', 'nobody has agreed to this')
}

/** What it is told is meant for people, and it may tell them. */
export function refused(error: unknown): unknown {
  return error instanceof TurnFailed ? new AhpError(-32_603, error.message) : error
}
