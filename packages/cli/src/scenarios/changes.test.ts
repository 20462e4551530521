import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@atrium/client/client'
import type { Subscription } from '@atrium/client/sync/handle'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { clientOf, say, sessionOf } from '../../test/client.ts'
import { atrium, documents } from '../../test/command.ts'
import { HostProcess } from '../../test/host-process.ts'

const hasGit = !spawnSync('git', ['--version']).error
let home = ''
let work = ''
let host: HostProcess
let client: Client
let chat: Subscription<'chat'>
beforeAll(async () => {
  if (!hasGit) return
  home = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-changes-')))
  work = join(home, 'work')
  mkdirSync(work)
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: work, env: { PATH: process.env['PATH'], HOME: home } })
  git('init', '-q')
  writeFileSync(join(work, 'a.txt'), 'one\ntwo\nthree\n')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'first')
  // A host that was killed while it wrote a file has left this.
  mkdirSync(join(home, 'data', 'unfinished'), { recursive: true, mode: 0o700 })
  writeFileSync(join(home, 'data', 'unfinished', unfinished), join(work, unfinished))
  writeFileSync(join(work, unfinished), 'a part of it')
  host = await HostProcess.start(home)
  client = clientOf(host)
  chat = await sessionOf(client, 'changes', work)
  await approved('write b.txt hello')
  await approved('edit a.txt two => 2')
})
afterAll(async () => {
  if (!hasGit) return
  client.close()
  await host.kill()
})

describe.sequential('[Z35] [Z36] changes of a session', () => {
  beforeEach(({ skip }) => skip(!hasGit, 'no git'))

  test('[E4] the temporary file of a host that was killed is gone after the start', () => {
    expect([
      existsSync(join(work, unfinished)),
      existsSync(join(home, 'data', 'unfinished', unfinished)),
    ]).toEqual([false, false])
  })

  test('diff shows the session, a turn, and the uncommitted files', async () => {
    const all = await atrium(home, ['diff', 'changes'])
    expect(all.stdout).toBe(
      [
        '  ─── a.txt (changed)',
        '    one',
        '  - two',
        '  + 2',
        '    three',
        '  ─── b.txt (new file)',
        '  + hello',
        '',
      ].join('\n'),
    )
    expect((await atrium(home, ['diff', 'changes', '--turn', '1'])).stdout).toBe(
      '  ─── b.txt (new file)\n  + hello\n',
    )
    expect((await atrium(home, ['diff', 'changes', '--turn', '-1', '--stat'])).stdout).toBe(
      '  a.txt  +1 -1\n',
    )
    const { stdout } = await atrium(home, ['diff', 'changes', '--uncommitted', '--json'])
    expect(documents(stdout)).toMatchObject([
      { path: 'a.txt', diff: { added: 1, removed: 1 }, reviewed: false },
      { path: 'b.txt', diff: { added: 1 } },
    ])
  })

  test.each([
    [['diff', 'changes', '--turn', '9'], 1, 'This chat has no such turn'],
    [['diff', 'changes', '--turn', 'x'], 2, "'x' is not the number of a turn"],
    [['diff', 'changes', '--turn', '1', '--branch'], 2, 'exclude each other'],
    [['undo', 'changes', 'none.txt'], 2, "The turn did not change 'none.txt'; it changed: a.txt."],
    [['undo', 'changes', '--redo'], 1, 'There is no file that this can change now.'],
  ])('%j is refused', async (args, code, words) => {
    const { status, stderr } = await atrium(home, args)
    expect([status, stderr]).toEqual([code, expect.stringContaining(words)])
  })

  test('[Z36] [O33.5] undo says what it does, sets files back, and redo brings them back', async () => {
    const dry = await atrium(home, ['undo', 'changes', '--dry-run'])
    expect([dry.status, dry.stderr, text('a.txt')]).toEqual([
      0,
      'Set back to before the turn: a.txt.\n',
      'one\n2\nthree\n',
    ])
    expect((await atrium(home, ['undo', 'changes'])).status).toBe(0)
    expect(text('a.txt')).toBe('one\ntwo\nthree\n')
    expect((await atrium(home, ['undo', 'changes', '--redo'])).status).toBe(0)
    expect(text('a.txt')).toBe('one\n2\nthree\n')
    expect((await atrium(home, ['undo', 'changes', 'b.txt', '--turn', '1'])).status).toBe(0)
    expect(existsSync(join(work, 'b.txt'))).toBe(false)
  })

  test('[Z36.1] [Z36.2] [O37] a file that a person has changed since the turn stays', async () => {
    appendFileSync(join(work, 'a.txt'), 'by a person\n')
    const { status, stderr } = await atrium(home, ['undo', 'changes'])
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(
        /others may have changed these files, too: a\.txt\..* atrium undo changes --copy/,
      ),
    ])
    expect(text('a.txt')).toBe('one\n2\nthree\nby a person\n')
    // The commands are about the same turn and the same file as the one that was refused.
    const named = await atrium(home, ['undo', 'changes', 'a.txt', '--turn', '-1'])
    expect([named.status, named.stderr]).toEqual([
      1,
      expect.stringContaining('atrium undo changes a.txt --turn -1 --copy'),
    ])
  })

  test('[Z36.1] [O38] the three choices for a file that others changed are flags: for all such files, or for named ones', async () => {
    const both = await atrium(home, ['undo', 'changes', '--copy', '--force'])
    expect([both.status, both.stderr]).toEqual([2, expect.stringContaining('exclude each other')])
    const dry = await atrium(home, ['undo', 'changes', '--copy', '--dry-run'])
    expect([dry.status, dry.stderr]).toEqual([0, 'Set back, each with a copy beside it: a.txt.\n'])
    const copied = await atrium(home, ['undo', 'changes', 'a.txt', '--copy'])
    expect([copied.status, copied.stderr]).toEqual([0, expect.stringContaining('a.txt.before-undo')])
    expect([text('a.txt'), text('a.txt.before-undo')]).toEqual([
      'one\ntwo\nthree\n',
      'one\n2\nthree\nby a person\n',
    ])
    writeFileSync(join(work, 'a.txt'), 'by a person\n')
    expect((await atrium(home, ['undo', 'changes', '--force'])).status).toBe(0)
    expect(text('a.txt')).toBe('one\ntwo\nthree\n')
    writeFileSync(join(work, 'a.txt'), 'one\n2\nthree\nby a person\n')
    expect((await atrium(home, ['undo', 'changes', '--keep'])).status).toBe(0)
    const again = await atrium(home, ['undo', 'changes'])
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('Nothing is left to set back')])
    rmSync(join(work, 'a.txt.before-undo'))
  })

  test('[O37] [O38] what changed while a command ran stays, and is set back with a copy if it is chosen', async () => {
    const before = text('a.txt')
    await approved('run echo more >> a.txt')
    const refused = await atrium(home, ['undo', 'changes'])
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining("a.txt changed while `echo more >> a.txt` ran; it may be a person's work."),
    ])
    expect((await atrium(home, ['undo', 'changes', '--force'])).status).toBe(0)
    expect([text('a.txt'), text('a.txt.before-undo')]).toEqual([before, `${before}more\n`])
    expect((await atrium(home, ['undo', 'changes', '--redo'])).status).toBe(0)
    rmSync(join(work, 'a.txt.before-undo'))
    writeFileSync(join(work, 'a.txt'), before)
  })

  test('[O37.2] [O38.6] [O17] [O38] a file whose name is no UTF-8 is named by diff and undo, and left', async () => {
    await approved("run printf x > caf$(printf '\\351').txt && echo own > own.txt")
    const said = 'Its name is not valid UTF-8, so it can be neither shown nor set back.'
    const { stdout } = await atrium(home, ['diff', 'changes', '--turn', '-1'])
    expect(stdout).toContain(`  caf\\xe9.txt (not shown: ${said})\n`)
    const undone = await atrium(home, ['undo', 'changes', '--force'])
    expect([undone.status, existsSync(join(work, 'own.txt'))]).toEqual([0, false])
    const again = await atrium(home, ['undo', 'changes'])
    expect([again.status, again.stderr]).toEqual([
      1,
      expect.stringContaining(
        `Nothing is left to set back in this turn. 1 file is left, because not recorded: caf\\xe9.txt. ${said}`,
      ),
    ])
    const names = readdirSync(work, { encoding: 'buffer' }).map((name) => name.toString('latin1'))
    expect(names).toContain('caf\xe9.txt')
    rmSync(Buffer.concat([Buffer.from(`${work}/`), Buffer.from('caf\xe9.txt', 'latin1')]))
    rmSync(join(work, 'own.txt.before-undo'))
  })

  test('[Z37] commit commits named files, and says what it cannot do', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', args, {
        cwd: work,
        env: { PATH: process.env['PATH'], HOME: home },
        encoding: 'utf8',
      }).trim()
    writeFileSync(join(work, 'c.txt'), 'new\n')
    const commit = (...args: readonly string[]) => atrium(home, ['commit', 'changes', ...args])
    expect(await commit('c.txt')).toMatchObject({ status: 2, stderr: expect.stringContaining('-m') })
    expect(await commit('none.txt', '-m', 'x')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/the changeset does not show "file:.*none\.txt"/),
    })
    expect(await commit('-m', 'x')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Set user.name and user.email'),
    })
    git('config', 'user.name', 'Ann')
    git('config', 'user.email', 'ann@example.org')
    const made = await commit('c.txt', '-m', 'Add c')
    expect([made.status, made.stdout + made.stderr]).toEqual([
      0,
      expect.stringMatching(/^1 file was committed on \w+ as [\da-f]{10}\.\n$/),
    ])
    expect([git('log', '-1', '--format=%an: %s'), git('status', '--porcelain')]).toEqual([
      'Ann: Add c',
      'M a.txt',
    ])
    const all = await commit('-m', 'The rest', '--json')
    expect(documents(all.stdout)).toMatchObject([
      { commits: [{ files: [expect.stringContaining('a.txt')] }] },
    ])
    expect((await commit('-m', 'x')).stderr).toContain('There is nothing to commit.')
  })
})

const unfinished = '.atrium-00112233445566aa.tmp'

function text(path: string): string {
  return readFileSync(join(work, path), 'utf8')
}

/** Runs a turn, and approves what it asks for. */
async function approved(message: string): Promise<void> {
  const turnId = await say(chat, message)
  for (const part of chat.state?.activeTurn?.responseParts ?? [])
    if (part.kind === 'toolCall' && part.toolCall.status === 'pending-confirmation') {
      const { toolCallId } = part.toolCall
      await chat.dispatch({
        type: 'chat/toolCallConfirmed',
        turnId,
        toolCallId,
        approved: true,
        confirmed: 'user-action',
      })
    }
  await chat.until(({ activeTurn }) => activeTurn === undefined)
}
