import { defaultChatUri } from '@atrium/protocol/uri'
import { median } from '../percentiles.ts'
import { check, fact } from '../table.ts'
import { Wire } from '../wire.ts'
import { initialize } from './chat.ts'
import { DataFolder, makeSession } from './data-folder.ts'

// The host stores the state of a chat every 1,000 actions. To open a chat, it reads the last stored state and the
// actions after it. With these numbers of turns, both chats have equally many actions to read.
const [few, many] = [50, 2050]
const rounds = 21

/**
 * Opening a long chat must take as long as opening a short one, because the host sends only the newest turns and a
 * cursor. Each measurement starts a new host.
 */
export async function openTable(): Promise<boolean> {
  console.log(`\nopen: the newest ${few} turns of a chat that is not loaded, of about 2 KB each`)
  const folder = new DataFolder()
  const maker = await folder.start()
  await makeSession(maker, session('warm'), few)
  await makeSession(maker, session('few'), few)
  await makeSession(maker, session('many'), many)
  await maker.stop()
  const times = { few: [] as number[], many: [] as number[] }
  for (let round = 0; round < rounds; round++)
    for (const which of ['few', 'many'] as const) times[which].push(await timeToOpen(folder, which))
  folder.remove()
  const [short, long] = [median(times.few), median(times.many)]
  fact(`a chat of ${few} turns`, `${short.toFixed(1)} ms`)
  fact(`a chat of ${many} turns`, `${long.toFixed(1)} ms`)
  const ratio = long / short
  return check(`${many} turns, relative to ${few}`, `${ratio.toFixed(2)}x  goal at most 2x`, ratio <= 2)
}

async function timeToOpen(folder: DataFolder, which: 'few' | 'many'): Promise<number> {
  const child = await folder.start()
  const wire = await initialize(await Wire.open(child.port), 'opener')
  // Warm-up with another chat: the host loads some code only once, which is not part of the cost of opening a chat.
  await open(wire, 'warm')
  const began = performance.now()
  const answer = await open(wire, which)
  const took = performance.now() - began
  const { turns } = (JSON.parse(answer) as Answer).result.snapshot.state
  if (turns.length !== few) throw new Error(`expected ${few} turns, got ${turns.length}`)
  wire.close()
  await child.stop()
  return took
}

function open(wire: Wire, which: string): Promise<string> {
  return wire.ask('subscribe', { channel: defaultChatUri(session(which)), view: { turns: few } })
}

interface Answer {
  readonly result: { readonly snapshot: { readonly state: { readonly turns: readonly unknown[] } } }
}

const session = (which: string) => `ahp-session:/open-${which}`
