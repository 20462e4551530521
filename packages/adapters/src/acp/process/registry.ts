import { basename } from 'node:path'
import { asking } from './asking.ts'
import type { AcpProgram } from './launch.ts'
import type { Variables } from '../../process/environment.ts'
import { findByName } from '../../process/which.ts'

/** The configuration of one agent. The name of the agent is the key in the configuration file. */
export interface AgentSetting {
  /** The path of the program, or its name on the PATH. Absent: the known program of this agent. */
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: { readonly [name: string]: string }
  readonly displayName?: string
  /** Names of environment variables of the host that the agent gets, besides those that every agent gets. */
  readonly variables?: readonly string[]
  readonly memoryMb?: number
  readonly turnMinutes?: number
  readonly disabled?: boolean
  /** Starts the agent without the launch settings that make it ask (`asking.ts`), and marks it as one that does not ask. */
  readonly actsWithoutAsking?: boolean
}

export type AgentSettings = { readonly [name: string]: AgentSetting }

interface KnownProgram {
  readonly displayName: string
  readonly command: string
  readonly args?: readonly string[]
  readonly env?: Variables
  readonly variables: RegExp
  readonly signIn?: string
}

/**
 * Names of API keys, for agents that use models of many vendors. The pattern `_API_KEY$` would be too wide: it
 * matches keys of other services too, which an agent must not get (S-38).
 */
const vendorKeys =
  '^(?:OPENAI|ANTHROPIC|GEMINI|GOOGLE|GOOGLE_GENERATIVE_AI|OPENROUTER|GROQ|MISTRAL|DEEPSEEK|XAI|COHERE|TOGETHER|FIREWORKS|PERPLEXITY|CEREBRAS|MOONSHOT|KIMI|DASHSCOPE|ZAI|ZHIPU|MINIMAX|AZURE_OPENAI|HUGGINGFACE|NVIDIA|VENICE|AI_GATEWAY)_API_KEY$'

/**
 * Programs that are known to speak ACP. For each program: the variables that it needs to sign in, and the command by which
 * users sign in.
 */
const knownPrograms: { readonly [name: string]: KnownProgram } = {
  claude: {
    displayName: 'Claude',
    command: 'claude-agent-acp',
    variables: /^(?:ANTHROPIC|CLAUDE)_|^AWS_|^GOOGLE_|^CLOUD_ML_REGION$/,
    signIn: 'claude /login',
  },
  codex: {
    displayName: 'Codex',
    command: 'codex-acp',
    variables: /^(?:OPENAI|CODEX)_/,
    signIn: 'codex login',
  },
  gemini: {
    displayName: 'Gemini',
    command: 'gemini',
    args: ['--acp'],
    variables: /^(?:GEMINI|GOOGLE)_/,
    signIn: 'gemini',
  },
  goose: {
    displayName: 'goose',
    command: 'goose',
    args: ['acp'],
    variables: new RegExp(`^GOOSE_|^OPENAI_|^ANTHROPIC_|^OLLAMA_|${vendorKeys}`),
    signIn: 'goose configure',
  },
  opencode: {
    displayName: 'opencode',
    command: 'opencode',
    args: ['acp'],
    variables: new RegExp(`^OPENCODE_|${vendorKeys}`),
    signIn: 'opencode auth login',
  },
  copilot: {
    displayName: 'GitHub Copilot',
    command: 'copilot',
    args: ['--acp'],
    variables: /^(?:COPILOT|GH|GITHUB)_/,
    signIn: 'copilot login',
  },
  qwen: {
    displayName: 'Qwen Code',
    command: 'qwen',
    args: ['--acp'],
    // Else the model does not know the tools of MCP servers in the first turn, and so neither those of clients.
    env: { QWEN_CODE_LEGACY_MCP_BLOCKING: '1' },
    variables: /^(?:QWEN|DASHSCOPE|OPENAI)_/,
    signIn: 'qwen',
  },
  kimi: {
    displayName: 'Kimi',
    command: 'kimi',
    args: ['acp'],
    variables: /^(?:KIMI|MOONSHOT)_/,
    signIn: 'kimi',
  },
  pi: { displayName: 'Pi', command: 'pi-acp', variables: new RegExp(`^PI_|${vendorKeys}`), signIn: 'pi' },
  cline: {
    displayName: 'Cline',
    command: 'cline',
    args: ['--acp'],
    variables: /^CLINE_/,
    signIn: 'cline auth',
  },
}

export const knownAgents: readonly string[] = Object.keys(knownPrograms)

/** Returns the agents of this machine: first the configured agents, then the known programs on the PATH. */
export async function findAgents(
  settings: AgentSettings,
  environment: Variables,
): Promise<readonly AcpProgram[]> {
  const path = environment['PATH'] ?? ''
  const enabled = Object.entries(settings).filter(([, { disabled }]) => !disabled)
  const configured = await Promise.all(
    enabled.map(async ([name, setting]) => {
      const program = programOf(name, setting)
      // The host notices a new build of the program by the program's file. For this it needs the absolute path.
      const found = program.command.includes('/') ? undefined : await findByName(program.command, path)
      return { ...program, command: found ?? program.command }
    }),
  )
  const others = knownAgents.filter((name) => !Object.hasOwn(settings, name))
  const found = await Promise.all(
    others.map(async (name) => {
      const program = programOf(name, {})
      const command = await findByName(program.command, path)
      return command === undefined ? [] : [{ ...program, command }]
    }),
  )
  return [...configured, ...found.flat()]
}

function programOf(name: string, setting: AgentSetting): AcpProgram {
  const known = Object.hasOwn(knownPrograms, name) ? knownPrograms[name] : undefined
  const { command, args, env = {}, displayName, variables = [], memoryMb, turnMinutes } = setting
  const isKnown = command === undefined || basename(command) === known?.command
  const patterns = [known?.variables.source, ...variables.map((each) => `^${each.replaceAll(/\W/g, '')}$`)]
  const program = {
    name,
    displayName: displayName ?? known?.displayName ?? name,
    command: command ?? known?.command ?? name,
    args: args ?? (isKnown ? (known?.args ?? []) : []),
    env: { ...known?.env, ...env },
    variables: new RegExp(patterns.filter((each) => each !== undefined).join('|') || '$^'),
    ...(known?.signIn !== undefined && { signIn: known.signIn }),
    ...(memoryMb !== undefined && { memoryBytes: memoryMb * 2 ** 20 }),
    ...(turnMinutes !== undefined && { turnMs: turnMinutes * 60_000 }),
  }
  return thatAsks(program, setting.actsWithoutAsking === true)
}

/**
 * Adds the launch settings that make a program ask before it acts. They are chosen by the name of the agent, and not
 * by its command: a command that the user configured may be a wrapper, which passes its arguments on. If the config
 * sets one of their variables to another value, the agent is marked as one that does not ask.
 */
function thatAsks(program: AcpProgram, isUnwanted: boolean): AcpProgram {
  const row = Object.hasOwn(asking, program.name) ? asking[program.name] : {}
  if (row === 'never' || isUnwanted) return { ...program, actsWithoutAsking: true }
  const { args = [], env = {} } = row ?? {}
  const isChanged = Object.keys(env).some((name) => (program.env[name] ?? env[name]) !== env[name])
  return {
    ...program,
    args: [...program.args, ...args],
    env: { ...env, ...program.env },
    ...(isChanged && { actsWithoutAsking: true }),
  }
}
