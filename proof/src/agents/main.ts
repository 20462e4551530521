import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { drive } from './drive.ts'
import { cacheFolder, install } from './install.ts'
import { holds, table } from './matrix.ts'
import type { Cell, Row } from './matrix.ts'
import { startModel } from './model/server.ts'
import type { Model } from './model/server.ts'
import { hindrance, programOf } from './program.ts'
import { recipes } from './recipe.ts'
import type { Recipe } from './recipe.ts'
import { isFor, scenes } from './scenes.ts'
import type { Scene } from './scenes.ts'
import { given, guided, scripted } from './speech.ts'
import type { Player } from './stage.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    folder: { type: 'string' },
    json: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    transcript: { type: 'boolean', default: false },
  },
})

const guide: Player = { provider: 'guide', speech: guided }
const own = 'atrium'
const known = [guide.provider, own, ...recipes.map(({ name }) => name)]

process.exit(await run())

async function run(): Promise<number> {
  const wanted = values.only?.split(',') ?? Object.keys(scenes)
  const names = positionals.length > 0 ? positionals : recipes.map(({ name }) => name)
  if (!wanted.every((name) => scenes[name]) || !names.every((name) => known.includes(name))) return usage()
  const model = await startModel()
  const rows: Row[] = []
  for (const name of names) rows.push(await row(name, wanted, model))
  model.close()
  console.log(values.json ? JSON.stringify({ rows }, null, 2) : table(rows))
  return holds(rows) ? 0 : 1
}

async function row(name: string, wanted: readonly string[], model: Model): Promise<Row> {
  const recipe = recipes.find((each) => each.name === name)
  const version = recipe?.version ?? ''
  const cells: Record<string, Cell> = {}
  try {
    const player = recipe ? await playerOf(recipe, model) : name === own ? ownModels(model) : guide
    for (const [name, scene] of Object.entries(scenes))
      if (wanted.includes(name) && isFor(scene, player)) cells[name] = await play(player, name, scene)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    for (const scene of wanted) cells[scene] ??= { outcome: 'failed', reason }
  }
  return { agent: name, version, cells }
}

async function playerOf(recipe: Recipe, model: Model): Promise<Player> {
  const why = hindrance(recipe)
  if (why !== undefined) throw new Error(why)
  const folder = join(resolve(values.folder ?? cacheFolder()), recipe.name)
  await install(recipe, folder, tell)
  const program = programOf(recipe, folder)
  const launch = (home: string) => {
    model.record(join(home, 'asked.jsonl'))
    return { ...program, env: recipe.settle(home, model.url) }
  }
  const { name: provider, mute = false, forgetsForMs = 0 } = recipe
  return { provider, mute, forgetsForMs, speech: given, launch }
}

/** The host's own agent on models of others. */
function ownModels({ url }: Model): Player {
  const compatible = { scripted: { baseUrl: `${url}/v1`, models: ['scripted'] } }
  const models = { anthropic: false, openai: false, compatible }
  return { provider: own, speech: scripted, config: { models } }
}

async function play(player: Player, name: string, scene: Scene): Promise<Cell> {
  const { keep, transcript } = values
  const { sights = [], ...cell } = await drive(player, scene, { keep, tell })
  const { outcome, reason, seconds = 0 } = cell
  tell(`${player.provider} ${name}: ${reason ?? outcome} (${seconds} s)`)
  if (transcript && !values.json) console.log([`${player.provider} ${name}`, ...sights, ''].join('\n'))
  return transcript ? { ...cell, sights } : cell
}

function tell(sentence: string): void {
  process.stderr.write(`agents: ${sentence}\n`)
}

function usage(): number {
  console.error(`npm run agents [-- ${known.join(' ')}] [--only ${Object.keys(scenes).join(',')}] [--transcript] [--json] [--keep] [--folder DIR]

Installs real agents where they are missing (in --folder, else in ${cacheFolder()}),
gives them a model that reads its words from the prompt, and drives whole turns through the real host.`)
  return 2
}
