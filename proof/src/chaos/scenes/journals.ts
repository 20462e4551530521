import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Uri } from '@atrium/protocol/channel'
import { flip, hurt, tails } from '../damage.ts'
import { progress } from '../tally.ts'
import { Trial } from '../trial.ts'
import type { Stage } from './scene.ts'

/**
 * F-03 on the journal: the host is killed, the journal is hurt, the host starts again. It may have lost what the journal
 * lost; clients must see the hole, and nobody another history.
 */
export async function hurtJournals({ tally, chance, quick }: Stage): Promise<void> {
  const trial = new Trial(tally, 'journals', chance.branch())
  const ann = trial.client('ann')
  for (const id of ['ben', 'cid']) trial.client(id)
  const lives = quick ? 3 : 15
  let torn = 0
  try {
    for (let life = 0; life < lives; life++) {
      await clockPast(Math.max(...trial.clients.map(({ lastSeen }) => lastSeen)))
      if (!(await trial.begin())) throw new Error(`the host does not start: ${trial.host.said}`)
      await trial.converge()
      // Sessions may be gone with the journal.
      const { items } = (await ann.ask('listSessions')) as { items: readonly { resource: Uri }[] }
      trial.sessions.keep(items.map(({ resource }) => resource))
      await trial.work(25)
      await trial.host.kill()
      for (const client of trial.clients) client.cut()
      const damage = chance.pick([...tails, flip]) ?? flip
      torn = performance.now()
      if (hurt(join(trial.data, 'atrium.db-wal'), damage, chance)) tally.outcome(`journal: ${damage.name}`)
    }
    await clockPast(Math.max(...trial.clients.map(({ lastSeen }) => lastSeen)))
    await trial.finish({ torn })
    progress(`${lives} journals hurt`)
  } finally {
    await trial.end()
  }
}

/**
 * Where the disk forgot, the clock alone keeps numbers from coming again (L5), and lives of less than a second run ahead of
 * it: each may use a million numbers.
 */
async function clockPast(seq: number): Promise<void> {
  while (Date.now() * 1000 <= seq) await sleep(Math.ceil(seq / 1000 - Date.now()) + 1)
}
