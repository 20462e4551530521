import type { Action } from '@atrium/protocol/channel'
import { Client } from '../client.ts'
import type { Chance } from './chance.ts'
import { patiently } from './patience.ts'
import type { Town } from './town.ts'

const piece = 'x'.repeat(20_000)
/** More than the kernel holds for a socket and the host for a reader. */
const pieces = 800
const atOnce = 40

/** Readers that stop reading, and what is said meanwhile. Each time in a room of its own, too large for a replay. */
export async function slowReaders(town: Town, chance: Chance): Promise<void> {
  for (let turn = 1; !town.over; turn++) {
    await patiently('a slow reader', standStill(town, turn)).catch((error: unknown) =>
      town.problem(`slow reader: ${String(error)}`),
    )
    await chance.pause(3000, 8000)
  }
}

/** Stops reading while others speak; is cut off; comes back and has everything. */
export async function standStill(town: Town, turn: number): Promise<void> {
  const [reader, writer] = [new Client(`slow-${turn}`), new Client(`loud-${turn}`)]
  const uri = `ahp-session:/slow-${turn}`
  await Promise.all([reader.initialize(town.place), writer.initialize(town.place)])
  await writer.ask('createSession', { channel: uri })
  await Promise.all([reader.subscribe(uri), writer.subscribe(uri)])
  reader.pause()
  for (let said = 0; said < pieces; said += atOnce)
    await Promise.all(Array.from({ length: atOnce }, (_, i) => writer.dispatch(uri, loud(writer, said + i))))
  reader.unpause()
  const read = reader.ask('ping', {}).then(
    () => 0,
    () => reader.ended,
  )
  const code = await read
  // 1006: it did not read the goodbye either, and was let go without it.
  if (code === 1013 || code === 1006) town.done.slow++
  else town.problem(`a reader that stood still: ${code}`)
  await reader.reconnect(town.place)
  await reader.compare(uri)
  town.problem(...reader.problems, ...writer.problems)
  await writer.ask('disposeSession', { channel: uri })
  await Promise.all([reader.leave(), writer.leave()])
}

function loud({ clientId }: Client, index: number): Action {
  const displayName = `${index} ${piece}`
  return { type: 'session/activeClientSet', activeClient: { clientId, displayName, tools: [] } } as Action
}
