import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { AcpAgent } from '@atrium/adapters/acp'
import type { Profile } from '@atrium/adapters/acp'
import type { AcpMeans, AcpProgram } from '@atrium/adapters/acp/launch'
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
 * Who can be talked to on this host: its own agents, those that somebody named in the config, and those that are on the PATH; one
 * that is installed while the host runs, too. What an agent says of itself is kept, so that it is asked once and not at each start.
 */
export class Cast {
  readonly #settings: Settings
  readonly #world: World
  readonly #means: AcpMeans
  readonly #environment: NodeJS.ProcessEnv
  /** Those that need no program. */
  readonly #own: readonly Agent[]
  /** By name and by how it is started. */
  #programs = new Map<string, AcpAgent>()
  #agents: readonly Agent[] = []
  readonly #retired = new Set<AcpAgent>()
  #known: Profiles = {}
  #closed = false
  #undo = () => {}

  constructor(settings: Settings, world: World, environment: NodeJS.ProcessEnv) {
    this.#settings = settings
    this.#world = world
    this.#environment = environment
    this.#own = [guide(world.later), ...ownModels(settings, world, environment)]
    const mark = randomBytes(16).toString('hex')
    const mcpServers = acpServers(settings.mcpServers)
    const watchdog = new Watchdog(mark)
    this.#means = {
      later: world.later,
      watchdog,
      mark,
      environment,
      version,
      mcpServers,
      quiet: quietIn(settings),
    }
  }

  get agents(): readonly Agent[] {
    return this.#agents
  }

  async open(): Promise<this> {
    this.#known = profilesIn(await readFile(this.#file, 'utf8').catch(() => ''))
    await this.#look()
    return this
  }

  /** From now on the host is told of who comes and goes. */
  watch(host: Host): void {
    this.#undo = this.#world.later(lookEveryMs, () => {
      void this.#look()
        .then(() => this.#closed || host.offer(this.#agents))
        .catch((error: unknown) => this.#world.report('agents not looked for', error))
        .finally(() => this.#closed || this.watch(host))
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#undo()
    await this.#keep().catch((error: unknown) => this.#world.report('what agents can is not kept', error))
    await Promise.all([...this.#programs.values(), ...this.#retired].map((agent) => agent.close()))
  }

  async #look(): Promise<void> {
    const found = await findAgents(this.#settings.agents ?? {}, this.#environment)
    const stamped = await Promise.all(
      found.map(async (program) => [await stampOf(program), program] as const),
    )
    await this.#keep()
    const before = this.#programs
    this.#programs = new Map(
      stamped.map(([stamp, program]) => [
        stamp,
        before.get(stamp) ?? new AcpAgent(program, this.#means, this.#known[stamp]),
      ]),
    )
    for (const [stamp, agent] of before) if (!this.#programs.has(stamp)) this.#retire(agent)
    this.#agents = [...this.#own, ...this.#programs.values()]
  }

  /** Who is in the midst of something may end it. */
  #retire(agent: AcpAgent): void {
    this.#retired.add(agent)
    void agent.retire()
  }

  /** Of those who are not here any more nothing is kept. */
  async #keep(): Promise<void> {
    const news = [...this.#programs].flatMap(([stamp, { profile }]) =>
      profile && profile.problem === undefined && profile !== this.#known[stamp]
        ? [[stamp, profile] as const]
        : [],
    )
    if (news.length === 0 || this.#settings.readOnly) return
    const still = Object.entries(this.#known).filter(([stamp]) => this.#programs.has(stamp))
    this.#known = Object.fromEntries([...still, ...news])
    const aside = `${this.#file}.${process.pid}`
    await writeFile(aside, JSON.stringify(this.#known), { mode: 0o600 })
    await rename(aside, this.#file)
  }

  get #file(): string {
    return join(this.#settings.data, 'agents.json')
  }
}

const lookEveryMs = 60_000

/** The agent on models of others, unless somebody wants none of them. */
function ownModels(
  { models = {} }: Settings,
  world: World,
  environment: NodeJS.ProcessEnv,
): readonly Agent[] {
  const { anthropic, openai, compatible = {} } = models
  const none = anthropic === false && openai === false && Object.keys(compatible).length === 0
  const platform = `${process.platform} ${process.arch}`
  return none ? [] : [modelAgent({ models, environment, world, platform })]
}

/** The temporary folder is everybody's, and what lies there is started by agents that find it. */
function quietIn({ data, readOnly }: Settings): string {
  const folder = join(data, 'quiet')
  try {
    if (!readOnly) mkdirSync(folder, { recursive: true, mode: 0o700 })
    return existsSync(folder) ? folder : homedir()
  } catch {
    return homedir()
  }
}

type Profiles = { readonly [stamp: string]: Profile }

/** It is only what need not be asked again: whatever else stands there is nothing. */
function profilesIn(text: string): Profiles {
  try {
    const all = Object.entries(JSON.parse(text) as Profiles)
    return Object.fromEntries(all.filter(([, profile]) => Array.isArray(profile?.knobs)))
  } catch {
    return {}
  }
}

/** Another build of a program, or another way to start it, may offer something else. Nothing secret can be read in it. */
async function stampOf({ name, command, args, env }: AcpProgram): Promise<string> {
  const { mtimeMs = 0, size = 0 } = await stat(command).catch(
    () => ({}) as { mtimeMs?: number; size?: number },
  )
  const all = JSON.stringify([version, name, command, args, env, mtimeMs, size])
  return `${name} ${createHash('sha256').update(all).digest('hex')}`
}
