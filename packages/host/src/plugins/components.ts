import type { HookCustomization, McpServerCustomization } from '@atrium/protocol/session/customization'
import { isJsonObject } from '@atrium/protocol/json'
import { compact } from '@atrium/protocol/update'
import { FileError } from '../ports/files.ts'
import type { FileReason } from '../ports/files.ts'
import { readHooks } from './hooks.ts'
import type { JsonText, Member } from './parse/json-text.ts'
import { endings, nameByPath, readMarkdown } from './markdown.ts'
import type { MarkdownKind } from './markdown.ts'
import { batches, joined } from './plugin-files.ts'
import { folderName, lastName } from './parse/plugin-path.ts'
import { checkedName, printable, Unusable } from './parse/plugin-text.ts'
import type { Reading } from './reading.ts'
import { checkStrictFile, lenientServer, strictServer } from './servers.ts'

/** The path of a file that is a component if the file exists and can be read. */
export interface Candidate {
  readonly path: string
  /**
   * The reasons for which the file may be unreadable without being a problem: there is just no component. If the file cannot
   * be read for another reason, this is reported as a problem of the plugin.
   */
  readonly quiet: readonly FileReason[]
}

/**
 * The Markdown components in a directory. Only the immediate children of the directory count. A skill is a directory with a
 * file `SKILL.md`.
 */
export async function markdownIn(
  reading: Reading,
  kind: MarkdownKind,
  folder: string,
  fileEndings = endings[kind],
): Promise<readonly Candidate[]> {
  const entries = await reading.list(folder)
  if (kind === 'skill')
    return entries.map(({ name, type }) => ({
      path: joined(folder, `${name}/SKILL.md`),
      // A file beside the folders of skills is no skill, and is ignored. But a link that leads out of the plugin is
      // also listed as a file: its error, `outside`, is reported.
      quiet: type === 'directory' ? ['missing'] : ['missing', 'unfit', 'refused'],
    }))
  return entries
    .filter(({ name, type }) => type === 'file' && fileEndings.some((ending) => name.endsWith(ending)))
    .map(({ name }) => ({ path: joined(folder, name), quiet: [] }))
}

/** Reads several Markdown components at a time, and adds them in their order. */
export async function loadMarkdown(
  reading: Reading,
  kind: MarkdownKind,
  candidates: readonly Candidate[],
): Promise<void> {
  for (const next of batches(candidates)) {
    const read = await Promise.all(
      next.filter(() => reading.take()).map((each) => readCandidate(reading, each)),
    )
    for (const { path, bytes, quiet } of read)
      await reading.attempt(path, () => {
        if (bytes instanceof Uint8Array) addMarkdown(reading, kind, path, reading.count(bytes))
        else if (!(bytes.error instanceof FileError && quiet.includes(bytes.error.reason))) throw bytes.error
      })
    if (read.length < next.length) return
  }
}

async function readCandidate(reading: Reading, candidate: Candidate) {
  const bytes = await reading.bytes(candidate.path).catch((error: unknown) => ({ error }))
  return { ...candidate, bytes }
}

function addMarkdown(reading: Reading, kind: MarkdownKind, path: string, text: string): void {
  const byPath = nameByPath(kind, path)
  const fallbackName = byPath === '' ? folderName(reading.files.uri('')) : byPath
  const source = { path, uri: reading.files.uri(path), text, fallbackName }
  reading.add(readMarkdown(kind, source, reading.limits))
}

/** The kinds of components that stand in a JSON file. */
export type JsonKind = 'hook' | 'mcpServer'

/** The place of components in a JSON file: the keys that lead to them. */
export interface JsonPlace {
  readonly path: string
  readonly json: JsonText
  readonly keys: readonly string[]
  readonly strict: boolean
}

/** Loads the components of a JSON file. For hooks, the path may also be a directory of JSON files. */
export async function loadJsonAt(
  reading: Reading,
  kind: JsonKind,
  path: string,
  strict: boolean,
): Promise<void> {
  const isFolder = kind === 'hook' && (await reading.typeOf(path)) === 'directory'
  const files = isFolder
    ? (await reading.list(path)).filter(({ name, type }) => type === 'file' && name.endsWith('.json'))
    : []
  for (const file of isFolder ? files.map(({ name }) => joined(path, name)) : [path]) {
    if (kind === 'hook' && !reading.take()) return
    await reading.attempt(file, async () => {
      loadJson(reading, kind, { path: file, json: await reading.json(file, !strict), keys: [], strict })
    })
  }
}

export function loadJson(reading: Reading, kind: JsonKind, place: JsonPlace): void {
  if (kind === 'hook') loadHooks(reading, place)
  else loadServers(reading, place)
}

/** Loads the hooks of a file as one component. A file without hooks adds no component. */
function loadHooks(reading: Reading, { path, json, keys }: JsonPlace): void {
  const part =
    keys.length === 0 ? undefined : json.members(...keys.slice(0, -1)).find(({ key }) => key === keys.at(-1))
  const value = part ? part.value : json.value
  if (!isJsonObject(value)) throw new Unusable('Its hooks are not an object.')
  const { hooks, problems } = readHooks(value, reading.limits)
  for (const problem of problems) reading.problem(path, problem)
  if (hooks.length === 0) return
  const uri = reading.files.uri(path)
  const name = keys.length === 0 ? lastName(path).replace(/\.json$/, '') : 'hooks'
  const child = compact<HookCustomization>({
    type: 'hook',
    id: uri,
    uri,
    name: checkedName(name, reading.limits.componentName),
    range: part?.range,
  })
  reading.add({ kind: 'hook', child, path, hooks })
}

/** Loads the MCP servers of a file, each as a component. */
function loadServers(reading: Reading, place: JsonPlace): void {
  if (place.strict) checkStrictFile(place.json.value)
  for (const member of serversIn(place)) {
    if (!reading.take()) return
    try {
      addServer(reading, place, member)
    } catch (error) {
      if (!(error instanceof Unusable)) throw error
      reading.problem(place.path, `The server ${printable(member.key)}: ${error.message}`)
    }
  }
}

function serversIn({ json, keys, strict }: JsonPlace): readonly Member[] {
  if (keys.length > 0) return json.members(...keys)
  if (isJsonObject(json.value['mcpServers'])) return json.members('mcpServers')
  const members = json.members().filter(({ key }) => key !== '$schema')
  if (strict || json.value['mcpServers'] !== undefined || !members.every(({ value }) => isJsonObject(value)))
    throw new Unusable('It has no object mcpServers.')
  return members
}

function addServer(reading: Reading, { path, strict }: JsonPlace, { key, value, range }: Member): void {
  const name = checkedName(key, reading.limits.componentName)
  const server = strict ? strictServer(value) : lenientServer(value)
  const uri = reading.files.uri(path)
  const child: McpServerCustomization = {
    type: 'mcpServer',
    id: `${uri}#mcp=${encodeURIComponent(name)}`,
    uri,
    name,
    range,
    state: { kind: 'stopped' },
  }
  reading.add({ kind: 'mcpServer', child, path, server })
}
