import { limits } from '@atrium/protocol/limits'
import { JsonText } from '../../plugins/parse/json-text.ts'
import { pluginPath } from '../../plugins/parse/plugin-path.ts'
import type { PluginFiles } from '../../plugins/plugin-files.ts'

/** The files in which a workspace names its plugins: `{"plugins": ["./tools/my-plugin"]}`. */
const fileNames = ['.vscode/agent-host.json', '.agents/atrium.json']

/**
 * The paths of the plugins that a workspace names. A file that cannot be read is skipped, and so is a path that leaves the
 * workspace.
 */
export async function workspacePlugins(root: PluginFiles): Promise<readonly string[]> {
  const lists = await Promise.all(fileNames.map((name) => pluginsOf(root, name)))
  return [...new Set(lists.flat())]
}

async function pluginsOf(root: PluginFiles, name: string): Promise<readonly string[]> {
  try {
    const bytes = await root.read(name, limits.pluginFileBytes)
    const { plugins } = new JsonText(new TextDecoder().decode(bytes), true, limits).value
    return Array.isArray(plugins) ? plugins.flatMap(pathIn) : []
  } catch {
    return []
  }
}

function pathIn(written: unknown): readonly string[] {
  try {
    return typeof written === 'string' ? [pluginPath(written)] : []
  } catch {
    return []
  }
}
