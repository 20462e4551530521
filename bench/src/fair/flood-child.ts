import { constants, setPriority } from 'node:os'
import { titleChange } from './fair.ts'
import { Wire, masked } from '../wire.ts'

// Opens connections that send actions as fast as the host takes them, each to a session of its own. Arguments: the
// port, the number of connections.
const [port = '', count = ''] = process.argv.slice(2)
const chunk = 100
/** The number of echoes after which the host's code is compiled. */
const warmUp = 20_000
// The clients of a real flood have machines of their own. Here the flood must not take the processor from the client that is
// measured.
setPriority(constants.priority.PRIORITY_LOW)

async function open(index: number): Promise<void> {
  const wire = await Wire.open(Number(port))
  const name = `flood-${process.pid}-${index}`
  const channel = `ahp-session:/${name}`
  await wire.ask('initialize', { channel: 'ahp-root://', protocolVersions: ['1.0.0'], clientId: name })
  await wire.ask('createSession', { channel })
  await wire.ask('subscribe', { channel })
  wire.onFrame = () => void echoes++
  let clientSeq = 0
  const flood = (): void => {
    if (wire.closed) return
    const frames = Array.from({ length: chunk }, () => masked(titleChange(channel, ++clientSeq)))
    wire.write(Buffer.concat(frames), () => setImmediate(flood))
  }
  flood()
  // A link that is closed because it sent too much comes back as another client.
  wire.onClose = () => void open(++opened)
}

let echoes = 0
let opened = Number(count)
await Promise.all(Array.from({ length: opened }, (_, index) => open(index)))
while (echoes < warmUp) await new Promise((resolve) => setTimeout(resolve, 100))
process.on('message', () => process.send?.(echoes))
process.send?.('flooding')
