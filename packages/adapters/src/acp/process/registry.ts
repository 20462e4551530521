import { basename } from 'node:path'
import type { AcpProgram } from './launch.ts'
import type { Variables } from '../../process/environment.ts'
import { findByName } from '../../process/which.ts'

/** How somebody has said that an agent is started, under its name. */
export interface AgentSetting {
  /** A path, or a name on the PATH. Absent: the program that is known by this name. */
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: { readonly [name: string]: string }
  readonly displayName?: string
  /** Variables of the host that it may know besides. */
  readonly variables?: readonly string[]
  readonly memoryMb?: number
  readonly turnMinutes?: number
  readonly disabled?: boolean
}

export type AgentSettings = { readonly [name: string]: AgentSetting }

interface Known {
  readonly displayName: string
  readonly command: string
  readonly args?: readonly string[]
  readonly variables: RegExp
  readonly signIn?: string
}

/** What agents that work on many models sign in with. Not whatever ends like a key: others have keys, too (S-38). */
const vendors =
  '^(?:OPENAI|ANTHROPIC|GEMINI|GOOGLE|GOOGLE_GENERATIVE_AI|OPENROUTER|GROQ|MISTRAL|DEEPSEEK|XAI|COHERE|TOGETHER|FIREWORKS|PERPLEXITY|CEREBRAS|MOONSHOT|KIMI|DASHSCOPE|ZAI|ZHIPU|MINIMAX|AZURE_OPENAI|HUGGINGFACE|NVIDIA|VENICE|AI_GATEWAY)_API_KEY$'

/** Programs that are known to speak ACP, and what each is signed in with. */
const known: { readonly [name: string]: Known } = {
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
    variables: new RegExp(`^GOOSE_|^OPENAI_|^ANTHROPIC_|^OLLAMA_|${vendors}`),
    signIn: 'goose configure',
  },
  opencode: {
    displayName: 'opencode',
    command: 'opencode',
    args: ['acp'],
    variables: new RegExp(`^OPENCODE_|${vendors}`),
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
  pi: { displayName: 'Pi', command: 'pi-acp', variables: new RegExp(`^PI_|${vendors}`), signIn: 'pi' },
  cline: {
    displayName: 'Cline',
    command: 'cline',
    args: ['--acp'],
    variables: /^CLINE_/,
    signIn: 'cline auth',
  },
}

/** By their names. */
export const knownAgents: readonly string[] = Object.keys(known)

/** The agents of this machine: those that somebody has named, then those that are on the PATH. */
export async function findAgents(
  settings: AgentSettings,
  environment: Variables,
): Promise<readonly AcpProgram[]> {
  const path = environment['PATH'] ?? ''
  const wanted = Object.entries(settings).filter(([, { disabled }]) => !disabled)
  const named = await Promise.all(
    wanted.map(async ([name, setting]) => {
      const program = programOf(name, setting)
      // Where it is: another build of it has to be known for one.
      const place = program.command.includes('/') ? undefined : await findByName(program.command, path)
      return { ...program, command: place ?? program.command }
    }),
  )
  const others = Object.keys(known).filter((name) => !Object.hasOwn(settings, name))
  const found = await Promise.all(
    others.map(async (name) => {
      const program = programOf(name, {})
      const command = await findByName(program.command, path)
      return command === undefined ? [] : [{ ...program, command }]
    }),
  )
  return [...named, ...found.flat()]
}

function programOf(name: string, setting: AgentSetting): AcpProgram {
  const usual = Object.hasOwn(known, name) ? known[name] : undefined
  const { command, args, env = {}, displayName, variables = [], memoryMb, turnMinutes } = setting
  const isUsual = command === undefined || basename(command) === usual?.command
  const own = [usual?.variables.source, ...variables.map((each) => `^${each.replaceAll(/\W/g, '')}$`)]
  return {
    name,
    displayName: displayName ?? usual?.displayName ?? name,
    command: command ?? usual?.command ?? name,
    args: args ?? (isUsual ? (usual?.args ?? []) : []),
    env,
    variables: new RegExp(own.filter((each) => each !== undefined).join('|') || '$^'),
    ...(usual?.signIn !== undefined && { signIn: usual.signIn }),
    ...(memoryMb !== undefined && { memoryBytes: memoryMb * 2 ** 20 }),
    ...(turnMinutes !== undefined && { turnMs: turnMinutes * 60_000 }),
  }
}
