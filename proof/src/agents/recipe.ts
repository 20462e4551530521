import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A third-party agent: its package, and how it is configured to use the scripted model and to ask before it acts. */
export interface Recipe {
  readonly name: string
  readonly package: string
  readonly version: string
  /** The path of the program below `node_modules`. If the program is a script, the Node of this process runs it. */
  readonly program: string
  /** The only platform that the program was built for; absent if the program runs everywhere. */
  readonly platform?: { readonly os: string; readonly cpu: string }
  readonly installFlags?: readonly string[]
  readonly args: readonly string[]
  /** The agent shows the output of a command to its model, but not to the host. */
  readonly hidesOutput?: boolean
  /** Milliseconds that must pass before the agent can resume a session. */
  readonly resumeDelayMs?: number
  /** Writes the agent's settings to a home folder. Returns the environment variables that make the agent use this folder. */
  configure(home: string, model: string): Readonly<Record<string, string>>
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
    GOOSE_MODE: 'approve',
    GOOSE_DISABLE_KEYRING: '1',
    OPENAI_HOST: model,
    OPENAI_API_KEY: key,
  }),
}

const codex: Recipe = {
  name: 'codex',
  package: '@zed-industries/codex-acp',
  version: '0.16.0',
  program: '@zed-industries/codex-acp/bin/codex-acp.js',
  args: [],
  configure: (home, model) => {
    // codex offers its patch tool only to a model whose name it knows.
    put(
      join(home, 'codex'),
      'config.toml',
      `model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "read-only"

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
  version: '0.49.0',
  program: '@agentclientprotocol/claude-agent-acp/dist/index.js',
  args: [],
  configure: (home, model) => ({
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, 'claude'),
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    // By default claude loads MCP tools only when its model searches for one.
    ENABLE_TOOL_SEARCH: 'false',
  }),
}

export const recipes: readonly Recipe[] = [goose, codex, gemini, claude]

/** Agents require an API key; the scripted model accepts any. */
const key = 'scripted'

function put(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), text)
}
