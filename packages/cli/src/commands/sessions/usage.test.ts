import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientOf, say, sessionOf } from '../../../test/client.ts'
import { documents } from '../../../test/command.ts'
import { CliFixture } from '../../../test/fixture.ts'

const fixture = new CliFixture()
beforeAll(() => fixture.open())
afterAll(() => fixture.close())

describe('[Z41] usage', () => {
  test('counts the turns of the last days by day, agent and folder; a forked turn once', async () => {
    const empty = await fixture.run(['usage'])
    expect(empty).toEqual({ status: 0, stdout: '', stderr: 'No turn began in the last 30 days.\n' })
    for (const prompt of ['say one two three', 'say four']) await fixture.run(['run', prompt])
    await fixture.run(['fork', 'last'])
    const [used, ...others] = documents((await fixture.run(['usage', '--by', 'agent', '--json'])).stdout)
    expect(others).toEqual([])
    expect(used).toEqual({
      agent: 'guide',
      turns: 2,
      inputTokens: 6,
      outputTokens: 4,
      cacheReadTokens: 0,
      cost: {},
    })
    const { stdout } = await fixture.run(['usage', '--by', 'folder'])
    expect(stdout.split('\n').map((line) => line.split(/\s{2,}/))).toEqual([
      ['FOLDER', 'TURNS', 'INPUT', 'OUTPUT', 'CACHED', 'COST'],
      [fixture.work, '2', '6', '4', '0', '-'],
      ['total', '2', '6', '4', '0', '-'],
      [''],
    ])
    expect((await fixture.run(['usage', '--days', '2'])).stdout).toMatch(/\ntotal +2 /)
  })

  test('turns of different sessions are counted even if clients gave them the same id', async () => {
    const client = clientOf(fixture.host)
    const turnsOf = async () => {
      const [used] = documents((await fixture.run(['usage', '--by', 'agent', '--json'])).stdout)
      return Number(used?.['turns'] ?? 0)
    }
    const before = await turnsOf()
    for (const name of ['one', 'two']) await say(await sessionOf(client, name), 'say hello', 'turn-1')
    expect(await turnsOf()).toBe(before + 2)
    client.close()
  })

  test.each([
    ['--by', 'moon'],
    ['--days', '0'],
    ['--days', 'x'],
  ])('%s %s is refused', async (flag, value) => {
    expect(await fixture.run(['usage', flag, value])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`'${value}'`),
    })
  })
})
