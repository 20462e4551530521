import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { needsGit } from '../../../adapters/test/repository.ts'
import { clientOf, say, sessionOf } from '../../test/client.ts'
import { atrium } from '../../test/command.ts'
import { HostProcess } from '../../test/host-process.ts'

needsGit()

test.each([
  [false, false],
  [{ sessionMb: 1 }, true],
])(
  '[O27] [O27.2] with the setting captures: %j the changes of a turn are kept: %j',
  async (captures, kept) => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-captures-')))
    mkdirSync(join(home, '.config/atrium'), { recursive: true })
    writeFileSync(join(home, '.config/atrium/config.json'), JSON.stringify({ captures }))
    const work = join(home, 'work')
    mkdirSync(work)
    const host = await HostProcess.start(home)
    onTestFinished(() => host.kill())
    const client = clientOf(host)
    onTestFinished(() => client.close())
    await say(await sessionOf(client, 'setting', work), 'say hello')
    const { stderr } = await atrium(home, ['diff', 'setting'])
    expect(stderr).toContain(kept ? 'There are no changes.' : 'the host does not record changes')
    expect(existsSync(join(home, 'data/captures'))).toBe(kept)
  },
)
