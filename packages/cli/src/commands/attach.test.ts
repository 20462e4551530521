import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guestOf, say, sessionOf } from '../../test/guest.ts'
import { House } from '../../test/house.ts'
import { running } from '../../test/running.ts'

const house = new House()
beforeAll(() => house.open())
afterAll(() => house.close())

describe('[Z8] attach without a terminal', () => {
  test('what was said is printed, and it ends when nothing more can come in and nothing goes on', async () => {
    expect(await house.run(['attach'])).toMatchObject({
      status: 4,
      stderr: expect.stringContaining('atrium run'),
    })
    await house.run(['run', 'say one'])
    await house.run(['run', 'say two', '--session', 'last'])
    expect(await house.run(['attach'])).toEqual({
      status: 0,
      stdout: 'one\ntwo\n',
      stderr: '\n› say one\n\n› say two\n',
    })
    expect(await house.run(['attach', '--turns', '1', '-q'])).toEqual({
      status: 0,
      stdout: 'two\n',
      stderr: '',
    })
    expect(await house.run(['attach', '--turns', 'all'])).toMatchObject({ status: 2 })
    expect(await house.run(['attach', 'nope'])).toMatchObject({ status: 4, stdout: '' })
  })

  test('lines that come in are said, and followed to the end', async () => {
    const { status, stdout } = await house.run(['attach', '--turns', '0'], {
      input: 'slow 2\nsay steered\n\n',
    })
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'atrium and\nsteered\n' })
  })

  test('a session that is disposed of ends it, with 4', async () => {
    const guest = guestOf(house.life)
    const chat = await sessionOf(guest, 'short-lived', house.work)
    await say(chat, 'write x y')
    const follower = running(house.home, ['attach', 'short-lived'])
    await follower.said('? Write `x`')
    await guest.ask('disposeSession', { channel: 'ahp-session:/short-lived' })
    expect(await follower.ended).toMatchObject({ status: 4, stderr: expect.stringContaining('was removed') })
    guest.close()
  })

  test('--json is what happens, one document a line', async () => {
    const { stdout } = await house.run(['attach', '--json', '--turns', '0'], { input: 'say hello\n' })
    const types = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type)
    expect(types).toEqual(['turnStarted', 'text', 'turnEnded'])
  })
})
