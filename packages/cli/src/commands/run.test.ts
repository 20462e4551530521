import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Activity } from '@atrium/protocol/status'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bin, documents } from '../../test/command.ts'
import { CliFixture } from '../../test/fixture.ts'

const fixture = new CliFixture()
beforeAll(() => fixture.open())
afterAll(() => fixture.close())

describe('[Z5] run', () => {
  test('[Z2] [Z5.1] the answer goes to stdout unchanged, the notes go to stderr', async () => {
    const { status, stdout, stderr } = await fixture.run(['run', 'say # Hello **you**,  \tall'])
    expect({ status, stdout }).toEqual({ status: 0, stdout: '# Hello **you**,  \tall\n' })
    expect(stderr).toMatch(/^· session \w{8} \(guide; --agent chooses another agent\)\n$/)
  })

  test('bare text, several words and piped text are prompts', async () => {
    expect(await fixture.run(['say one two'])).toMatchObject({ status: 0, stdout: 'one two\n' })
    expect(await fixture.run(['run', 'say', 'one', 'two'])).toMatchObject({ status: 0, stdout: 'one two\n' })
    expect(await fixture.run(['run', '-q'], { input: 'say three\nfour\n' })).toEqual({
      status: 0,
      stdout: 'three\nfour\n',
      stderr: '',
    })
  })

  test('[Z5.5] the text of a pipe or of a file on stdin follows the typed words', async () => {
    const { home, work } = fixture
    writeFileSync(join(work, 'text'), 'two\nthree')
    const env = { PATH: process.env['PATH'], HOME: home, ATRIUM_HOME: `${home}/data` }
    const inShell = (line: string) =>
      promisify(execFile)('/bin/sh', ['-c', line, process.execPath, bin], { cwd: work, env })
    const stdout = 'one\n\ntwo\nthree\n'
    expect(await inShell('cat text | "$0" "$1" run -q say one')).toEqual({ stdout, stderr: '' })
    expect(await inShell('"$0" "$1" say one -q <text')).toEqual({ stdout, stderr: '' })
    expect(await inShell('"$0" "$1" run -q say one </dev/null')).toEqual({ stdout: 'one\n', stderr: '' })
    // A program that starts this one may leave its stdin open for ever. With `-` it is read.
    const input = 'two\nthree'
    expect(await fixture.run(['run', '-q', 'say one'], { input })).toMatchObject({ stdout: 'one\n' })
    expect(await fixture.run(['run', '-q', 'say one', '-'], { input })).toMatchObject({ stdout })
    // Only the last word means stdin.
    expect(await fixture.run(['run', '-q', 'say a - b'], { input })).toMatchObject({ stdout: 'a - b\n' })
    expect(await fixture.run(['run', '-q', 'say', 'a', '-', 'b'], { input })).toMatchObject({
      stdout: 'a - b\n',
    })
  })

  test('[Z5.5] the time of --timeout counts for the end of stdin, too', async () => {
    const { home, work } = fixture
    const env = { PATH: process.env['PATH'], HOME: home, ATRIUM_HOME: `${home}/data` }
    const child = spawn(process.execPath, [bin, 'run', '--timeout', '0.5', 'say one', '-'], {
      cwd: work,
      env,
    })
    let stderr = ''
    child.stderr.on('data', (data: Buffer) => void (stderr += data.toString()))
    const [status] = await once(child, 'close')
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: 'atrium: The end of stdin has not come in 0.5 s.\n',
    })
  })

  test('[Z5.6] two and more bare words are a prompt, unless the first is like a command', async () => {
    expect(await fixture.run(['say', 'one', 'two'])).toMatchObject({ status: 0, stdout: 'one two\n' })
    expect(await fixture.run(['say', 'one', '--quiet'])).toEqual({ status: 0, stdout: 'one\n', stderr: '' })
    const before = (await fixture.run(['ls', '--json'])).stdout
    for (const [typo, meant] of [
      ['frok', 'fork'],
      ['sned', 'send'],
      ['list', 'ls'],
      ['Ls', 'ls'],
    ] as const) {
      const { status, stderr } = await fixture.run([typo, 'what', 'ever'])
      expect({ typo, status }).toEqual({ typo, status: 2 })
      expect(stderr).toContain(meant)
    }
    expect((await fixture.run(['ls', '--json'])).stdout).toBe(before)
    expect(await fixture.run(['say', 'https://example.com/a'])).toMatchObject({ status: 0 })
    expect(await fixture.run(['token', 'shwo'])).toMatchObject({
      status: 2,
      stderr: expect.not.stringContaining('as a prompt'),
    })
    const all = (await fixture.run(['ls', '--json'])).stdout
    // The value of an option is no word of a prompt, and a command for a session that does not exist is none either.
    for (const args of [
      ['status', '--data', fixture.home],
      ['delete', 'last'],
      ['kill', '35c01b94'],
    ])
      expect(await fixture.run(args)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('To run it as a prompt: atrium run '),
      })
    expect((await fixture.run(['ls', '--json'])).stdout).toBe(all)
  })

  test('[S-20] [Z5.7] a message of 75 MB is refused with a sentence, and leaves no session behind', async () => {
    const before = (await fixture.run(['ls', '--json'])).stdout
    const { status, stdout, stderr } = await fixture.run(['run'], { input: `say ${'x'.repeat(75_000_000)}` })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(
      /^· session \w{8}.*\natrium: The turn could not begin: the message is longer than 4194304 bytes\n$/,
    )
    expect((await fixture.run(['ls', '--json'])).stdout).toBe(before)
    expect(await fixture.run(['run', 'say next'])).toMatchObject({ status: 0, stdout: 'next\n' })
  })

  test('[Z5.1] reasoning, notices and tool calls are one line each on stderr, and each part begins a line', async () => {
    const { stdout, stderr } = await fixture.run(['run', 'spawn say hello'])
    expect(stdout).toBe('The worker is done. Its own chat has what it said.\n')
    expect(stderr).toContain('· A worker does `say hello`\n✓ A worker did `say hello`\n')
    const thinking = await fixture.run(['run', 'think of\nmany doors'])
    expect(thinking.stderr).toContain('· I was asked to think about this: of many doors')
    expect((await fixture.run(['run', 'plan'])).stderr).toContain('· A plan of 4 steps\n')
  })

  test('[Z2.1] [Z5.2] --json prints one document per line: session, turn, text, calls, end', async () => {
    const { status, stdout, stderr } = await fixture.run(['run', 'spawn say hello', '--json'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const all = documents(stdout)
    expect(all.map(({ type }) => type).filter((type, at, types) => type !== types[at - 1])).toEqual([
      'session',
      'turnStarted',
      'toolCall',
      'text',
      'turnEnded',
      'end',
    ])
    expect(all[0]).toMatchObject({
      session: expect.stringMatching(/^ahp-session:/),
      turnId: all[1]?.['turnId'],
    })
    expect(all.at(-1)).toEqual({ type: 'end', exit: 0 })
  })

  test('--session continues an existing session, with its agent', async () => {
    const [{ session } = { session: '' }] = documents(
      (await fixture.run(['run', 'say one', '--json'])).stdout,
    )
    const name = String(session).split('/').at(-1) ?? ''
    const again = await fixture.run(['run', 'say two', '--session', name.slice(0, 12), '--json'])
    expect(documents(again.stdout)[0]).toMatchObject({ session })
    expect(await fixture.run(['run', 'x', '--session', name, '--agent', 'guide'])).toMatchObject({
      status: 2,
    })
  })

  test.each([
    [['run', 'fail now'], 1, '✗ `now`'],
    [['run', 'crash'], 1, '✗ '],
    [['run', 'slow 60', '--timeout', '1.5'], 3, 'Not done after 1.5 s: the turn was cancelled'],
    [['run', 'x', '--session', 'nope'], 4, "There is no session 'nope'"],
    [['run'], 2, 'The prompt is missing'],
    [['run', 'x', '--timeout', 'soon'], 2, '--timeout must be a number of seconds'],
    [
      ['run', 'x', '--timeout', '1e3'],
      2,
      "--timeout must be a number of seconds above 0, at most 2000000, and not '1e3'",
    ],
    [['run', 'x', '--timeout', '0x10'], 2, '--timeout must be a number of seconds'],
    [['run', 'x', '--allow', 'all'], 2, '--allow must be once or session'],
    [['run', 'x', '--agent', 'nobody'], 2, "There is no agent 'nobody'; there are: guide"],
    [['run', 'x', '--model', 'none'], 2, 'there are: guide-plain, guide-lively'],
    [['run', 'x', '--cwd', '/nowhere'], 2, '/nowhere is no directory'],
    [['run', 'x', '--cwd', '.', '--host', 'ws://127.0.0.1:1'], 2, "'.' must be an absolute path, because"],
  ])('[Z5.3] %j exits with %i and says why', async (args, status, why) => {
    expect(await fixture.run(args)).toMatchObject({ status, stderr: expect.stringContaining(why) })
  })
})

test('[Z5] run fails in a busy chat', async () => {
  const { stderr } = await fixture.run(['run', 'write busy.txt x'])
  const [, name = ''] = /session (\w{8})/.exec(stderr) ?? []
  expect(await fixture.run(['run', 'say x', '--session', name])).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('atrium: The turn could not begin: a turn is in progress'),
  })
})

describe('[Z7] without a terminal', () => {
  test('[Z7.2] without a terminal run exits with 5 and says how to answer, and the request stays open', async () => {
    const { status, stderr } = await fixture.run(['run', 'write a.txt hello'])
    expect(status).toBe(5)
    const [, name = ''] = /Write `a.txt`. Give one with: atrium approve (\w{8})/.exec(stderr) ?? []
    expect((await fixture.run(['ls'])).stdout).toMatch(new RegExp(`^${name} +asks`, 'm'))
    expect(existsSync(join(fixture.work, 'a.txt'))).toBe(false)
    const form = await fixture.run(['run', 'ask', '--allow', 'session', '--json'])
    expect(form.status).toBe(5)
    expect(documents(form.stdout).map(({ type }) => type)).toEqual(['session', 'turnStarted', 'ask', 'end'])
  })

  test('[H10.4] --allow approves tools in advance, once or for the session; [Z24] [H10] then the session is exported as idle', async () => {
    const once = await fixture.run(['run', 'write b.txt hello', '--allow', 'once', '--json'])
    expect([once.status, readFileSync(join(fixture.work, 'b.txt'), 'utf8')]).toEqual([0, 'hello'])
    const [{ session } = { session: '' }] = documents(once.stdout)
    const exported = await fixture.run(['export', String(session), '--format', 'json'])
    expect(documents(exported.stdout)).toMatchObject([{ session: { status: Activity.Idle } }])
    const go = (text: string, ...flags: readonly string[]) =>
      fixture.run(['run', text, '--session', String(session), ...flags])
    expect(await go('write b.txt more')).toMatchObject({ status: 5 })
    expect(await fixture.run(['run', 'write c.txt x', '--allow', 'session'])).toMatchObject({ status: 0 })
    expect(await fixture.run(['run', 'write c.txt y', '--session', 'last'])).toMatchObject({ status: 0 })
  })

  test('[Z5.3] [Z7.1] a result that nobody has approved ends run with 5, and --allow approves it', async () => {
    const { status, stderr } = await fixture.run(['run', 'review 3'])
    expect(status).toBe(5)
    const [, name = ''] =
      /Use the result: Found 3 words. Give one with: atrium approve (\w{8})/.exec(stderr) ?? []
    expect((await fixture.run(['approve', name, '--json'])).status).toBe(0)
    for (const scope of ['once', 'session'])
      expect(await fixture.run(['run', 'review 3', '--allow', scope])).toMatchObject({
        status: 0,
        stdout: 'You approved the result, so I use it: atrium and here\n',
      })
  })

  test('[Z7.1] --allow does not cover protected files', async () => {
    writeFileSync(join(fixture.work, 'package.json'), '{}')
    const { status } = await fixture.run(['run', 'write package.json {"a":1}', '--allow', 'once'])
    expect([status, readFileSync(join(fixture.work, 'package.json'), 'utf8')]).toEqual([5, '{}'])
  })

  test('[Z2.4] no escape sequence of an agent is printed', async () => {
    const { stdout, stderr } = await fixture.run(['run', 'say a\u001b[31mb\u009bc', '--allow', 'once'])
    expect([stdout, stderr.includes('\u001b')]).toEqual(['a\ufffd[31mb\ufffdc\n', false])
    const run = await fixture.run(['run', `run printf '\\033[31mred'`, '--allow', 'once'])
    expect(run.stderr).not.toContain('\u001b')
  })
})
