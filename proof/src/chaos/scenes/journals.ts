import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Uri } from '@atrium/protocol/channel'
import { damageFile, flip, tails } from '../damage.ts'
import { progress } from '../tally.ts'
import { Trial } from '../trial.ts'
import type { SceneContext } from './scene.ts'

/**
 * F-03 on the journal: kills the host, damages the journal, and starts the host again. Data of the journal may be
 * lost. Clients must learn of the loss, and nobody may see a different history.
 */
export async function damagedJournals({ tally, chance, quick }: SceneContext): Promise<void> {
  const trial = new Trial(tally, 'journals', chance.branch())
  const ann = trial.client('ann')
  for (const id of ['ben', 'cid']) trial.client(id)
  const runs = quick ? 3 : 15
  let torn = 0
  try {
    for (let run = 0; run < runs; run++) {
      await clockPast(Math.max(...trial.clients.map(({ lastSeen }) => lastSeen)))
      if (!(await trial.start())) throw new Error(`the host does not start: ${trial.host.stderr}`)
      await trial.converge()
      // Sessions may be lost with the journal.
      const { items } = (await ann.ask('listSessions')) as { items: readonly { resource: Uri }[] }
      trial.sessions.retain(items.map(({ resource }) => resource))
      await trial.work(25)
      await trial.host.kill()
      for (const client of trial.clients) client.cut()
      const damage = chance.pick([...tails, flip]) ?? flip
      torn = performance.now()
      if (damageFile(join(trial.data, 'atrium.db-wal'), damage, chance))
        tally.outcome(`journal: ${damage.name}`)
    }
    await clockPast(Math.max(...trial.clients.map(({ lastSeen }) => lastSeen)))
    await trial.finish({ torn })
    progress(`${runs} journals damaged`)
  } finally {
    await trial.cleanUp()
  }
}

/**
 * Waits until the clock has passed a sequence number. New numbers start from the clock. After a loss only this keeps
 * numbers from being used twice (L5). Short host runs get ahead of the clock, because each may use a million numbers.
 */
async function clockPast(seq: number): Promise<void> {
  while (Date.now() * 1000 <= seq) await sleep(Math.ceil(seq / 1000 - Date.now()) + 1)
}
