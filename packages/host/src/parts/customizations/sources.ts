import { filesOf } from '../../catalog/machine.ts'
import type { Uri } from '@atrium/protocol/channel'
import { fileUri, pathOf } from '@atrium/protocol/file-uri'
import type { SessionState } from '@atrium/protocol/session/state'
import { AhpError } from '@atrium/protocol/errors'
import { rootUri } from '@atrium/protocol/uri'
import type { Core } from '../../kernel/core.ts'
import { clientPluginFiles } from '../../plugins/client-plugin-files.ts'
import { customizationFolders, installedPlugins } from '../../plugins/folders.ts'
import type { CustomizationFolder } from '../../plugins/folders.ts'
import { containedFiles, filesIn } from '../../plugins/plugin-files.ts'
import type { PluginFiles } from '../../plugins/plugin-files.ts'
import { askLink } from '../resources/client-files.ts'
import { pluginsIn } from './plugins-setting.ts'
import type { Source } from './source.ts'
import { workspacePlugins } from './workspace-file.ts'

/** The parts of a session on which its sources depend. The session need not exist yet. */
interface Place extends Partial<Pick<SessionState, 'workingDirectories' | 'activeClients'>> {
  /** Whom the session belongs to. */
  readonly principal?: string
}

/** The sources of a session's customizations: those of the host, then those of its folder, then those of its clients. */
export async function sourcesOf(
  core: Core,
  state: Place,
  home: string | undefined,
): Promise<readonly Source[]> {
  const [host, workspace] = await Promise.all([hostSources(core, home), workspaceSources(core, state, home)])
  return distinct([...host, ...workspace, ...clientSources(core, state)])
}

/** The sources that every session has: the plugins in the settings of the host, and those in the home of its user. */
export async function hostSources(core: Core, home: string | undefined): Promise<readonly Source[]> {
  const files = filesOf(core)
  if (!files) return []
  const values = core.log.channel(rootUri, 'root')?.head.config?.values
  const configured = pluginsIn(values).map((path) =>
    pluginAt('host', containedFiles(files, path), fileUri(path)),
  )
  if (home === undefined) return configured
  return [
    ...configured,
    ...(await sourcesBelow('host', containedFiles(files, home), customizationFolders.home)),
  ]
}

async function workspaceSources(
  core: Core,
  { workingDirectories }: Place,
  home: string | undefined,
): Promise<readonly Source[]> {
  const files = filesOf(core)
  const named = pathOf(workingDirectories?.[0] ?? '')
  // The home of the user is a source of every session already.
  if (!files || !named.ok || named.path === home) return []
  const root = containedFiles(files, named.path)
  const listed = (await workspacePlugins(root)).map((path) => inFolder('workspace', root, path))
  return [...listed, ...(await sourcesBelow('workspace', root, customizationFolders.workspace))]
}

/** The plugins and the folders of customizations at their usual places below a folder. */
async function sourcesBelow(
  origin: Source['origin'],
  root: PluginFiles,
  folders: readonly CustomizationFolder[],
): Promise<readonly Source[]> {
  const plugins = (await installedPlugins(root)).map((path) => inFolder(origin, root, path))
  return [...plugins, ...folders.map((folder) => folderSource(origin, root, folder))]
}

function folderSource(origin: Source['origin'], files: PluginFiles, folder: CustomizationFolder): Source {
  const { path, contents, files: names = [] } = folder
  const uri = files.uri(path)
  // Two sources may have the same folder and differ in the files that they read there. So the id contains the name of
  // a file.
  const id = names.length > 0 ? files.uri([path, names[0]].filter(Boolean).join('/')) : uri
  return { id, uri, name: path === '' ? (names[0] ?? contents) : path, origin, folder, files }
}

function inFolder(origin: Source['origin'], root: PluginFiles, path: string): Source {
  return pluginAt(origin, filesIn(root, path), root.uri(path))
}

function pluginAt(origin: Source['origin'], files: PluginFiles, uri: Uri): Source {
  return { id: uri, uri, name: decodeURIComponent(uri.split('/').at(-1) ?? uri), origin, files }
}

/** The plugins that the active clients of a session have published. Each is read through its client. */
function clientSources(core: Core, { activeClients = [], principal }: Place): readonly Source[] {
  return activeClients.flatMap(({ clientId, customizations = [] }) =>
    customizations.map((plugin): Source => {
      const files = clientPluginFiles(async (method, params) => {
        const link = core.clients.links.get(clientId)
        // Somebody else could connect under this client id while the client is away.
        if (!link || link.principal !== principal) throw AhpError.notFound('the client is not connected')
        return askLink(core, link, method, params)
      }, plugin.uri)
      const published = { clientId, plugin }
      return { id: plugin.id, uri: plugin.uri, name: plugin.name, origin: 'client', published, files }
    }),
  )
}

/**
 * Gives each source an id of its own. Clients choose the ids of their plugins, so two of them may choose the same.
 */
function distinct(sources: readonly Source[]): readonly Source[] {
  const taken = new Set<string>()
  return sources.flatMap((source) => {
    const id =
      taken.has(source.id) && source.published ? `${source.published.clientId} ${source.id}` : source.id
    if (taken.has(id)) return []
    taken.add(id)
    return [{ ...source, id }]
  })
}
