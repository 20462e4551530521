import { join, resolve } from 'node:path'
import { argumentsOf } from '../arguments.ts'
import { crowd } from './crowd.ts'
import { drive } from './drive.ts'
import { cacheFolder, install } from './install.ts'
import { allPassed, table } from './matrix.ts'
import type { Cell, Row } from './matrix.ts'
import { startModel } from './model/server.ts'
import type { Model } from './model/server.ts'
import { binPath, whyNotRunnable, programOf } from './program.ts'
import { recipes } from './recipe.ts'
import type { Recipe } from './recipe.ts'
import { isFor, scenes } from './scenes.ts'
import type { Scene } from './scenes.ts'
import { guidePrompts, scripted } from './prompts.ts'
import type { AgentUnderTest } from './test-host.ts'

const guide: AgentUnderTest = { provider: 'guide', prompts: guidePrompts }
const own = 'atrium'
const known = [guide.provider, own, ...recipes.map(({ name }) => name)]

const usage = `usage: npm run agents [-- ${known.join(' ')}] [--only ${Object.keys(scenes).join(',')}] [--sessions N] [--timeout SECONDS] [--json] [--keep] [--folder DIR]

Installs missing agents (in --folder, by default ${cacheFolder()}),
connects them to a model that follows a script in the prompt, and drives whole turns through the real host.
With --sessions, runs a turn in each of N sessions, and prints the processes of the agent and their memory.
With --timeout, waits this long for each expected event. The default is 120 seconds, which is too short on a busy machine.`

const { values, positionals } = argumentsOf(
  {
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      sessions: { type: 'string' },
      folder: { type: 'string' },
      timeout: { type: 'string' },
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  },
  usage,
)

/** A little more than the time that an idle process may live by default. */
const idleMs = 5.5 * 60_000

process.exit(await run())

async function run(): Promise<number> {
  const wanted = values.only?.split(',') ?? Object.keys(scenes)
  const names = positionals.length > 0 ? positionals : recipes.map(({ name }) => name)
  if (!wanted.every((name) => scenes[name]) || !names.every((name) => known.includes(name))) return refuse()
  if (values.timeout !== undefined && !(Number(values.timeout) > 0)) return refuse()
  const model = await startModel()
  if (values.sessions !== undefined) return measure(names, Number(values.sessions), model)
  const rows: Row[] = []
  for (const name of names) rows.push(await row(name, wanted, model))
  model.close()
  console.log(values.json ? JSON.stringify({ rows }, null, 2) : table(rows))
  return allPassed(rows) ? 0 : 1
}

async function row(name: string, wanted: readonly string[], model: Model): Promise<Row> {
  const recipe = recipes.find((each) => each.name === name)
  const version = recipe?.version ?? ''
  const cells: Record<string, Cell> = {}
  try {
    const agent = recipe ? await agentOf(recipe, model) : name === own ? ownModels(model) : guide
    for (const [name, scene] of Object.entries(scenes))
      if (wanted.includes(name) && isFor(scene, agent)) cells[name] = await play(agent, name, scene)
  } catch (error) {
    for (const scene of wanted) cells[scene] ??= { outcome: 'failed', reason: reasonOf(error) }
  }
  return { agent: name, version, cells }
}

/** Prints what many sessions of each agent take. Returns 1 if an agent could not be measured. */
async function measure(names: readonly string[], sessions: number, model: Model): Promise<number> {
  let failures = 0
  for (const recipe of recipes.filter(({ name }) => names.includes(name))) {
    const title = `${recipe.name} ${recipe.version}`
    try {
      for (const { when, processes, rssMb } of await crowd(await agentOf(recipe, model), sessions, idleMs))
        console.log(`${title}, ${when}: ${processes} processes, ${rssMb} MB`)
    } catch (error) {
      failures++
      log(`${title} could not be measured: ${reasonOf(error)}`)
    }
  }
  model.close()
  return failures > 0 ? 1 : 0
}

async function agentOf(recipe: Recipe, model: Model): Promise<AgentUnderTest> {
  const why = whyNotRunnable(recipe)
  if (why !== undefined) throw new Error(why)
  const folder = join(resolve(values.folder ?? cacheFolder()), recipe.name)
  await install(recipe, folder, log)
  const program = programOf(recipe, folder)
  const bin = binPath(recipe, folder)
  const launch = (home: string) => ({ ...program, env: recipe.configure(home, model.url, bin) })
  const { name: provider, hidesOutput = false, resumeDelayMs = 0 } = recipe
  const { actsWithoutAsking = false, ignoresServers = false, steers = false } = recipe
  const record = (file: string) => model.record(file)
  const traits = { hidesOutput, resumeDelayMs, actsWithoutAsking, ignoresServers, steers }
  return { provider, ...traits, prompts: scripted, launch, record }
}

/** Returns the agent `atrium`, which is part of the host. It is configured to use the scripted model. */
function ownModels(model: Model): AgentUnderTest {
  const compatible = { scripted: { baseUrl: `${model.url}/v1`, models: ['scripted'] } }
  const models = { anthropic: false, openai: false, compatible }
  const record = (file: string) => model.record(file)
  return { provider: own, prompts: scripted, config: { models }, record }
}

async function play(agent: AgentUnderTest, name: string, scene: Scene): Promise<Cell> {
  const { keep, timeout } = values
  const limit = timeout === undefined ? {} : { timeoutMs: Number(timeout) * 1000 }
  const cell = await drive(agent, scene, { keep, log, ...limit })
  const { outcome, reason, seconds = 0 } = cell
  log(`${agent.provider} ${name}: ${reason ?? outcome} (${seconds} s)`)
  return cell
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function log(sentence: string): void {
  process.stderr.write(`agents: ${sentence}\n`)
}

function refuse(): number {
  console.error(usage)
  return 2
}
