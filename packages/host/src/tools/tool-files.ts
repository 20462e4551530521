import type { Uri } from '@atrium/protocol/channel'
import type { FileEdit, FileEditSide } from '@atrium/protocol/common/content'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { fileUri, pathOf } from '@atrium/protocol/file-uri'
import { compact } from '@atrium/protocol/update'
import { callIn } from '@atrium/protocol/chat/calls'
import { folderOf, isAgreed } from './approval.ts'
import type { FileAccess } from './approval.ts'
import type { Channel } from '../log/channel.ts'
import { keepBytes } from '../resources/content.ts'
import type { Core } from '../core/core.ts'
import { diffCounts } from './diff-counts.ts'
import { TurnFailed } from '../ports/agent.ts'
import type { Edit, ToolFiles } from '../ports/agent.ts'
import type { FileStat, ContainedPath } from '../ports/files.ts'
import { isProtected, isSecret } from '../access/protected-files.ts'
import { attempt } from '../resources/resources.ts'
import { isIn } from '../access/roots.ts'
import { searched } from './search.ts'
import { previewOf } from './previewed.ts'
import type { Previews } from './previewed.ts'

/** Files for the tool calls of a chat: those of its session's directories, and no others, whatever clients may use. */
export function toolFiles(
  core: Core,
  session: Channel<'session'>,
  chat: Channel<'chat'>,
  shown: Previews,
  approved: (toolCallId: string, deed?: FileAccess) => Promise<void>,
): ToolFiles {
  const seen = async (toolCallId: string, path: string) => {
    await approved(toolCallId, 'look')
    const found = locate(session, chat, path)
    if (isAgreed(chat, toolCallId)) return found
    if (isSecret(found.uri) || isSecret(await reallyAt(core, found.uri, found.place)))
      throw new TurnFailed('permission', `${quoted(path)} is only looked into when somebody agrees to it`)
    return found
  }
  const kept = (bytes: Uint8Array) => keepBytes(core, session.uri, bytes, 'text/plain; charset=utf-8')
  return {
    async read(toolCallId, path) {
      const { uri, place } = await seen(toolCallId, path)
      return textOf(await bytesOf(core, uri, place))
    },
    async list(toolCallId, path) {
      const { uri, place } = await seen(toolCallId, path)
      const entries = await inWords(() =>
        attempt(core, uri, 'read', (files) => files.list(place, core.limits.entries)),
      )
      return entries.toSorted(({ name: a }, { name: b }) => (a < b ? -1 : 1))
    },
    async search(toolCallId, search) {
      const { place } = await seen(toolCallId, search.path ?? '')
      return searched(core, place, search, () => approved(toolCallId, 'look'))
    },
    async propose(path, edit) {
      const { uri, place } = locate(session, chat, path)
      const real = await reallyAt(core, uri, place)
      const before = (await bytesIfAny(core, uri, place)) ?? undefined
      const secret = isSecret(uri) || isSecret(real)
      const after = secret ? unheard(before && textOf(before), edit) : edited(before && textOf(before), edit)
      const side = async (bytes: Uint8Array): Promise<FileEditSide> => ({
        // Who is asked sees what would really be written, where that matters.
        uri: isProtected(real) ? real : uri,
        content: await kept(bytes),
      })
      const proposed = compact<FileEdit>({
        before: before && (await side(before)),
        after: await side(new TextEncoder().encode(after)),
        diff: diffCounts(before ? textOf(before) : '', after),
      })
      if ('text' in edit) shown.add(uri, proposed)
      return proposed
    },
    async apply(toolCallId, path, edit) {
      await approved(toolCallId)
      const { uri, place } = locate(session, chat, path)
      const call = callIn(chat.committedState, toolCallId)
      const agreed = call?.status === 'running' && call.confirmed === 'user-action'
      // A permission that was given before covers no such file, by any of its names (S-35).
      if (!agreed && (isProtected(uri) || isProtected(await reallyAt(core, uri, place))))
        throw new TurnFailed('permission', `${quoted(path)} is only written when somebody agrees to it`)
      await inWords(async () => {
        const ifMatch = await etagOf(core, uri, place)
        const before = ifMatch === undefined ? undefined : await bytesOf(core, uri, place)
        const bytes = new TextEncoder().encode(edited(before && textOf(before), edit))
        // Some agents write the same again.
        if (before && isSame(before, bytes)) return
        const held = 'text' in edit ? previewOf(chat.committedState, toolCallId, uri) : undefined
        if (held !== undefined && held !== ((before && (await kept(before)).uri) ?? null))
          throw new TurnFailed(
            'files',
            'the file has changed since people were shown what would become of it: look at it again',
          )
        // What somebody else has changed meanwhile is not written over.
        const how = ifMatch === undefined ? { createOnly: true } : { ifMatch }
        if (ifMatch === undefined) await madeFor(core, uri, place)
        await attempt(core, uri, 'write', (files) => files.write(place, bytes, how))
      })
    },
  }
}

function locate(
  session: Channel<'session'>,
  chat: Channel<'chat'>,
  path: string,
): { readonly uri: Uri; readonly place: ContainedPath } {
  const { workingDirectories = [] } = session.head
  const roots = workingDirectories.flatMap((directory) => pathIn(directory) ?? [])
  const base = pathIn(folderOf(session, chat) ?? '')
  if (base === undefined) throw new TurnFailed('files', 'this session works in no folder')
  const below = path === '' || path === '.' ? base : `${base}/${path}`
  const uri = fileUri(path.startsWith('/') ? path : below)
  const named = pathIn(uri)
  if (named === undefined) throw new TurnFailed('files', `${quoted(path)} is no path`)
  if (!roots.some((root) => isIn(named, root)))
    throw new TurnFailed('files', `${quoted(path)} is in no folder of this session`)
  return { uri, place: { path: named, roots } }
}

function pathIn(uri: Uri): string | undefined {
  const named = pathOf(uri)
  return named.ok ? named.path : undefined
}

function edited(before: string | undefined, edit: Edit): string {
  if ('text' in edit) return edit.text
  const at = before?.indexOf(edit.find) ?? -1
  if (before === undefined || at < 0 || edit.find === '')
    throw new TurnFailed('files', 'the file does not have that text')
  if (before.indexOf(edit.find, at + 1) >= 0)
    throw new TurnFailed('files', 'the file has that text more than once')
  return before.slice(0, at) + edit.put + before.slice(at + edit.find.length)
}

/** The same; what is wrong with it an agent learns when somebody has agreed, and not before: it could guess at what is there. */
function unheard(before: string | undefined, edit: Edit): string {
  try {
    return edited(before, edit)
  } catch {
    return before ?? ''
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}

function bytesOf(core: Core, uri: Uri, place: ContainedPath): Promise<Uint8Array> {
  return inWords(() => attempt(core, uri, 'read', (files) => files.read(place, core.limits.readBytes)))
}

async function bytesIfAny(core: Core, uri: Uri, place: ContainedPath): Promise<Uint8Array | undefined> {
  return (await etagOf(core, uri, place)) === undefined ? undefined : bytesOf(core, uri, place)
}

/** Nothing where there is no file. */
async function etagOf(core: Core, uri: Uri, place: ContainedPath): Promise<string | undefined> {
  return (await factsOf(core, uri, place))?.etag
}

function factsOf(core: Core, uri: Uri, place: ContainedPath): Promise<FileStat | undefined> {
  return inWords(() =>
    attempt(core, uri, 'read', (files) => files.stat(place, true)).catch((error: unknown) => {
      if (error instanceof AhpError && error.code === errorCodes.NotFound) return undefined
      throw error
    }),
  )
}

/** The directories that a new file is to be in. */
async function madeFor(core: Core, uri: Uri, { path, roots }: ContainedPath): Promise<void> {
  const place = { path: path.slice(0, path.lastIndexOf('/')), roots }
  if (roots.includes(place.path) || (await factsOf(core, uri, place))) return
  await attempt(core, uri, 'write', (files) => files.change({ kind: 'make', place }))
}

/** Where something is, or would be, behind all links: as much of its path as there is, and the rest as it is called. */
async function reallyAt(core: Core, uri: Uri, { path, roots }: ContainedPath): Promise<Uri> {
  for (let at = path; roots.some((root) => isIn(at, root)); at = at.slice(0, at.lastIndexOf('/'))) {
    const facts = await factsOf(core, uri, { path: at, roots })
    if (facts) return fileUri(facts.path + path.slice(at.length))
  }
  return uri
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new TurnFailed('files', 'the file is no text')
  }
}

/** What a tool is told, and its agent may tell people. */
async function inWords<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (error) {
    throw error instanceof AhpError ? new TurnFailed('files', error.message) : error
  }
}

function quoted(path: string): string {
  return JSON.stringify(path.slice(0, 200))
}
