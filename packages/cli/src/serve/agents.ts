import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { AcpAgent } from '@atrium/adapters/acp'
import type { Profile } from '@atrium/adapters/acp'
import { missingProgram } from '@atrium/adapters/acp/launch'
import type { LaunchContext, AcpProgram } from '@atrium/adapters/acp/launch'
import { defaultLimits, IdleProcesses } from '@atrium/adapters/acp/idle-processes'
import type { IdleLimits } from '@atrium/adapters/acp/idle-processes'
import { acpServers } from '@atrium/adapters/acp/mcp-servers'
import { findAgents } from '@atrium/adapters/acp/registry'
import { guide } from '@atrium/adapters/guide'
import { modelAgent } from '@atrium/adapters/model'
import { Watchdog } from '@atrium/adapters/process/watchdog'
import type { Agent } from '@atrium/host/ports/agent'
import type { Host } from '@atrium/host'
import type { World } from '@atrium/host/ports/world'
import type { Settings } from './config-fields.ts'
import { version } from '../terminal/version.ts'

/**
 * The agents of this host: the built-in ones, those of the config, and those on the PATH, also when they are installed
 * while the host runs. The profile of an agent program (its models and options) is saved, so that the program is
 * probed once and not at each start.
 */
export class AgentSet {
  readonly #settings: Settings
  readonly #world: World
  readonly #means: LaunchContext
  readonly #environment: NodeJS.ProcessEnv
  /** Agents that need no program. */
  readonly #builtIn: readonly Agent[]
  /** Agent programs by fingerprint. */
  #programs = new Map<string, AcpAgent>()
  #agents: readonly Agent[] = []
  readonly #retired = new Set<AcpAgent>()
  #profiles: Profiles = {}
  #closed = false
  #cancelTimer = () => {}

  /** `processes` is the watchdog with its marker. Absent: the agents have a watchdog of their own. */
  constructor(
    settings: Settings,
    world: World,
    environment: NodeJS.ProcessEnv,
    processes?: Pick<LaunchContext, 'watchdog' | 'mark'>,
  ) {
    this.#settings = settings
    this.#world = world
    this.#environment = environment
    this.#builtIn = [guide(world.later), ...modelAgents(settings, world, environment)]
    const mark = processes?.mark ?? randomBytes(16).toString('hex')
    const mcpServers = acpServers(settings.mcpServers)
    const watchdog = processes?.watchdog ?? new Watchdog(mark)
    this.#means = {
      later: world.later,
      watchdog,
      mark,
      environment,
      version,
      mcpServers,
      probeDirectory: probeFolder(settings),
      idle: new IdleProcesses(world.later, idleLimits(settings)),
    }
  }

  /**
   * What is needed to start a process that ends with the host: the watchdog, which ends the processes of a dead host,
   * and the marker by which it finds them. Hooks use the same two as agents.
   */
  get processes(): Pick<LaunchContext, 'watchdog' | 'mark'> {
    return this.#means
  }

  get agents(): readonly Agent[] {
    return this.#agents
  }

  async open(): Promise<this> {
    this.#profiles = profilesIn(await readFile(this.#file, 'utf8').catch(() => ''))
    await this.#refresh()
    return this
  }

  /** Tells the host when agents are installed or removed. A standby looks for none, because it may start no program. */
  watch(host: Pick<Host, 'offer'> & { readonly ready?: () => boolean }): void {
    this.#cancelTimer = this.#world.later(refreshEveryMs, () => {
      const looked = (host.ready?.() ?? true) ? this.#refresh() : Promise.resolve()
      void looked
        .then(() => this.#closed || host.offer(this.#agents))
        .catch((error: unknown) => this.#world.report('agents not looked for', error))
        .finally(() => this.#closed || this.watch(host))
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelTimer()
    await this.#saveProfiles().catch((error: unknown) =>
      this.#world.report('agent profiles not saved', error),
    )
    await Promise.all([...this.#programs.values(), ...this.#retired].map((agent) => agent.close()))
  }

  async #refresh(): Promise<void> {
    const found = await findAgents(this.#settings.agents ?? {}, this.#environment)
    const fingerprinted = await Promise.all(
      found.map(async (program) => {
        const file = await fileOf(program)
        const problem = file || isSearched(program) ? undefined : missingProgram(program)
        return { fingerprint: fingerprintOf(program, file), program, problem }
      }),
    )
    await this.#saveProfiles()
    const before = this.#programs
    this.#programs = new Map(
      fingerprinted.map(({ fingerprint, program, problem }) => {
        const known = { profile: this.#profiles[fingerprint], problem }
        return [fingerprint, before.get(fingerprint) ?? new AcpAgent(program, this.#means, known)]
      }),
    )
    for (const [fingerprint, agent] of before) if (!this.#programs.has(fingerprint)) this.#retire(agent)
    this.#agents = [...this.#builtIn, ...this.#programs.values()]
  }

  /** Takes an agent out of use. A retired agent still finishes its running turns. */
  #retire(agent: AcpAgent): void {
    this.#retired.add(agent)
    void agent.retire()
  }

  /** Saves the new profiles, and drops those of programs that are gone. */
  async #saveProfiles(): Promise<void> {
    const changed = [...this.#programs].flatMap(([fingerprint, { profile }]) =>
      profile && profile !== this.#profiles[fingerprint] ? [[fingerprint, profile] as const] : [],
    )
    if (changed.length === 0 || this.#settings.readOnly) return
    const kept = Object.entries(this.#profiles).filter(([fingerprint]) => this.#programs.has(fingerprint))
    this.#profiles = Object.fromEntries([...kept, ...changed])
    const temporary = `${this.#file}.${process.pid}`
    await writeFile(temporary, JSON.stringify(this.#profiles), { mode: 0o600 })
    await rename(temporary, this.#file)
  }

  get #file(): string {
    return join(this.#settings.data, 'agents.json')
  }
}

const refreshEveryMs = 60_000

function idleLimits({ agentProcesses = {} }: Settings): IdleLimits {
  const { idleMs, most } = defaultLimits
  const { idleMinutes, maxIdle = most } = agentProcesses
  return { idleMs: idleMinutes === undefined ? idleMs : idleMinutes * 60_000, most: maxIdle }
}

/** The built-in model agent, unless the config switches all of its providers off. */
function modelAgents(
  { models = {} }: Settings,
  world: World,
  environment: NodeJS.ProcessEnv,
): readonly Agent[] {
  const { anthropic, openai, compatible = {} } = models
  const none = anthropic === false && openai === false && Object.keys(compatible).length === 0
  const platform = `${process.platform} ${process.arch}`
  return none ? [] : [modelAgent({ models, environment, world, platform })]
}

/**
 * The working directory of a probed agent. The shared temporary folder is unsafe: agents may execute files of other
 * users that they find there.
 */
function probeFolder({ data, readOnly }: Settings): string {
  const folder = join(data, 'quiet')
  try {
    if (!readOnly) mkdirSync(folder, { recursive: true, mode: 0o700 })
    return existsSync(folder) ? folder : homedir()
  } catch {
    return homedir()
  }
}

type Profiles = { readonly [fingerprint: string]: Profile }

/** Parses the saved profiles. They are only a cache, so anything unreadable counts as absent. */
function profilesIn(text: string): Profiles {
  try {
    // Only the host writes this file. The filter below drops entries of another shape.
    const all = Object.entries(JSON.parse(text) as Profiles)
    return Object.fromEntries(all.filter(([, profile]) => Array.isArray(profile?.knobs)))
  } catch {
    return {}
  }
}

/**
 * Looks at the file of a program. A relative path counts from the home folder, in which the program is started.
 * Undefined if the file is missing, or if `command` is only a name.
 */
async function fileOf({ command }: AcpProgram): Promise<Stats | undefined> {
  return command.includes('/') ? stat(resolve(homedir(), command)).catch(() => undefined) : undefined
}

/** Whether the program is looked for in a PATH of its own. Then it is only known at its start whether it exists. */
function isSearched({ command, env }: AcpProgram): boolean {
  return !command.includes('/') && env['PATH'] !== undefined
}

/**
 * Identifies a program and the way it is started: another build, or other arguments, may have another profile. The hash
 * hides secrets in the environment.
 */
function fingerprintOf({ name, command, args, env }: AcpProgram, file: Stats | undefined): string {
  const all = JSON.stringify([version, name, command, args, env, file?.mtimeMs ?? 0, file?.size ?? 0])
  return `${name} ${createHash('sha256').update(all).digest('hex')}`
}
