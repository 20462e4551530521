import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loremText } from '@atrium/adapters/guide/words'
import { defaultChatUri } from '@atrium/protocol/uri'
import { start } from '../child.ts'
import type { Child } from '../child.ts'
import { Wire, masked } from '../wire.ts'
import { initialize, turnStarted } from './chat.ts'

/** A temporary data folder that several hosts use, one after the other. */
export class DataFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'atrium-bench-'))

  /** Starts a host on the folder. The host has no session loaded yet. */
  start(): Promise<Child> {
    return start('host-child', [], ['guide', `data=${this.path}`])
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** Creates a session and runs `turns` turns with the built-in agent. Each turn has about 2 KB. */
export async function makeSession(child: Child, session: string, turns: number): Promise<void> {
  const wire = await initialize(await Wire.open(child.port), session)
  await wire.ask('createSession', { channel: session, provider: 'guide' })
  await wire.ask('subscribe', { channel: defaultChatUri(session), view: { turns: 1 } })
  let ended = 0
  wire.onFrame = (data, from, to) => {
    const at = data.indexOf('"chat/turnComplete"', from)
    if (at >= 0 && at < to) ended++
  }
  for (let turn = 0; turn < turns; turn++) {
    wire.write(masked(turnStarted(session, turn + 1, `say ${turn} ${paragraph}`)))
    await wire.until(() => ended > turn)
  }
  wire.close()
}

/** A kilobyte of text that the agent repeats. Hyphens join its words, because the agent sends one action per word. */
const paragraph = loremText(175).replaceAll(/(\S+) (\S+) (\S+) (\S+) /g, '$1-$2-$3-$4 ')
