import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { documents } from '../../../test/command.ts'
import { CliFixture } from '../../../test/fixture.ts'

const fixture = new CliFixture()
beforeAll(async () => {
  await fixture.open()
  await fixture.run(['run', 'say the quick brown fox'])
  await fixture.run(['run', 'say a lazy dog'])
})
afterAll(() => fixture.close())

/** Searches until the index has everything. It is fed in the background. */
async function found(args: readonly string[]): Promise<readonly object[]> {
  for (;;) {
    const { stderr, status } = await fixture.run(['search', ...args])
    expect(status, stderr).toBe(0)
    if (!stderr.includes('not indexed yet')) return json(args)
  }
}

async function json(args: readonly string[]): Promise<readonly object[]> {
  return documents((await fixture.run(['search', ...args, '--json'])).stdout)
}

describe('[Z50] search', () => {
  test('finds words, phrases and prefixes of all sessions, the newest first', async () => {
    expect(await found(['fox', 'quick'])).toMatchObject([
      { who: 'agent', excerpt: { text: 'the quick brown fox' } },
      { who: 'user', excerpt: { text: 'say the quick brown fox' } },
      { who: 'title', title: 'say the quick brown fox' },
    ])
    expect(await found(['lazy dog'])).toHaveLength(3)
    expect(await found(['dog lazy'])).toEqual([])
    expect(await found(['"laz"*', 'do*'])).toHaveLength(3)
    expect(await found(['say', '-n', '1'])).toMatchObject([{ excerpt: { text: 'say a lazy dog' } }])
  })

  test('[Z50.1] shows the session, the time, the author, the title and the words', async () => {
    await found(['fox'])
    const { stdout, stderr } = await fixture.run(['search', 'fox', '-n', '2'], { env: { FORCE_COLOR: '1' } })
    const plain = stdout.replaceAll(/\u001b\[\d+m/g, '')
    expect(plain).toMatch(
      /^[\da-f]{8} {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}agent {2}say the quick brown fox\n {4}the quick brown fox\n/,
    )
    expect(stdout).toContain('\u001b[33mfox\u001b[39m')
    expect(stderr).toBe('There is more: show it with -n 10.\n')
  })

  test('[Z50.2] a message is shown once, though the title was made from it; --json has all that was found', async () => {
    expect(await found(['fox'])).toHaveLength(3)
    const { stdout } = await fixture.run(['search', 'fox'])
    expect(stdout.match(/  (agent|you|title)  /g)).toEqual(['  agent  ', '  you  '])
  })

  test('folder, agent and time narrow a search', async () => {
    expect(await found(['fox', '--folder', '.'])).toHaveLength(3)
    expect(await found(['fox', '--folder', fixture.home])).toHaveLength(3)
    expect(await found(['fox', '--folder', join(fixture.work, 'other')])).toEqual([])
    expect(await found(['fox', '--agent', 'guide', '--since', '1h'])).toHaveLength(3)
    expect(await found(['fox', '--agent', 'other'])).toEqual([])
    expect(await found(['fox', '--since', '2999-01-01'])).toEqual([])
  })

  test('[Z50.3] says that nothing was found, and succeeds; so does any other text', async () => {
    await found(['fox'])
    expect(await fixture.run(['search', 'unicorn'])).toEqual({
      status: 0,
      stdout: '',
      stderr: 'Nothing was found.\n',
    })
    for (const odd of ['"', '***', '(a OR', "x' --", '🙂'])
      expect(await fixture.run(['search', '--json', '--', odd])).toMatchObject({ status: 0, stdout: '' })
  })

  test.each([
    [[], 'Name at least one word'],
    [['x', '--since', 'soon'], "'soon'"],
    [['x', '--since', '-1d'], "'-1d'"],
    [['x', '-n', '0'], "'0'"],
  ])('%j is refused', async (args, problem) => {
    expect(await fixture.run(['search', ...args])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(problem),
    })
  })

  test('a query that is too long is refused with a sentence', async () => {
    const { status, stderr } = await fixture.run(['search', 'x'.repeat(1001)])
    expect([status, stderr]).toEqual([1, 'atrium: The query is longer than 1000 characters.\n'])
  })

  test('--rebuild builds the index again', async () => {
    await found(['fox'])
    expect(await fixture.run(['search', '--rebuild'])).toEqual({
      status: 0,
      stdout: '',
      stderr: 'The search index is built again, in the background.\n',
    })
    expect(await found(['fox'])).toHaveLength(3)
    expect(statSync(join(fixture.home, 'data', 'search.db')).mode & 0o777).toBe(0o600)
  })
})
