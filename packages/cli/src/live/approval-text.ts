import type { Client } from '@atrium/client/client'
import type { Uri } from '@atrium/protocol/channel'
import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import type { FileEdit, FileEditSide } from '@atrium/protocol/common/content'
import { pathOf } from '@atrium/protocol/file-uri'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import type { Call } from '../render/approval-choices.ts'
import { indented, textLines, titleOf } from '../render/approval.ts'
import type { ApprovalText } from '../render/approval.ts'
import { diffLines } from '../render/diff.ts'
import { resultText } from '../render/narrator.ts'
import { onOneLine, sanitize } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'

/** Returns all that a user must see to decide about a call. What the state only refers to is read from the host. */
export async function approvalText(client: Client, call: Call, style: Style): Promise<ApprovalText> {
  if (call.status === 'pending-result-confirmation') return resultOf(client, call.content ?? [])
  const input = await inputOf(client, call)
  const edits = call.edits?.items ?? []
  const given = input ?? ''
  const shown = await Promise.all(edits.map((edit) => preview(client, edit, style)))
  const lines =
    edits.length === 0
      ? textLines(titleOf(call), given)
      : [...textLines(titleOf(call), ''), ...shown.flatMap((each) => each.lines), ...beside(given, shown)]
  const unread = input === undefined ? ['  Its input cannot be read.'] : []
  const incomplete = input === undefined || shown.some((each) => each.incomplete === true)
  return { lines: [...lines, ...unread], incomplete }
}

/** Returns the input of a call; undefined if it cannot be read. */
async function inputOf(client: Client, { toolInput }: Call): Promise<string | undefined> {
  if (typeof toolInput === 'string' || toolInput === undefined) return toolInput ?? ''
  return readText(client, toolInput.uri).catch(() => undefined)
}

interface Preview extends ApprovalText {
  /** The texts that the lines show. */
  readonly texts: readonly string[]
}

async function preview(client: Client, { before, after }: FileEdit, style: Style): Promise<Preview> {
  const uri = after?.uri ?? before?.uri ?? ''
  const named = pathOf(uri)
  const path = named.ok ? named.path : uri
  try {
    const [old, now] = await Promise.all([contentOf(client, before), contentOf(client, after)])
    const sides = { ...(old !== undefined && { before: old }), ...(now !== undefined && { after: now }) }
    return { lines: diffLines({ path, ...sides }, style), texts: [path, old ?? '', now ?? ''] }
  } catch {
    return { lines: [`  ${sanitize(path)}: the change cannot be shown`], texts: [], incomplete: true }
  }
}

/** The texts of a JSON input that the diffs do not show, for example a command beside an edit. */
function beside(input: string, shown: readonly Preview[]): readonly string[] {
  const texts = shown.flatMap((each) => each.texts)
  return leavesOf(input).flatMap(([key, value]) =>
    texts.some((text) => text.includes(value)) ? [] : indented(sanitize(`${key}: ${value}`)),
  )
}

/** Returns the texts in a JSON object with their keys. An input that is no JSON object is the notation of a diff. */
function leavesOf(input: string): readonly (readonly [key: string, value: string])[] {
  const found: (readonly [string, string])[] = []
  try {
    JSON.parse(input.startsWith('{') ? input : '{}', (key, value: unknown) => {
      if (typeof value === 'string') found.push([key, value])
      return value
    })
  } catch {
    return [['input', input]]
  }
  return found
}

async function resultOf(client: Client, content: readonly ToolResultContent[]): Promise<ApprovalText> {
  const text = resultText(content)
  const parts = await Promise.all(content.map((each) => partOf(client, each)))
  const lines = text === '' ? [] : indented(text)
  return {
    lines: [...lines, ...parts.flatMap((part) => part.lines)],
    incomplete: parts.some((part) => part.incomplete),
  }
}

/** The lines of a part of a result that is no text. What a terminal window cannot show is named. */
async function partOf(client: Client, part: ToolResultContent): Promise<ApprovalText> {
  if (part.type === 'terminal') return { lines: [], incomplete: part.result?.truncated === true }
  if (part.type !== 'resource' && part.type !== 'embeddedResource') return { lines: [] }
  const type = part.contentType ?? ''
  const named = { lines: [`  (${onOneLine(type) || 'data'}: it cannot be shown here)`], incomplete: true }
  if (part.type === 'embeddedResource' || !/^text\/|json/.test(type)) return named
  return readText(client, part.uri).then(
    (text) => ({ lines: indented(sanitize(text)) }),
    () => named,
  )
}

async function contentOf(client: Client, side: FileEditSide | undefined): Promise<string | undefined> {
  return side && readText(client, side.content.uri)
}

async function readText(client: Client, uri: Uri): Promise<string> {
  try {
    const { data, encoding } = await client.ask('resourceRead', { uri, encoding: 'utf-8' })
    return encoding === 'base64' ? Buffer.from(data, 'base64').toString() : data
  } catch (error) {
    // The link broke meanwhile. The text is read again, so that the user sees it before the question.
    if (error instanceof LinkClosed) return readText(client, uri)
    throw error
  }
}
