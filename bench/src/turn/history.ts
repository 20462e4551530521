import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loremText } from '@atrium/adapters/guide/words'
import { defaultChatUri } from '@atrium/protocol/uri'
import { start } from '../child.ts'
import type { Child } from '../child.ts'
import { Wire, masked } from '../wire.ts'
import { greet, turnStarted } from './chat.ts'

/** A data folder that outlives its hosts. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'atrium-bench-'))

  /** The next life of the host: all sessions are asleep. */
  start(): Promise<Child> {
    return start('host-child', [], ['guide', `data=${this.path}`])
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** A session whose chat has so many turns of about 2 KB, said by the agent and stored by the host. */
export async function makeSession(child: Child, session: string, turns: number): Promise<void> {
  const wire = await greet(await Wire.open(child.port), session)
  await wire.ask('createSession', { channel: session, provider: 'guide' })
  await wire.ask('subscribe', { channel: defaultChatUri(session), view: { turns: 1 } })
  let ended = 0
  wire.heard = (data, from, to) => {
    const at = data.indexOf('"chat/turnComplete"', from)
    if (at >= 0 && at < to) ended++
  }
  for (let turn = 0; turn < turns; turn++) {
    wire.write(masked(turnStarted(session, turn + 1, `say ${turn} ${paragraph}`)))
    await wire.until(() => ended > turn)
  }
  wire.close()
}

/** A kilobyte that is asked for and said back; few words of it, because their number is not what is measured here. */
const paragraph = loremText(175).replaceAll(/(\S+) (\S+) (\S+) (\S+) /g, '$1-$2-$3-$4 ')
