import { setTimeout as sleep } from 'node:timers/promises'
import { ClusterTrial } from '../nodes/cluster-trial.ts'
import { Database } from '../nodes/database.ts'
import type { NodeSlot } from '../nodes/node-slot.ts'
import { progress } from '../tally.ts'
import type { Scene } from './scene.ts'

/** A fault of three nodes and their database. Resolves when a node is the owner again. */
type Fault = (trial: ClusterTrial, owner: NodeSlot) => Promise<unknown>

/** Faults that make another node the owner. */
const takeOvers: { readonly [name: string]: Fault } = {
  'owner killed': async (trial, owner) => {
    await owner.kill()
    await trial.owner(owner)
  },
  'owner stopped for longer than its lease, and continued': async (trial, owner) => {
    owner.signal('SIGSTOP')
    await trial.owner(owner)
    owner.signal('SIGCONT')
  },
  'owner cut off from the database': async (trial, owner) => {
    owner.link.cut()
    await trial.owner(owner)
  },
  'network between owner and database silent': async (trial, owner) => {
    owner.link.silence()
    await trial.owner(owner)
  },
  'owner stopped in order': async (trial, owner) => {
    await trial.withTimeout(owner.stop(), 'stopping the owner')
    await trial.owner(owner)
  },
}

/** Faults that the owner outlives, or another node if the machine is busy. */
const disturbances: { readonly [name: string]: Fault } = {
  'standby killed': async (trial, owner) => {
    const standby = trial.chance.pick(trial.nodes.filter((node) => node !== owner))
    await standby?.kill()
  },
  'connections to the database dropped, several times': async (trial, owner) => {
    for (let times = trial.chance.between(3, 12); times > 0; times--) {
      owner.link.drop()
      await sleep(trial.chance.between(5, 150))
    }
  },
  'database restarted': async ({ server }) => {
    await server.stop()
    await server.start()
  },
  'database killed and started': async ({ server }) => {
    await server.kill()
    await server.start()
  },
  'database and owner killed': async ({ server }, owner) => {
    await Promise.all([server.kill(), owner.kill()])
    await server.start()
  },
}

/** Faults of a disk of the database. Each ends when there is space again. */
const fullDisks: { readonly [name: string]: Fault } = {
  'disk of the database full': async (trial) => {
    const before = trial.told
    const said = trial.nodesSay('has no space left')
    trial.disks?.data.fill()
    await trial.withTimeout(said, 'a sentence about a full disk')
    await trial.withTimeout(
      trial.until(() => trial.told > before),
      'a client that is told of a full disk',
    )
    await freed(trial)
  },
  'disk of the database full, and owner killed': async (trial, owner) => {
    const said = trial.nodesSay('has no space left')
    trial.disks?.data.fill()
    await trial.withTimeout(said, 'a sentence about a full disk')
    await owner.kill()
    await sleep(trial.chance.between(0, 8000))
    await freed(trial)
    await trial.owner(owner)
  },
  'disk of the write-ahead log full': async (trial) => {
    const said = trial.nodesSay('cannot be reached')
    trial.disks?.wal.fill()
    await trial.withTimeout(said, 'a sentence about a database that has ended')
    await freed(trial)
  },
}

/** Gives the disks space again. A server without space for its log has ended, or is trying to start. */
async function freed({ server, disks, chance }: ClusterTrial): Promise<void> {
  await sleep(chance.between(0, 5000))
  disks?.data.free()
  disks?.wal.free()
  if (!server.runs) await server.start()
}

/** Runs three real nodes on a real database under load, and breaks nodes, networks and the database. */
export const clusters: Scene = async ({ tally, chance, rounds, quick }) => {
  const database = await Database.make()
  if (!database) return tally.skip('nodes', 'no postgres')
  const trial = await ClusterTrial.make(tally, chance, database)
  if (!database.disks) tally.skip('full disks of the database', 'mount failed')
  const faults = { ...takeOvers, ...disturbances, ...(database.disks && fullDisks) }
  // Every fault comes before one is repeated. A short run has the first ones of a random order.
  const names = Object.keys(faults)
  const runs = rounds ?? (quick ? 4 : 3 * names.length)
  let waiting: string[] = []
  try {
    for (let run = 1; run <= runs; run++) {
      await trial.heal()
      const owner = await trial.owner()
      await trial.converge()
      const working = trial.work()
      await sleep(chance.between(100, 1500))
      waiting = waiting.length > 0 ? waiting : [...names]
      const [name = ''] = waiting.splice(chance.below(waiting.length), 1)
      await faults[name]?.(trial, owner)
      await sleep(chance.between(0, 500))
      // A client notices a stopped host by its heartbeat. This one does not wait for that.
      trial.cutClients()
      await trial.withTimeout(working, 'the end of the load')
      tally.outcome(name)
      progress(`${run} of ${runs}: ${name}`)
    }
    await trial.finish()
  } finally {
    await trial.cleanUp()
    await database.close()
  }
}
