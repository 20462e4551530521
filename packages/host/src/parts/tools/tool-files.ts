import { changesOf } from '../../catalog/change-tracking.ts'
import type { FileEdit, FileEditSide } from '@atrium/protocol/common/content'
import { callIn } from '@atrium/protocol/chat/calls'
import { compact } from '@atrium/protocol/update'
import { isProtected, isSecret } from '../access/protected-files.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { Edit, ToolFiles } from '../../ports/agent.ts'
import type { Search, SearchResult } from '../../ports/search.ts'
import type { FileEntry } from '../../ports/files.ts'
import { keepBytes, named, unnamed } from '../../channels/content/content.ts'
import { isAgreed } from './approval.ts'
import type { ChatContext, FileAccess } from './approval.ts'
import { diffCounts } from './diff-counts.ts'
import { edited, editedUnlessInvalid, isSame, textOf } from './edit.ts'
import { previewOf } from './previewed.ts'
import type { Previews } from './previewed.ts'
import { searched } from './search.ts'
import {
  etagOf,
  listEntries,
  locate,
  quoted,
  readBytes,
  readBytesIfAny,
  realUri,
  writeBytes,
} from './session-file.ts'
import type { SessionFile } from './session-file.ts'

/** The chat whose tool calls use files. */
interface ToolContext extends ChatContext {
  readonly previews: Previews
  /** Rejects unless the tool call may access files in this way. */
  readonly requireApproval: (toolCallId: string, access?: FileAccess) => Promise<void>
}

/**
 * The files of a session's directories, for the tool calls of a chat. Directories that are only granted to clients are not
 * included.
 */
export function toolFiles(tool: ToolContext): ToolFiles {
  return {
    read: (toolCallId, path) => read(tool, toolCallId, path),
    list: (toolCallId, path) => list(tool, toolCallId, path),
    search: (toolCallId, search) => searchFiles(tool, toolCallId, search),
    propose: (path, edit) => propose(tool, path, edit),
    apply: (toolCallId, path, edit) => apply(tool, toolCallId, path, edit),
    writesOnly: (toolCallId, paths) => writesOnly(tool, toolCallId, paths),
  }
}

async function read(tool: ToolContext, toolCallId: string, path: string): Promise<string> {
  const file = await readable(tool, toolCallId, path)
  return textOf(await readBytes(tool.core, file))
}

async function list(tool: ToolContext, toolCallId: string, path: string): Promise<readonly FileEntry[]> {
  const directory = await readable(tool, toolCallId, path)
  const entries = await listEntries(tool.core, directory)
  return entries.toSorted(({ name: a }, { name: b }) => (a < b ? -1 : 1))
}

async function searchFiles(tool: ToolContext, toolCallId: string, search: Search): Promise<SearchResult> {
  const { place } = await readable(tool, toolCallId, search.path ?? '')
  return searched(tool.core, place, search, () => tool.requireApproval(toolCallId, 'read'))
}

async function propose(tool: ToolContext, path: string, edit: Edit): Promise<FileEdit> {
  const { core, session, chat, previews } = tool
  const file = locate(session, chat, path)
  const real = await realUri(core, file)
  const bytes = await readBytesIfAny(core, file)
  const before = bytes && textOf(bytes)
  const secret = isSecret(file.uri) || isSecret(real)
  const after = secret ? editedUnlessInvalid(before, edit) : edited(before, edit)
  const side = async (content: Uint8Array): Promise<FileEditSide> => ({
    // If the file is a link to a protected file, the user who is asked must see which file would be written.
    uri: isProtected(real) ? real : file.uri,
    content: named(await keepText(tool, content), file.uri),
  })
  const proposed = compact<FileEdit>({
    before: bytes && (await side(bytes)),
    after: await side(new TextEncoder().encode(after)),
    diff: diffCounts(before ?? '', after),
  })
  if ('text' in edit) previews.add(file.uri, proposed)
  return proposed
}

async function apply(tool: ToolContext, toolCallId: string, path: string, edit: Edit): Promise<void> {
  const { core, session, chat } = tool
  await tool.requireApproval(toolCallId)
  const file = locate(session, chat, path)
  await requireConsent(tool, toolCallId, path, file)
  const etag = await etagOf(core, file)
  const before = etag === undefined ? undefined : await readBytes(core, file)
  const bytes = new TextEncoder().encode(edited(before && textOf(before), edit))
  // Some agents write the content that the file already has. Nothing is written then.
  if (before && isSame(before, bytes)) return
  if ('text' in edit) await requireUnchanged(tool, toolCallId, file, before)
  await writeBytes(core, file, bytes, etag)
}

/**
 * Notes which files a call changes: by the paths that the agent uses, and by the same paths with symbolic links resolved.
 * Paths outside of the session's folders are left out, because no capture contains them.
 */
async function writesOnly(
  { core, session, chat }: ToolContext,
  toolCallId: string,
  paths: readonly string[],
): Promise<void> {
  const uris = paths.map(async (path) => {
    try {
      const file = locate(session, chat, path)
      const real = await realUri(core, file).catch(() => file.uri)
      return [file.uri, real]
    } catch {
      return []
    }
  })
  changesOf(core)?.writesOnly(chat.uri, toolCallId, (await Promise.all(uris)).flat())
}

/**
 * Finds a file that a tool call may read. A secret file is refused unless a user or a permission has confirmed the
 * call.
 */
async function readable(tool: ToolContext, toolCallId: string, path: string): Promise<SessionFile> {
  const { core, session, chat } = tool
  await tool.requireApproval(toolCallId, 'read')
  const file = locate(session, chat, path)
  if (isAgreed(chat, toolCallId)) return file
  if (isSecret(file.uri) || isSecret(await realUri(core, file)))
    throw new TurnFailed('permission', `${quoted(path)} may hold secrets, and is read only if a user agrees`)
  return file
}

/**
 * Throws if a protected file would be written although no user has confirmed the call: a permission is not enough. A link to a
 * protected file is protected, too (S-35).
 */
async function requireConsent(
  { core, chat }: ToolContext,
  toolCallId: string,
  path: string,
  file: SessionFile,
): Promise<void> {
  const call = callIn(chat.committedState, toolCallId)
  if (call?.status === 'running' && call.confirmed === 'user-action') return
  if (isProtected(file.uri) || isProtected(await realUri(core, file)))
    throw new TurnFailed('permission', `${quoted(path)} is protected, and is written only if a user agrees`)
}

/** Throws if a file has changed since the user saw a preview of its new content. */
async function requireUnchanged(
  tool: ToolContext,
  toolCallId: string,
  { uri }: SessionFile,
  before: Uint8Array | undefined,
): Promise<void> {
  const previewed = previewOf(tool.chat.committedState, toolCallId, uri)
  if (previewed === undefined) return
  const current = before ? (await keepText(tool, before)).uri : null
  // Contents are compared without the file names in their URIs, because an earlier build of the host recorded
  // previewed content without a name.
  if ((previewed === null ? null : unnamed(previewed)) !== current)
    throw new TurnFailed('files', 'the file has changed since its edit was previewed: read it again')
}

function keepText({ core, session }: ToolContext, bytes: Uint8Array) {
  return keepBytes(core, session.uri, bytes, 'text/plain; charset=utf-8')
}
