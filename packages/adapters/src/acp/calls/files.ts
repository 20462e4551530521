import { AhpError } from '@atrium/protocol/errors'
import type { Chat } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { FileEdit } from '@atrium/protocol/common/content'
import { showsFile, showsText } from './preview.ts'
import { isApproved } from './tool-call.ts'
import type { ToolCall } from './tool-call.ts'
import { notAllowed } from './tool-calls.ts'
import type { ToolCalls } from './tool-calls.ts'
import type { Fields } from '../process/schema.ts'

/** Answers `fs/write_text_file`: writes the file if users have approved a tool call in which they saw this file. */
export async function writeFile(params: Fields, chat: Chat, calls: ToolCalls): Promise<object> {
  const { path, content: text } = params
  if (typeof path !== 'string' || typeof text !== 'string')
    throw AhpError.invalidParams('fs/write_text_file needs a path and a content')
  try {
    const labels = { toolName: 'write', displayName: 'Write', title: `Write ${path}`, input: path }
    const edits = [await chat.files.propose(path, { text })]
    const permitted = await calls.permitted((preview) => showsFile(preview, path), labels, { edits })
    const { call, isHostCall, preview } = permitted
    if (preview && !(await showsText(preview, path, text, chat))) await askAgain(calls, call, edits)
    if (isHostCall) await chat.files.writesOnly(call.id, [path])
    const written = chat.files.apply(call.id, path, { text })
    await (isHostCall ? completeAfter(written, calls, call) : written)
    return {}
  } catch (error) {
    throw toAcpError(error)
  }
}

async function completeAfter(written: Promise<void>, calls: ToolCalls, call: ToolCall): Promise<void> {
  try {
    await written
    await calls.complete(call, true)
  } catch (error) {
    await calls.complete(call, false, error instanceof Error ? error.message : undefined)
    throw error
  }
}

async function askAgain(calls: ToolCalls, call: ToolCall, edits: readonly FileEdit[]): Promise<void> {
  const reason = 'The text to be written differs from the change that was shown'
  const decided = await calls.ask(call, { edits, reason, hostTool: 'write' })
  if (!decided || !isApproved(decided)) throw new TurnFailed('permission', notAllowed)
}

/**
 * Converts a refusal by the host to an error response. The message is written for users, because the agent may show it to
 * them.
 */
export function toAcpError(error: unknown): unknown {
  return error instanceof TurnFailed ? new AhpError(internalError, error.message) : error
}

/** The code of an internal error in JSON-RPC. */
const internalError = -32_603
