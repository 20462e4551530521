import { join } from 'node:path'
import type { Uri } from '@atrium/protocol/channel'
import { damageFile, emptied, flip, tails } from '../damage.ts'
import { progress } from '../tally.ts'
import { withTrial } from '../trial.ts'
import type { SceneContext } from './scene.ts'

/**
 * Tests F-03 on the journal, the WAL file of SQLite: kills the host, damages the journal, and starts the host again.
 * Data of the journal may be lost. Clients must learn of the loss, and nobody may see a different history.
 */
export async function damagedJournals({ tally, chance, quick }: SceneContext): Promise<void> {
  const runs = quick ? 3 : 15
  let torn = 0
  const clients = ['ben', 'cid']
  await withTrial({ tally, name: 'journals', chance: chance.branch(), clients }, async (trial) => {
    const ann = trial.client('ann')
    for (let run = 0; run < runs; run++) {
      await trial.mustStart()
      await trial.converge()
      // Keeps only the sessions that the host still has, because sessions may be lost with the journal.
      const { items } = (await ann.ask('listSessions')) as { items: readonly { resource: Uri }[] }
      trial.sessions.retain(items.map(({ resource }) => resource))
      await trial.work(25)
      await trial.host.kill()
      for (const client of trial.clients) client.cut()
      // The last damage loses confirmed actions for certain.
      const damage = run < runs - 1 ? (chance.pick([...tails, flip]) ?? flip) : emptied
      torn = performance.now()
      if (damageFile(join(trial.data, 'atrium.db-wal'), damage, chance))
        tally.outcome(`journal: ${damage.name}`)
    }
    await trial.finish({ torn })
    if (/has lost (?:its newest changes|everything)/.test(trial.host.stderr))
      tally.outcome('journal: the host says the loss')
    else tally.problem('F-03: the host has lost confirmed actions and does not say so')
    progress(`${runs} journals damaged`)
  })
}
