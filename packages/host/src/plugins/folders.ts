import type { Uri } from '@atrium/protocol/channel'
import { limits as allLimits } from '@atrium/protocol/limits'
import { loadJsonAt, loadMarkdown, markdownIn } from './components.ts'
import { endings } from './markdown.ts'
import { joined, readOnce } from './plugin-files.ts'
import type { PluginFiles } from './plugin-files.ts'
import type { ComponentKind, LoadedParts, PluginLimits } from './plugin.ts'
import { Reading } from './reading.ts'

/** A folder outside of any plugin, in which users keep components of one kind. */
export interface CustomizationFolder {
  readonly path: string
  readonly contents: ComponentKind
  /** The names of the files to read, if the folder also has files that are no components. */
  readonly files?: readonly string[]
  /** The endings of the files to read, if they are not the usual ones of the kind. */
  readonly endings?: readonly string[]
}

export interface LoadedFolder extends LoadedParts {
  readonly path: string
  readonly uri: Uri
  readonly contents: ComponentKind
}

const agents: readonly CustomizationFolder[] = [
  { path: '.agents/skills', contents: 'skill' },
  { path: '.agents/agents', contents: 'agent' },
  { path: '.agents/commands', contents: 'prompt' },
  { path: '.agents/rules', contents: 'rule' },
  { path: '.agents/hooks', contents: 'hook' },
]
const claude: readonly CustomizationFolder[] = [
  { path: '.claude/skills', contents: 'skill' },
  { path: '.claude/agents', contents: 'agent' },
  { path: '.claude/commands', contents: 'prompt' },
  { path: '.claude/rules', contents: 'rule', endings: [...endings.rule, '.md'] },
  { path: '.claude', contents: 'hook', files: ['settings.json', 'settings.local.json'] },
]
const github: readonly CustomizationFolder[] = [
  { path: '.github/skills', contents: 'skill' },
  { path: '.github/agents', contents: 'agent' },
  { path: '.github/prompts', contents: 'prompt', endings: ['.prompt.md'] },
  { path: '.github/instructions', contents: 'rule', endings: ['.instructions.md'] },
  { path: '.github/hooks', contents: 'hook' },
]

/** The folders of a workspace, and those in the home of the user. */
export const customizationFolders: { readonly [S in 'workspace' | 'home']: readonly CustomizationFolder[] } =
  {
    workspace: [...agents, ...claude, ...github, { path: '', contents: 'mcpServer', files: ['.mcp.json'] }],
    home: [...agents, ...claude, { path: '.agents', contents: 'mcpServer', files: ['.mcp.json'] }],
  }

/** Where plugins are installed, in a workspace and in the home of the user. */
const pluginsFolder = '.agents/plugins'

/** Loads the folders that exist. Each has a result of its own. */
export async function loadFolders(
  files: PluginFiles,
  folders: readonly CustomizationFolder[],
  limits: PluginLimits = allLimits,
): Promise<readonly LoadedFolder[]> {
  // The folders have directories in common, which are listed once.
  const once = readOnce(files)
  const loaded = await Promise.all(folders.map((folder) => loadFolder(new Reading(once, limits), folder)))
  return loaded.flatMap((folder) => folder ?? [])
}

/** The paths of the plugins that are installed in a workspace or in the home of the user. */
export async function installedPlugins(
  files: PluginFiles,
  limits: PluginLimits = allLimits,
): Promise<readonly string[]> {
  const reading = new Reading(files, limits)
  if ((await reading.typeOf(pluginsFolder).catch(() => undefined)) === undefined) return []
  const entries = await reading.list(pluginsFolder).catch(() => [])
  // The folder `data` is not a plugin: it contains the data of the plugins beside it.
  return entries
    .filter(({ name, type }) => type === 'directory' && name !== 'data')
    .map(({ name }) => `${pluginsFolder}/${name}`)
}

/**
 * Loads a folder. Returns undefined if the folder does not exist. If the folder exists and cannot be read, the result has an
 * error.
 */
async function loadFolder(reading: Reading, folder: CustomizationFolder): Promise<LoadedFolder | undefined> {
  const { path, contents, files } = folder
  let exists = false
  for (const place of files?.map((name) => joined(path, name)) ?? [path])
    await reading.attempt(place, async () => {
      if ((await reading.typeOf(place)) === undefined) return
      exists = true
      if (contents === 'hook' || contents === 'mcpServer') await loadJsonAt(reading, contents, place, false)
      else await loadMarkdown(reading, contents, await markdownIn(reading, contents, place, folder.endings))
    })
  const result = reading.result({ kind: 'loaded' })
  if (!exists && result.problems.length === 0) return undefined
  return { ...result, path, uri: reading.files.uri(path), contents }
}
