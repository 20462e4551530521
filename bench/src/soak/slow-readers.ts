import type { Action } from '@atrium/protocol/channel'
import { Client } from '../client.ts'
import type { RandomChoices } from './random-choices.ts'
import { withTimeout } from './timeout.ts'
import type { SoakRun } from './soak-run.ts'

const payload = 'x'.repeat(20_000)
/**
 * The number of actions that a slow reader misses. Together they are larger than the kernel's buffers of a socket
 * plus the host's buffer for a client.
 */
const actionCount = 800
const atOnce = 40

/**
 * Runs clients that stop reading, each in its own session. They miss more than a replay may hold, so the host sends
 * them a snapshot when they reconnect.
 */
export async function slowReaders(run: SoakRun, random: RandomChoices): Promise<void> {
  for (let turn = 1; !run.over; turn++) {
    await withTimeout('a slow reader', stopReading(run, turn)).catch((error: unknown) =>
      run.problem(`slow reader: ${String(error)}`),
    )
    await random.pause(3000, 8000)
  }
}

/**
 * One client stops reading while another dispatches. The host must disconnect the first client, which must get
 * everything after a reconnect.
 */
export async function stopReading(run: SoakRun, turn: number): Promise<void> {
  const [reader, writer] = [new Client(`slow-${turn}`), new Client(`writer-${turn}`)]
  const uri = `ahp-session:/slow-${turn}`
  await Promise.all([reader.initialize(run.endpoint), writer.initialize(run.endpoint)])
  await writer.ask('createSession', { channel: uri })
  await Promise.all([reader.subscribe(uri), writer.subscribe(uri)])
  reader.pause()
  for (let sent = 0; sent < actionCount; sent += atOnce)
    await Promise.all(
      Array.from({ length: atOnce }, (_, i) => writer.dispatch(uri, largeAction(writer, sent + i))),
    )
  reader.unpause()
  const read = reader.ask('ping', {}).then(
    () => 0,
    () => reader.ended,
  )
  const code = await read
  // The code is 1006 if the host dropped the connection because the client did not read the close frame either.
  if (code === 1013 || code === 1006) run.counts.stalls++
  else run.problem(`a client that stopped reading was closed with ${code}`)
  await reader.reconnect(run.endpoint)
  await reader.compare(uri)
  run.problem(...reader.problems, ...writer.problems)
  await writer.ask('disposeSession', { channel: uri })
  await Promise.all([reader.leave(), writer.leave()])
}

function largeAction({ clientId }: Client, index: number): Action {
  const displayName = `${index} ${payload}`
  return { type: 'session/activeClientSet', activeClient: { clientId, displayName, tools: [] } } as Action
}
