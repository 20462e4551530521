import { join } from 'node:path'
import { median } from '../percentiles.ts'
import { check, fact } from '../table.ts'
import { actionsPerTurn, fill, timeToReadList } from './filled-folder.ts'
import type { Size } from './filled-folder.ts'
import { atrium, firstAnswer } from './first-answer.ts'
import { recordSession } from './recorded-session.ts'

const rounds = 15
const most = 1.3

/**
 * Checks that a start takes no longer on a larger data folder than on a small one, apart from the time to read the session
 * list. The host keeps this list in memory. It reads everything else only on request.
 */
export async function growthTable(folder: string): Promise<boolean> {
  const recorded = await recordSession()
  const turns = Math.ceil(1_000_000 / 1000 / actionsPerTurn(recorded))
  const sizes = {
    one: { sessions: 1, turns: 1 },
    thousand: { sessions: 1000, turns: 1 },
    many: { sessions: 20_000, turns: 1 },
    million: { sessions: 1000, turns },
    long: { sessions: 1, turns: 5000 },
  } satisfies { readonly [name: string]: Size }
  console.log(
    '\nstart on a data folder that has grown, from the start of the process to the answer to `initialize`',
  )
  type Name = keyof typeof sizes
  const names = Object.keys(sizes) as Name[]
  const pathOf = (name: Name) => join(folder, name)
  const actions = new Map<Name, number>()
  for (const name of names) actions.set(name, await fill(pathOf(name), recorded, sizes[name]))
  const times = new Map<Name, number[]>(names.map((name) => [name, []]))
  const lists = new Map<Name, number[]>(names.map((name) => [name, []]))
  // The first start publishes the agents of this machine, so it is not measured.
  for (const name of names) await firstAnswer(atrium(pathOf(name)))
  for (let round = 0; round < rounds; round++)
    for (const name of names) {
      times.get(name)?.push(await firstAnswer(atrium(pathOf(name))))
      lists.get(name)?.push(await timeToReadList(pathOf(name), sizes[name]))
    }
  const of = (name: Name) => median(times.get(name) ?? [])
  const compared = (what: string, time: number, reference: number) => {
    const ratio = time / reference
    return check(what, `${time.toFixed(0)} ms  ${ratio.toFixed(2)}x  goal at most ${most}x`, ratio <= most)
  }
  const listed = (what: string, name: Name) => {
    const reading = median(lists.get(name) ?? [])
    fact(what, `${of(name).toFixed(0)} ms, of which reading the list ${reading.toFixed(0)} ms`)
    return compared(`${what}, without reading the list`, of(name) - reading, of('one'))
  }
  fact('1 session', `${of('one').toFixed(0)} ms`)
  const millions = ((actions.get('million') ?? 0) / 1e6).toFixed(2)
  const met = [
    listed('1,000 sessions', 'thousand'),
    listed('20,000 sessions', 'many'),
    compared(`${millions} M actions in 1,000 sessions, relative to 1,000`, of('million'), of('thousand')),
    compared('5,000 turns in one chat, relative to 1 turn', of('long'), of('one')),
  ]
  return met.every(Boolean)
}
