import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientOf, say, sessionOf } from '../../test/client.ts'
import { documents } from '../../test/command.ts'
import { CliFixture } from '../../test/fixture.ts'
import { running } from '../../test/running.ts'

const fixture = new CliFixture()
beforeAll(() => fixture.open())
afterAll(() => fixture.close())

describe('[Z8] attach without a terminal', () => {
  test('[Z8.6] prints the earlier turns, and ends when stdin has ended and the chat is idle', async () => {
    expect(await fixture.run(['attach'])).toMatchObject({
      status: 4,
      stderr: expect.stringContaining('atrium run'),
    })
    await fixture.run(['run', 'say one'])
    await fixture.run(['run', 'say two', '--session', 'last'])
    expect(await fixture.run(['attach'])).toEqual({
      status: 0,
      stdout: 'one\ntwo\n',
      stderr: '\n› say one\n\n› say two\n',
    })
    expect(await fixture.run(['attach', '--turns', '1', '-q'])).toEqual({
      status: 0,
      stdout: 'two\n',
      stderr: '',
    })
    expect(await fixture.run(['attach', '--turns', 'all'])).toMatchObject({ status: 2 })
    expect(await fixture.run(['attach', 'nope'])).toMatchObject({ status: 4, stdout: '' })
  })

  test('[Z8.6] sends the lines of stdin, and follows their turns to the end', async () => {
    const { status, stdout } = await fixture.run(['attach', '--turns', '0'], {
      input: 'slow 2\nsay steered\n\n',
    })
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'atrium and\nsteered\n' })
  })

  test('exits with 4 when the session is disposed', async () => {
    const other = clientOf(fixture.host)
    const chat = await sessionOf(other, 'short-lived', fixture.work)
    await say(chat, 'write x y')
    const follower = running(fixture.home, ['attach', 'short-lived'])
    await follower.said('? Write `x`')
    await other.ask('disposeSession', { channel: 'ahp-session:/short-lived' })
    expect(await follower.ended).toMatchObject({ status: 4, stderr: expect.stringContaining('was removed') })
    other.close()
  })

  test('--json prints one document per event', async () => {
    const { stdout } = await fixture.run(['attach', '--json', '--turns', '0'], { input: 'say hello\n' })
    expect(documents(stdout).map(({ type }) => type)).toEqual(['turnStarted', 'text', 'turnEnded'])
  })
})
