import { limits as allLimits } from '@atrium/protocol/limits'
import { compact } from '@atrium/protocol/update'
import { loadJson, loadJsonAt, loadMarkdown, markdownIn } from './components.ts'
import type { Candidate } from './components.ts'
import { agentPlugins, formats, isClaudeFolder } from './formats.ts'
import type { Format, PlaceKind } from './formats.ts'
import type { JsonText } from './parse/json-text.ts'
import { noManifest, placeKinds, readManifest } from './manifest.ts'
import type { Manifest } from './manifest.ts'
import type { MarkdownKind } from './markdown.ts'
import { joined } from './plugin-files.ts'
import type { PluginFiles } from './plugin-files.ts'
import { folderName, pluginPath } from './parse/plugin-path.ts'
import { oneLine, printable, Unusable } from './parse/plugin-text.ts'
import type { LoadedPlugin, PluginLimits } from './plugin.ts'
import { Reading } from './reading.ts'

/**
 * Reads a plugin. Never rejects: the result lists what cannot be read. The load runs nothing of the plugin, and reads nothing
 * outside its files.
 */
export async function loadPlugin(
  files: PluginFiles,
  limits: PluginLimits = allLimits,
): Promise<LoadedPlugin> {
  const reading = new Reading(files, limits)
  let plugin: PluginStart = { format: formats.copilot, manifest: noManifest }
  await reading.attempt('', async () => {
    await reading.list('')
    plugin = await startOf(reading)
    if (plugin.rejected !== true) for (const field of placeKinds) await loadKind(reading, field, plugin)
  })
  const { format, manifest } = plugin
  const { version, description } = manifest
  const result = reading.result({
    kind: plugin.json ? 'degraded' : 'error',
    message: 'It has no skills, agents, commands, rules, hooks or MCP servers.',
  })
  return compact<LoadedPlugin>({
    ...result,
    format: format.name,
    name: manifest.name ?? (oneLine(folderName(files.uri('')), limits.componentName) || 'plugin'),
    version: version === undefined ? undefined : oneLine(version, limits.componentName),
    description: description === undefined ? undefined : oneLine(description, limits.descriptionLength),
  })
}

/** What is known of a plugin before its components are read. */
interface PluginStart {
  readonly format: Format
  readonly manifest: Manifest
  readonly manifestPath?: string
  readonly json?: JsonText
  /** Whether the manifest breaks a rule of its strict format. If it does, no component is read. */
  readonly rejected?: boolean
}

async function startOf(reading: Reading): Promise<PluginStart> {
  const format = await formatOf(reading)
  const path = await firstThatExists(reading, format.manifests)
  if (path === undefined) return { format, manifest: noManifest }
  try {
    const json = await reading.json(path, !format.strict)
    const manifest = readManifest(json, format)
    for (const problem of manifest.problems) reading.problem(path, problem)
    return { format, manifest, manifestPath: path, json }
  } catch (error) {
    reading.fail(path, error)
    return { format, manifest: noManifest, rejected: format.strict }
  }
}

/** Finds the format of a plugin by its manifest and its folder. The first format that matches counts. */
async function formatOf(reading: Reading): Promise<Format> {
  const [manifest = ''] = formats.agent.manifests
  if ((await reading.typeOf(manifest)) !== undefined && (await namesAgentPlugins(reading, manifest)))
    return formats.agent
  if ((await firstThatExists(reading, formats.open.manifests)) !== undefined) return formats.open
  const isClaude = (await firstThatExists(reading, formats.claude.manifests)) !== undefined
  return isClaude || isClaudeFolder(reading.files.uri('')) ? formats.claude : formats.copilot
}

async function namesAgentPlugins(reading: Reading, path: string): Promise<boolean> {
  try {
    const { $schema } = (await reading.json(path, true)).value
    return typeof $schema === 'string' && $schema.startsWith(agentPlugins)
  } catch {
    // A manifest that cannot be read is not of this format. It is read again as one of another format; that reports the problem.
    return false
  }
}

async function firstThatExists(reading: Reading, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if ((await reading.typeOf(path)) !== undefined) return path
  return undefined
}

/** The kinds of components by their fields in a manifest, in the order in which they are loaded. */
const kinds = {
  skills: 'skill',
  agents: 'agent',
  commands: 'prompt',
  rules: 'rule',
  hooks: 'hook',
  mcpServers: 'mcpServer',
} as const

async function loadKind(reading: Reading, field: PlaceKind, plugin: PluginStart): Promise<void> {
  const { format, manifest, manifestPath = '', json } = plugin
  const kind = kinds[field]
  const isJson = kind === 'hook' || kind === 'mcpServer'
  for (const { path, declared } of await placesOf(reading, field, plugin))
    await reading.attempt(path, async () => {
      if (isJson) await loadJsonAt(reading, kind, path, format.strict)
      else await loadMarkdown(reading, kind, await candidates(reading, kind, path, declared))
    })
  const keys = manifest.places[field]?.inline
  if (isJson && keys && json)
    await reading.attempt(manifestPath, () =>
      loadJson(reading, kind, { path: manifestPath, json, keys, strict: false }),
    )
  if (
    kind === 'skill' &&
    format.rootSkill &&
    !reading.has('skill') &&
    (await reading.typeOf(skillFile)) !== undefined
  )
    await loadMarkdown(reading, 'skill', [{ path: skillFile, quiet: [] }])
}

const skillFile = 'SKILL.md'

interface Place {
  readonly path: string
  /** Whether the manifest names the place. Such a place must exist. */
  readonly declared: boolean
}

/**
 * The existing places for components of one kind. Places that the manifest declares come after the usual ones, or replace them.
 */
async function placesOf(reading: Reading, kind: PlaceKind, plugin: PluginStart): Promise<readonly Place[]> {
  const { format, manifest, manifestPath = '' } = plugin
  const { paths = [], exclusive = false } = manifest.places[kind] ?? {}
  const places = new Map<string, Place>()
  const usual = exclusive ? undefined : await firstThatExists(reading, format.places[kind])
  if (usual !== undefined) places.set(usual, { path: usual, declared: false })
  for (const written of paths)
    await reading.attempt(manifestPath, async () => {
      if (places.size >= reading.limits.pluginComponents)
        throw new Unusable(`The field ${kind} has too many paths.`)
      const path = pluginPath(written)
      if ((await reading.typeOf(path)) === undefined)
        throw new Unusable(`The field ${kind} names ${printable(written)}, which does not exist.`)
      if (!places.has(path)) places.set(path, { path, declared: true })
    })
  return [...places.values()]
}

/**
 * Returns the candidates for components at a path. If the manifest declares the path, it may be a single component: a
 * file, or the directory of one skill. Otherwise the path is a directory of components.
 */
async function candidates(
  reading: Reading,
  kind: MarkdownKind,
  path: string,
  declared: boolean,
): Promise<readonly Candidate[]> {
  if (declared && (await reading.typeOf(path)) === 'file') return [{ path, quiet: [] }]
  const skill = joined(path, skillFile)
  if (declared && kind === 'skill' && (await reading.typeOf(skill)) !== undefined)
    return [{ path: skill, quiet: [] }]
  return markdownIn(reading, kind, path)
}
