import { setTimeout as sleep } from 'node:timers/promises'
import { withTrial } from '../trial.ts'
import { progress } from '../tally.ts'
import type { Scene } from './scene.ts'

/** Kills the host at random moments under load, run after run, on one data folder. */
export const kills: Scene = async ({ tally, chance, rounds, quick }) => {
  const runs = rounds ?? (quick ? 6 : 50)
  const cast = { clients: ['ann', 'ben', 'cid', 'dee'], older: true }
  await withTrial({ tally, name: 'kills', chance, ...cast }, async (trial) => {
    for (let run = 1; run <= runs; run++) {
      // Sometimes the host is killed while it starts and clients reconnect.
      const starting = trial.start()
      if (chance.between(0, 9) === 0) {
        await sleep(chance.between(50, 500))
        trial.host.signal('SIGKILL')
        tally.killed('SIGKILL while it starts')
        await trial.host.exit
        await starting
        continue
      }
      if (!(await starting)) throw new Error(`the host does not start: ${trial.host.stderr}`)
      const how = chance.pick(['SIGKILL', 'SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGSTOP'] as const) ?? 'SIGKILL'
      await trial.converge()
      const working = trial.work()
      await sleep(chance.between(0, 200))
      if (how === 'SIGSTOP') {
        trial.host.signal('SIGSTOP')
        await sleep(chance.between(50, 300))
        trial.host.signal('SIGCONT')
        tally.outcome('SIGSTOP, SIGCONT')
        await sleep(chance.between(0, 100))
      }
      const signal = how === 'SIGTERM' ? how : 'SIGKILL'
      trial.host.signal(signal)
      tally.killed(`${signal} under load`)
      await Promise.all([working, trial.host.exit])
      if (run % 10 === 0) progress(`${run} of ${runs} host runs ended`)
    }
    await trial.finish()
  })
}
