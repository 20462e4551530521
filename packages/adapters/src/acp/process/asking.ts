import { fileURLToPath } from 'node:url'
import type { Variables } from '../../process/environment.ts'

/** Launch settings that make an agent ask before it acts. They are empty for an agent that asks by default. */
export interface LaunchSettings {
  readonly args?: readonly string[]
  readonly env?: Variables
}

/**
 * The settings that make each known agent ask before it changes a file or runs a command. `never`: the agent cannot
 * be made to ask, or asks too late. Each row was tried with the version that docs/agents.md names.
 */
export const asking: { readonly [agent: string]: LaunchSettings | 'never' } = {
  claude: {},
  codex: {
    args: ['-c', 'approval_policy="on-request"', '-c', 'sandbox_mode="read-only"'],
    env: { INITIAL_AGENT_MODE: 'read-only' },
  },
  gemini: { args: ['--approval-mode', 'default'] },
  // The file turns off the workers of goose, which never ask.
  goose: { env: { GOOSE_MODE: 'approve', GOOSE_ADDITIONAL_CONFIG_FILES: gooseConfig() } },
  opencode: { env: { OPENCODE_PERMISSION: opencodePermission() } },
  copilot: { env: { COPILOT_ALLOW_ALL: 'false' } },
  qwen: { args: ['--approval-mode', 'default'] },
  kimi: {},
  pi: 'never',
  // The workers of cline 3 never ask. cline 2 asks about a change after it has written it.
  cline: 'never',
}

/**
 * Returns the permission rules for opencode: it asks for each tool, including those of MCP servers, except for tools
 * that only read. The last rule that matches a tool counts, so the rule for all tools comes first.
 */
function opencodePermission(): string {
  const read = { '*': 'allow', '*.env': 'ask', '*.env.*': 'ask', '*.env.example': 'allow' }
  const onlyRead = ['list', 'glob', 'grep', 'lsp', 'todoread', 'todowrite', 'skill', 'question', 'task']
  const allowed = Object.fromEntries(onlyRead.map((tool) => [tool, 'allow']))
  return JSON.stringify({ '*': 'ask', read, ...allowed })
}

/** Returns the path of the config file for goose. */
function gooseConfig(): string {
  return fileURLToPath(new URL('../../../src/acp/process/goose-asks.yaml', import.meta.url))
}
