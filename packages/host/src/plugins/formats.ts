/**
 * The formats that plugins are written in: `agent` is Agent Plugins 1.0.0, `open` is Open Plugins 1.0.0, `claude` and `copilot`
 * are the conventions of those two programs.
 */
export type FormatName = 'agent' | 'open' | 'claude' | 'copilot'

/** A kind of component, by the name of its field in a manifest. */
export type PlaceKind = 'skills' | 'agents' | 'commands' | 'rules' | 'hooks' | 'mcpServers'

/**
 * A variable in a command. `PLUGIN_ROOT` and `CLAUDE_PLUGIN_ROOT` stand for the directory of the plugin,
 * `PLUGIN_DATA` for the directory of the plugin's data.
 */
export type Variable = 'PLUGIN_ROOT' | 'CLAUDE_PLUGIN_ROOT' | 'PLUGIN_DATA'

/** The properties of a format. One loader reads the plugins of all formats, and uses these properties. */
export interface Format {
  readonly name: FormatName
  /** The places of the manifest. The first one that exists counts. */
  readonly manifests: readonly string[]
  /**
   * Whether the format is strict. A strict format has a closed set of fields, plain JSON and fixed places, and the
   * manifest must exist.
   */
  readonly strict: boolean
  /** Where components are, unless the manifest says otherwise. */
  readonly places: { readonly [K in PlaceKind]: readonly string[] }
  /** Whether a `SKILL.md` in the root of the plugin is a skill. It is one only if the plugin has no other skills. */
  readonly rootSkill: boolean
  /** The variables in the configuration of an MCP server, and the fields that may contain them. */
  readonly server: {
    readonly variables: readonly Variable[]
    readonly fields: readonly ('command' | 'args' | 'env' | 'cwd')[]
  }
  /** The variables in the command of a hook. */
  readonly hookVariables: readonly Variable[]
}

/** The beginning of the `$schema` of a manifest in the format Agent Plugins. It is compared, and never fetched. */
export const agentPlugins = 'https://agent-plugins.org/schemas/'
export const agentPluginsVersion = '1.0.0'

const usual = {
  skills: ['skills'],
  agents: ['agents'],
  commands: ['commands'],
  rules: ['rules'],
  hooks: ['hooks/hooks.json'],
  mcpServers: ['.mcp.json'],
}
const bothRoots = ['PLUGIN_ROOT', 'CLAUDE_PLUGIN_ROOT'] as const
const everyField = ['command', 'args', 'env', 'cwd'] as const

export const formats: { readonly [N in FormatName]: Format } = {
  agent: {
    name: 'agent',
    manifests: ['plugin.json'],
    strict: true,
    places: {
      skills: ['skills'],
      agents: [],
      commands: [],
      rules: [],
      // The format itself defines no hooks. Extensions of the format have a folder each, and the extension of GitHub
      // Copilot defines hooks.
      hooks: ['com.github.copilot/hooks/hooks.json'],
      mcpServers: ['mcp.json'],
    },
    rootSkill: false,
    server: { variables: ['PLUGIN_ROOT', 'PLUGIN_DATA'], fields: ['args', 'env', 'cwd'] },
    hookVariables: ['PLUGIN_ROOT', 'PLUGIN_DATA'],
  },
  open: {
    name: 'open',
    manifests: ['.plugin/plugin.json'],
    strict: false,
    places: usual,
    rootSkill: true,
    server: { variables: [...bothRoots, 'PLUGIN_DATA'], fields: everyField },
    hookVariables: ['PLUGIN_ROOT', 'PLUGIN_DATA'],
  },
  claude: {
    name: 'claude',
    manifests: ['.claude-plugin/plugin.json'],
    strict: false,
    places: { ...usual, rules: [] },
    rootSkill: true,
    server: { variables: bothRoots, fields: everyField },
    hookVariables: ['CLAUDE_PLUGIN_ROOT'],
  },
  copilot: {
    name: 'copilot',
    manifests: ['plugin.json', '.github/plugin/plugin.json'],
    strict: false,
    // A folder without a manifest counts as this format, so the usual place of hooks is read, too.
    places: { ...usual, hooks: ['hooks.json', 'hooks/hooks.json'] },
    rootSkill: true,
    server: { variables: bothRoots, fields: everyField },
    hookVariables: [],
  },
}

/**
 * Whether the URI of a folder has a segment `.claude`. Programs keep their own plugins in such a folder, without a
 * manifest.
 */
export function isClaudeFolder(uri: string): boolean {
  return uri.split(/[/?#]/).includes('.claude')
}
