import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqlite } from '@atrium/adapters/store/sqlite'
import { permissionsKey } from '@atrium/host/access/permissions'
import { CheckedRecords } from '@atrium/host/records'
import { recordKinds } from '@atrium/host/records/kinds'
import { rootUri } from '@atrium/protocol/uri'
import type { Chance } from '../../chance.ts'
import { Client } from '../client.ts'
import { flipped } from '../damage.ts'
import { HostProcess } from '../host.ts'
import type { Address } from '../host.ts'
import { flipIn, grantsMore, keysByKind, permission, permissionKind } from '../record-flip.ts'
import type { Flip, Stored } from '../record-flip.ts'
import { deviceSecret, samplesOf } from '../record-samples.ts'
import type { Tally } from '../tally.ts'
import { newDataFolder, withTrial } from '../trial.ts'
import { twoAtATime } from './scene.ts'
import type { SceneContext } from './scene.ts'

/** What became of the flips of one kind. */
interface Row {
  readonly counts: { [what in (typeof columns)[number]]: number }
}
const columns = [
  'flips',
  'in the key',
  'started',
  'said',
  'set aside',
  'right again',
  'unread',
  'grants more',
] as const

/**
 * Tests F-04 and L60 with the real command: flips a bit of a record of every kind, in its key or in its text, between the kill of a
 * host and its next start. The host starts, says what is damaged, and nothing permits more than before.
 */
export async function damagedRecords({ tally, chance, quick, rounds }: SceneContext): Promise<void> {
  const data = newDataFolder()
  await withTrial({ tally, name: 'records', chance: chance.branch() }, async (trial) => {
    const ann = trial.client('ann')
    await trial.mustStart()
    await trial.workUntilExit(10)
    trial.sessions.create(ann)
    await ann.settle()
    const [session = ''] = trial.sessions.live
    const config = { [permissionsKey]: [permission] }
    ann.dispatch(session, { type: 'session/configChanged', config } as { type: string })
    await ann.settle()
    await trial.host.kill()
    for (const client of trial.clients) client.cut()
    cpSync(trial.data, data, { recursive: true })
    await plant(data, session)
    const before = await recordsOf(data)
    const rows = new Map<string, Row>()
    const context = { tally, data, session, before, rows }
    const chances = Array.from({ length: rounds ?? (quick ? 4 : 24) }, () => chance.branch())
    await twoAtATime(chances, (own, at) => flipAll(context, own, at))
    for (const kind of [...Object.keys(recordKinds), permissionKind])
      if (!rows.has(kind) && !seldom.includes(kind))
        tally.problem(`L60: no record of the kind ${kind} was there to be damaged`)
    tally.note(tableOf(rows))
    await trial.finish()
  }).finally(() => rmSync(data, { recursive: true }))
}

/** Adds the samples, in the form in which the host stores records. Moves everything from the journal into the database. */
async function plant(data: string, session: string): Promise<void> {
  const store = await openSqlite(data)
  const records = new CheckedRecords(store.records, data, (sentence) => {
    throw new Error(sentence)
  })
  for (const [kind, sample] of Object.entries(samplesOf(session)))
    if (sample) records.put(`${kind}${sample[0]}`, sample[1])
  await store.log.flush()
  await store.log.close()
}

/** The records as they are stored, with their checksums. */
async function recordsOf(data: string): Promise<Stored> {
  const store = await openSqlite(data, { readOnly: true })
  try {
    return new Map(await store.records.list(''))
  } finally {
    await store.log.close()
  }
}

/** Kinds that are not planted: damage itself, and what only a person, a push service or a capture can cause. */
const seldom = ['capture/', 'damaged/', 'notice/', 'quiet/', 'reviewed/']

interface FlipContext {
  readonly tally: Tally
  /** The folder with the undamaged store. */
  readonly data: string
  /** The session with the permission. */
  readonly session: string
  readonly before: Stored
  readonly rows: Map<string, Row>
}

/** Flips a bit of one record of each kind in a copy of the store, and starts a host on the copy. */
async function flipAll(context: FlipContext, chance: Chance, at: number): Promise<void> {
  const { tally, data, before, rows } = context
  const copy = newDataFolder()
  cpSync(data, copy, { recursive: true })
  const path = join(copy, 'atrium.db')
  let bytes: Buffer = readFileSync(path)
  const flips: Flip[] = []
  for (const [kind, keys] of [...keysByKind(before), [permissionKind, [permission.id]] as const]) {
    const flip = flipIn(bytes, { kind, key: chance.pick(keys) ?? '', before, chance })
    if (!flip) continue
    bytes = flipped(bytes, flip.at, chance.between(0, 7))
    flips.push(flip)
  }
  writeFileSync(path, bytes)
  const host = new HostProcess(copy, {})
  const address = await host.ready
  if (!address)
    tally.problem(`L60: the host does not start after ${JSON.stringify(flips)}: ${host.stderr.slice(-500)}`)
  const wrong = address ? await shownWrong(context, address, at) : []
  host.signal('SIGTERM')
  await host.exit
  const after = await recordsOf(copy)
  for (const flip of flips) {
    const { kind, key } = flip
    const row = rows.get(kind) ?? { counts: zeros() }
    rows.set(kind, row)
    const { counts } = row
    const said = host.stderr.includes(JSON.stringify(JSON.stringify(key)).slice(1, -1))
    const isMore = kind === permissionKind ? wrong.length > 0 : await grantsMore(key, before, after)
    counts.flips++
    if (flip.isKey) counts['in the key']++
    if (address) counts.started++
    if (said) counts.said++
    if (after.has(`damaged/${key}`)) counts['set aside']++
    else if (said) counts['right again']++
    else counts.unread++
    if (!isMore) continue
    counts['grants more']++
    tally.problem(
      `L60: a flipped bit of ${kind} permits more: ${key} is now ${after.get(key)} ${wrong.join()}`,
    )
  }
  tally.outcome('records: a store with a flipped bit in a record of each kind')
  rmSync(copy, { recursive: true })
}

/** What a client sees that the person who runs the host has not permitted. */
async function shownWrong(
  { tally, session }: FlipContext,
  address: Address,
  at: number,
): Promise<readonly string[]> {
  const wrong: string[] = []
  const folder = join(tally.folder, 'hurt-records')
  const client = new Client(folder, `reader-${at}`)
  await client.connect(address)
  await client.subscribe(session)
  const shown = client.shown.get(session) as
    | { config?: { values?: { [permissionsKey]?: unknown[] } } }
    | undefined
  for (const given of shown?.config?.values?.[permissionsKey] ?? [])
    if (JSON.stringify(given) !== JSON.stringify(permission))
      wrong.push(`permission ${JSON.stringify(given)}`)
  client.cut()
  client.flush()
  // A device with the role `watch` may change nothing.
  const device = new Client(folder, `device-${at}`)
  const connected = await device.connect({ ...address, token: deviceSecret }).then(
    () => true,
    () => false,
  )
  if (connected) {
    device.dispatch(rootUri, { type: 'root/configChanged', config: { 'chaos.device': 1 } } as {
      type: string
    })
    await device.until(() => device.answers.length > 0)
    if (device.answers[0]?.rejectionReason === undefined) wrong.push('the device may change the config')
  }
  device.cut()
  device.flush()
  return wrong
}

function zeros(): Row['counts'] {
  // `fromEntries` does not keep the names of the keys: hence the cast.
  return Object.fromEntries(columns.map((column) => [column, 0])) as Row['counts']
}

function tableOf(rows: ReadonlyMap<string, Row>): string {
  const line = (name: string, cells: readonly (string | number)[]) =>
    `${name.padEnd(24)}${cells.map((cell) => String(cell).padStart(12)).join('')}`
  const body = [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return [
    line('flipped bits by kind', columns),
    ...body.map(([kind, { counts }]) =>
      line(
        kind,
        columns.map((column) => counts[column]),
      ),
    ),
  ].join('\n')
}
