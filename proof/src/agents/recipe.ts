import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A third-party agent: its package, and how it is configured to use the scripted model. The host itself makes it ask before it
 * acts (N52).
 */
export interface Recipe {
  readonly name: string
  readonly package: string
  readonly version: string
  /**
   * The path of the program below `node_modules`. If the program is a script, Node runs it: the version in `node`, or
   * else the Node of this process.
   */
  readonly program: string
  /** The only platform that the program was built for; absent if the program runs everywhere. */
  readonly platform?: { readonly os: string; readonly cpu: string }
  readonly installFlags?: readonly string[]
  /** Further packages that the agent needs, each with its version. */
  readonly packages?: readonly string[]
  /** The version of Node that runs the agent, if the Node of this process is too old for it. */
  readonly node?: string
  readonly args: readonly string[]
  /** Whether the agent shows the output of a command to its model, but not to the host. */
  readonly hidesOutput?: boolean
  /** Whether the agent takes messages while it works. */
  readonly steers?: boolean
  /** Milliseconds that must pass before the agent can resume a session. */
  readonly resumeDelayMs?: number
  /** Whether the agent cannot be made to ask before it acts. `workers`: it asks, but its workers do not. */
  readonly actsWithoutAsking?: boolean | 'workers'
  /** The agent accepts MCP servers, but does not use them. */
  readonly ignoresServers?: boolean
  /**
   * Writes the agent's settings to a home folder. Returns the environment variables that make the agent use this folder. `bin`
   * is the folder with the programs of the installed packages.
   */
  configure(home: string, model: string, bin: string): Readonly<Record<string, string>>
}

const goose: Recipe = {
  name: 'goose',
  package: '@aaif/goose-binary-linux-x64',
  version: '1.52.0',
  program: '@aaif/goose-binary-linux-x64/bin/goose',
  platform: { os: 'linux', cpu: 'x64' },
  // npm refuses a package for another machine, but an emulator can run it.
  installFlags: ['--force'],
  args: ['acp', '--with-builtin', 'developer'],
  configure: (home, model) => ({
    HOME: home,
    GOOSE_PROVIDER: 'openai',
    GOOSE_MODEL: 'scripted',
    GOOSE_DISABLE_KEYRING: '1',
    OPENAI_HOST: model,
    OPENAI_API_KEY: key,
  }),
}

const codex: Recipe = {
  name: 'codex',
  package: '@agentclientprotocol/codex-acp',
  version: '2.6.0',
  program: '@agentclientprotocol/codex-acp/dist/index.js',
  steers: true,
  node: '22.23.3',
  args: [],
  configure: (home, model) => {
    // codex offers its patch tool only to a model whose name it knows.
    put(
      join(home, 'codex'),
      'config.toml',
      `model = "gpt-5.5"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "SCRIPTED_API_KEY"
requires_openai_auth = false
supports_websockets = false
`,
    )
    return { HOME: home, CODEX_HOME: join(home, 'codex'), SCRIPTED_API_KEY: key }
  },
}

const gemini: Recipe = {
  name: 'gemini',
  package: '@google/gemini-cli',
  version: '0.61.0',
  program: '@google/gemini-cli/bundle/gemini.js',
  // The install scripts build terminal support, which is not needed here.
  installFlags: ['--ignore-scripts'],
  args: ['--acp'],
  hidesOutput: true,
  // gemini names session files by the minute. To resume a session, it first creates a new file, then looks for the
  // old one. The two must not have the same name, so a minute must pass first.
  resumeDelayMs: 61_000,
  configure: (home, model) => {
    const settings = { security: { auth: { selectedType: 'gemini-api-key' } } }
    put(join(home, '.gemini'), 'settings.json', JSON.stringify(settings))
    // In an untrusted folder gemini uses no MCP tools.
    const trust = { GEMINI_CLI_TRUST_WORKSPACE: 'true' }
    return { HOME: home, GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: model, ...trust }
  },
}

const claude: Recipe = {
  name: 'claude',
  package: '@agentclientprotocol/claude-agent-acp',
  version: '0.100.0',
  program: '@agentclientprotocol/claude-agent-acp/dist/index.js',
  steers: true,
  node: '22.23.3',
  args: [],
  configure: (home, model) => ({
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, 'claude'),
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
}

const opencode: Recipe = {
  name: 'opencode',
  package: 'opencode-ai',
  version: '1.18.33',
  program: 'opencode-linux-x64/bin/opencode',
  platform: { os: 'linux', cpu: 'x64' },
  // The program is in a package of its own and is started there. The install script, which would copy it, is not
  // needed.
  installFlags: ['--ignore-scripts'],
  args: ['acp'],
  configure: (home, model) => {
    const options = { baseURL: `${model}/v1`, apiKey: key }
    const scripted = { npm: '@ai-sdk/openai-compatible', options, models: { scripted: {} } }
    const settings = {
      provider: { scripted },
      model: 'scripted/scripted',
      small_model: 'scripted/scripted',
    }
    put(home, 'opencode.json', JSON.stringify(settings))
    return {
      HOME: home,
      OPENCODE_CONFIG: join(home, 'opencode.json'),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    }
  },
}

const copilot: Recipe = {
  name: 'copilot',
  package: '@github/copilot',
  version: '1.0.102',
  program: '@github/copilot-linux-x64/copilot',
  platform: { os: 'linux', cpu: 'x64' },
  args: ['--acp', '--no-auto-update'],
  configure: (home, model) => ({
    HOME: home,
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
    COPILOT_PROVIDER_API_KEY: key,
    COPILOT_MODEL: 'scripted',
  }),
}

const qwen: Recipe = {
  name: 'qwen',
  package: '@qwen-code/qwen-code',
  version: '0.24.4',
  program: '@qwen-code/qwen-code/cli.js',
  node: '22.23.3',
  installFlags: ['--ignore-scripts'],
  args: ['--acp'],
  configure: (home, model) => {
    const settings = { security: { auth: { selectedType: 'openai' } } }
    put(join(home, '.qwen'), 'settings.json', JSON.stringify(settings))
    return { HOME: home, OPENAI_BASE_URL: `${model}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: 'scripted' }
  },
}

const kimi: Recipe = {
  name: 'kimi',
  package: '@moonshot-ai/kimi-code',
  version: '2.1.0',
  program: '@moonshot-ai/kimi-code/dist/main.mjs',
  node: '24.21.0',
  installFlags: ['--ignore-scripts'],
  args: ['acp'],
  configure: (home, model) => {
    put(
      join(home, '.kimi-code'),
      'config.toml',
      `default_model = "scripted"

[providers.scripted]
type = "openai"
base_url = "${model}/v1"
api_key = "${key}"

[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 100000
`,
    )
    return { HOME: home }
  },
}

const pi: Recipe = {
  name: 'pi',
  package: 'pi-acp',
  version: '0.0.34',
  packages: ['@earendil-works/pi-coding-agent@0.87.1'],
  program: 'pi-acp/dist/index.js',
  node: '24.21.0',
  actsWithoutAsking: true,
  ignoresServers: true,
  installFlags: ['--ignore-scripts'],
  args: [],
  configure: (home, model, bin) => {
    const folder = join(home, '.pi', 'agent')
    const about = { reasoning: false, input: ['text'], contextWindow: 100_000, maxTokens: 10_000 }
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    const models = [{ id: 'scripted', name: 'Scripted', ...about, cost }]
    const provider = { baseUrl: `${model}/v1`, api: 'openai-completions', apiKey: key, models }
    put(folder, 'models.json', JSON.stringify({ providers: { scripted: provider } }))
    const settings = { defaultProvider: 'scripted', defaultModel: 'scripted' }
    put(folder, 'settings.json', JSON.stringify(settings))
    // pi-acp starts the program pi, which it looks for in the PATH.
    return { HOME: home, PATH: `${bin}:/usr/bin:/bin`, PI_OFFLINE: '1' }
  },
}

const cline: Recipe = {
  name: 'cline',
  package: 'cline',
  version: '3.0.65',
  program: '@cline/cli-linux-x64/bin/cline',
  platform: { os: 'linux', cpu: 'x64' },
  actsWithoutAsking: 'workers',
  ignoresServers: true,
  installFlags: ['--ignore-scripts'],
  args: ['--acp'],
  configure: (home, model) => {
    const provider = 'openai-compatible'
    const settings = { provider, apiKey: key, model: 'scripted', baseUrl: `${model}/v1` }
    const providers = {
      [provider]: { settings, tokenSource: 'manual', updatedAt: '2026-11-19T00:00:00.000Z' },
    }
    const file = { version: 1, lastUsedProvider: provider, modes: {}, providers }
    put(join(home, '.cline', 'data', 'settings'), 'providers.json', JSON.stringify(file))
    return { HOME: home, CLINE_PROVIDER: provider, CLINE_API_KEY: key, CLINE_NO_AUTO_UPDATE: '1' }
  },
}

export const recipes: readonly Recipe[] = [
  goose,
  codex,
  gemini,
  claude,
  opencode,
  copilot,
  qwen,
  kimi,
  pi,
  cline,
]

/** Agents require an API key; the scripted model accepts any. */
const key = 'scripted'

function put(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), text)
}
