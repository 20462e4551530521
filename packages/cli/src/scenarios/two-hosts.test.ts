import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Subscription } from '@atrium/client/sync/handle'
import { newId } from '@atrium/client/shared/globals'
import { expect, onTestFinished, test } from 'vitest'
import { needsGit } from '../../../adapters/test/repository.ts'
import { clientOf, isInputNeeded, sessionOf } from '../../test/client.ts'
import { atrium } from '../../test/command.ts'
import { HostProcess } from '../../test/host-process.ts'

needsGit()

interface Started {
  readonly host: HostProcess
  readonly chat: Subscription<'chat'>
  readonly home: string
  readonly data: string
}

const folder = () => realpathSync(mkdtempSync(join(tmpdir(), 'atrium-two-hosts-')))

/** Starts a host with a session in a folder. */
async function started(home: string, data: string, work: string): Promise<Started> {
  const host = await HostProcess.start(home, undefined, undefined, ['--data', data])
  onTestFinished(() => host.kill())
  const client = clientOf(host)
  onTestFinished(() => client.close())
  return { host, home, data, chat: await sessionOf(client, 'two', work) }
}

/** Starts a turn, and approves what it asks for. Resolves when the call runs, or has ended. */
async function begun({ chat }: Started, text: string): Promise<void> {
  const message = { text, origin: { kind: 'user' } } as const
  const turnId = newId()
  await chat.dispatch({ type: 'chat/turnStarted', turnId, startedAt: new Date().toISOString(), message })
  const { activeTurn } = await chat.until(({ status }) => isInputNeeded(status))
  for (const part of activeTurn?.responseParts ?? [])
    if (part.kind === 'toolCall')
      await chat.dispatch({
        type: 'chat/toolCallConfirmed',
        turnId,
        toolCallId: part.toolCall.toolCallId,
        approved: true,
        confirmed: 'user-action',
      })
}

const ended = ({ chat }: Started) => chat.until(({ activeTurn }) => activeTurn === undefined)
const undo = ({ home, data }: Started, ...flags: readonly string[]) =>
  atrium(home, ['undo', 'two', ...flags], { env: { ATRIUM_HOME: data } })

/** Two hosts in one folder. `waits` is a command that runs until `release` is called. */
async function twoHosts(inRepository: boolean) {
  const work = folder()
  const [first, second] = [folder(), folder()]
  const go = join(first, 'go')
  if (inRepository) execFileSync('git', ['init', '-q'], { cwd: work })
  const one = await started(first, join(first, 'data'), work)
  // Without a repository, the hosts know each other by the home that they share.
  const other = inRepository ? second : first
  const two = await started(other, join(other, 'data-2'), work)
  const file = (path: string) =>
    existsSync(join(work, path)) ? readFileSync(join(work, path), 'utf8') : undefined
  const waits = `run while [ ! -e ${go} ]; do sleep 0.05; done`
  return { one, two, work, file, waits, release: () => writeFileSync(go, '') }
}

test.each([
  ['repository', true],
  ['folder without a repository', false],
])(
  '[O60] an undo leaves what a host in the same %s wrote during the turn, and names it',
  async (_, inRepository) => {
    const { one, two, work, file, waits, release } = await twoHosts(inRepository)
    await begun(one, 'write own.txt own')
    await ended(one)
    await begun(one, waits)
    await begun(two, 'write theirs.txt theirs')
    await ended(two)
    release()
    await ended(one)
    const { status, stderr } = await undo(one)
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(
        'others may have changed these files, too: theirs.txt. A turn of another host was active in the folder at the same time.',
      ),
    ])
    expect(file('theirs.txt')).toBe('theirs')
    expect((await undo(one, '--turn', '-2')).status).toBe(0)
    expect([file('own.txt'), file('theirs.txt')]).toEqual([undefined, 'theirs'])
    // The other host takes its own work back: the turn of the first one has ended.
    if (!inRepository) return
    expect(execFileSync('git', ['status', '--porcelain'], { cwd: work, encoding: 'utf8' })).toBe(
      '?? theirs.txt\n',
    )
  },
)

test('[O60] a host that was killed during a turn keeps nobody from an undo', async () => {
  const { one, two, file, waits } = await twoHosts(true)
  mkdirSync(join(two.home, 'never'), { recursive: true })
  await begun(two, waits)
  await two.host.kill()
  await begun(one, 'write own.txt own')
  await ended(one)
  expect((await undo(one)).status).toBe(0)
  expect(file('own.txt')).toBeUndefined()
})
