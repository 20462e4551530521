import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** An agent that others made: where it comes from, and how it is told to talk to our model and to ask before it acts. */
export interface Recipe {
  readonly name: string
  readonly package: string
  readonly version: string
  /** What runs, below `node_modules`. A script is run by this Node. */
  readonly program: string
  /** The one platform that it was built for, where that is not every one. */
  readonly platform?: { readonly os: string; readonly cpu: string }
  readonly installing?: readonly string[]
  readonly args: readonly string[]
  /** It tells nobody but its model what a command has printed. */
  readonly mute?: boolean
  /** It finds a session again only after so long. */
  readonly forgetsForMs?: number
  /** Puts its settings into a home of its own; gives the environment that leads there. */
  settle(home: string, model: string): Readonly<Record<string, string>>
}

const goose: Recipe = {
  name: 'goose',
  package: '@aaif/goose-binary-linux-x64',
  version: '1.52.0',
  program: '@aaif/goose-binary-linux-x64/bin/goose',
  platform: { os: 'linux', cpu: 'x64' },
  // npm refuses what is made for another machine; an emulator does not.
  installing: ['--force'],
  args: ['acp', '--with-builtin', 'developer'],
  settle: (home, model) => ({
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
  settle: (home, model) => {
    // Only a model that it knows is given its tool for patches.
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
  // Its scripts build what a terminal needs; nobody sits at one here.
  installing: ['--ignore-scripts'],
  args: ['--acp'],
  mute: true,
  // It names what it keeps by the minute, and begins it anew before it looks.
  forgetsForMs: 61_000,
  settle: (home, model) => {
    const settings = { security: { auth: { selectedType: 'gemini-api-key' } } }
    put(join(home, '.gemini'), 'settings.json', JSON.stringify(settings))
    // In a folder that nobody trusts it uses no tools of others.
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
  settle: (home, model) => ({
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, 'claude'),
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    // Else it looks for tools of others only when its model asks for one.
    ENABLE_TOOL_SEARCH: 'false',
  }),
}

export const recipes: readonly Recipe[] = [goose, codex, gemini, claude]

/** Agents want one; our model takes any. */
const key = 'scripted'

function put(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), text)
}
